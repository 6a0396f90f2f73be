import { basename } from 'node:path';
import type { Disk, DiskFile } from '../../src/lib/whole-file.ts';

/** A file as it is named: its content that would survive a loss of power, and the writes since, of which any may. */
interface Node {
  durable: Buffer;
  pending: { readonly at: number; readonly bytes: Buffer }[];
  /** Where the next write goes, and with it the size that the file has without a loss. */
  size: number;
}

/** A change of the directory that a loss of power may undo, until the directory is synced. */
type Change =
  | { readonly what: 'name'; readonly path: string; readonly node: Node }
  | { readonly what: 'rename'; readonly from: string; readonly to: string; readonly node: Node }
  | { readonly what: 'remove'; readonly path: string };

/** What a start after a crash finds: the files of the directory by name. */
export type Image = ReadonlyMap<string, Buffer>;

export interface Call {
  readonly what: 'open' | 'write' | 'sync' | 'close' | 'open dir' | 'sync dir' | 'close dir' | 'rename' | 'rm';
  /** How many calls were before it. */
  readonly index: number;
}

export interface Faults {
  /** An error that this call ends with, without effect. */
  readonly fails?: (call: Call) => string | undefined;
  /** A write takes so many bytes at most. */
  readonly bytesPerWrite?: number;
  /** Bytes that are left; ENOSPC beyond. */
  readonly room?: number;
  /** Told after each call. */
  readonly onCall?: (call: Call) => void;
}

/**
 * A disk with one directory, as POSIX allows it to be: what is not synced may be lost or kept in any combination, of a
 * file any of its writes (a lost one may leave zeros), of the directory any of its changes.
 */
export class FragileDisk implements Disk {
  faults: Faults = {};
  calls = 0;
  readonly #names = new Map<string, Node>();
  readonly #durableNames = new Map<string, Node>();
  #changes: Change[] = [];
  #left = Number.POSITIVE_INFINITY;

  /** From now on these, and calls are counted anew. */
  begin(faults: Faults): void {
    this.faults = faults;
    this.calls = 0;
    this.#left = faults.room ?? Number.POSITIVE_INFINITY;
  }

  async open(path: string, flags: 'r' | 'wx'): Promise<DiskFile> {
    if (flags === 'r') return this.#directory();
    return this.#call('open', () => {
      if (this.#names.has(path)) throw failure('EEXIST');
      const node: Node = { durable: Buffer.alloc(0), pending: [], size: 0 };
      this.#names.set(path, node);
      this.#changes.push({ what: 'name', path, node });
      return this.#file(node);
    });
  }

  async rename(from: string, to: string): Promise<void> {
    this.#call('rename', () => {
      const node = this.#names.get(from);
      if (!node) throw failure('ENOENT');
      this.#names.delete(from);
      this.#names.set(to, node);
      this.#changes.push({ what: 'rename', from, to, node });
    });
  }

  async rm(path: string): Promise<void> {
    this.#call('rm', () => {
      if (this.#names.delete(path)) this.#changes.push({ what: 'remove', path });
    });
  }

  /** What is there when nothing is lost. */
  now(): Image {
    return named(
      [...this.#names].map(([path, node]) => [
        path,
        withWrites(
          node,
          node.pending.map(() => 'kept'),
        ),
      ]),
    );
  }

  /** Everything that a loss of power at this moment can leave. */
  images(): Image[] {
    const images: Image[] = [];
    for (const kept of subsets(this.#changes)) {
      const names = new Map(this.#durableNames);
      for (const change of kept) apply(names, change);
      let variants: [string, Buffer][][] = [[]];
      for (const [path, node] of names) {
        const contents = contentsOf(node);
        variants = variants.flatMap((files) => contents.map((bytes): [string, Buffer][] => [...files, [path, bytes]]));
      }
      images.push(...variants.map(named));
    }
    return images;
  }

  async #directory(): Promise<DiskFile> {
    return this.#call('open dir', () => ({
      write: async () => {
        throw failure('EBADF');
      },
      sync: async () =>
        this.#call('sync dir', () => {
          for (const change of this.#changes) apply(this.#durableNames, change);
          this.#changes = [];
        }),
      close: async () => this.#call('close dir', () => undefined),
    }));
  }

  #file(node: Node): DiskFile {
    return {
      write: async (bytes, offset) =>
        this.#call('write', () => {
          const wanted = Buffer.from(bytes).subarray(offset);
          const taken = wanted.subarray(0, Math.min(this.faults.bytesPerWrite ?? wanted.length, this.#left));
          if (taken.length === 0) throw failure('ENOSPC');
          this.#left -= taken.length;
          node.pending.push({ at: node.size, bytes: taken });
          node.size += taken.length;
          return { bytesWritten: taken.length };
        }),
      sync: async () =>
        this.#call('sync', () => {
          node.durable = withWrites(
            node,
            node.pending.map(() => 'kept'),
          );
          node.pending = [];
        }),
      close: async () => this.#call('close', () => undefined),
    };
  }

  #call<T>(what: Call['what'], work: () => T): T {
    const call = { what, index: this.calls };
    this.calls += 1;
    const code = this.faults.fails?.(call);
    if (code !== undefined) throw failure(code);
    const result = work();
    this.faults.onCall?.(call);
    return result;
  }
}

function failure(code: string): Error {
  return Object.assign(new Error(`${code}: made up`), { code });
}

function named(files: readonly (readonly [string, Buffer])[]): Image {
  return new Map(files.map(([path, bytes]) => [basename(path), bytes]));
}

function apply(names: Map<string, Node>, change: Change): void {
  if (change.what === 'name') names.set(change.path, change.node);
  else if (change.what === 'remove') names.delete(change.path);
  else {
    names.delete(change.from);
    names.set(change.to, change.node);
  }
}

type Fate = 'kept' | 'zeros' | 'lost';

function contentsOf(node: Node): Buffer[] {
  let fates: Fate[][] = [[]];
  for (const _ of node.pending) {
    fates = fates.flatMap((before) => (['kept', 'zeros', 'lost'] as const).map((fate) => [...before, fate]));
  }
  return fates.map((each) => withWrites(node, each));
}

function withWrites({ durable, pending }: Node, fates: readonly Fate[]): Buffer {
  let content = durable;
  for (const [i, { at, bytes }] of pending.entries()) {
    if (fates[i] === 'lost') continue;
    const end = Math.max(content.length, at + bytes.length);
    content = Buffer.concat([content, Buffer.alloc(end - content.length)]);
    if (fates[i] === 'kept') bytes.copy(content, at);
  }
  return content;
}

function subsets<T>(all: readonly T[]): T[][] {
  return all.reduce<T[][]>((sets, one) => sets.flatMap((set) => [set, [...set, one]]), [[]]);
}
