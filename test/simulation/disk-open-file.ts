import type { DiskFile } from '../../src/lib/disk.ts';
import type { UnixMs } from '../../src/lib/time.ts';
import { type DiskCall, DiskError, type DiskFaults } from './disk-faults.ts';
import type { DiskNode } from './disk-nodes.ts';
import type { Gate } from './gate.ts';

/** A file or a directory that a process has opened. */
export class OpenFile {
  readonly #faults: DiskFaults;
  readonly #node: DiskNode;
  readonly #purpose: 'read' | 'write';
  readonly #now: () => UnixMs;
  #isOpen = true;

  constructor(faults: DiskFaults, node: DiskNode, purpose: 'read' | 'write', now: () => UnixMs) {
    this.#faults = faults;
    this.#node = node;
    this.#purpose = purpose;
    this.#now = now;
  }

  /** Keeps the bytes without a copy: the caller must not change them afterwards. */
  write(bytes: Uint8Array, offset: number): { bytesWritten: number } {
    const node = this.#begin('write');
    if (this.#purpose === 'read' || node.kind === 'directory') throw new DiskError('EBADF', 'write');
    const bytesWritten = this.#faults.taken(bytes.length - offset);
    if (bytesWritten > 0) node.append(bytes.subarray(offset, offset + bytesWritten));
    if (node.hasName) this.#faults.room -= bytesWritten;
    node.mtimeMs = this.#now();
    return { bytesWritten };
  }

  sync(): void {
    if (!this.#isOpen) throw new DiskError('EBADF', 'sync');
    const node = this.#node;
    try {
      this.#faults.check(node.kind === 'file' ? 'sync' : 'sync directory', 'before the lookup');
    } catch (error) {
      if (node.kind === 'file') node.abandon();
      throw error;
    }
    if (this.#faults.liesAboutSync) {
      this.#faults.hasLied = true;
      this.#faults.onRare('a sync did nothing');
    } else node.sync();
  }

  close(): void {
    // In Node, closing a file again is no error.
    if (!this.#isOpen) return;
    // Linux closes the file even if it returns an error.
    this.#isOpen = false;
    this.#faults.check('close', 'before the lookup');
  }

  /** The file as its process reaches it. */
  through(gate: Gate): DiskFile {
    const syncs = this.#node.kind === 'file' ? 'disk sync' : 'disk sync directory';
    return {
      write: (bytes, offset) => gate.call('disk write', () => this.write(bytes, offset)),
      sync: () => gate.call(syncs, () => this.sync()),
      close: () => gate.call('disk close', () => this.close()),
    };
  }

  #begin(call: DiskCall): DiskNode {
    if (!this.#isOpen) throw new DiskError('EBADF', call);
    this.#faults.check(call, 'before the lookup');
    return this.#node;
  }
}
