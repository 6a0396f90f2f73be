import type { DiskStats } from '../../src/lib/disk.ts';
import type { DiskRarity } from './disk-faults.ts';
import type { Random } from './random.ts';

export type DiskNode = FileNode | DirectoryNode;

/** How a loss of power chooses what survives. */
export interface Loss {
  readonly random: Random;
  /** The probability that a write or a change of a directory survives. */
  readonly survival: number;
  readonly onRare: (what: DiskRarity) => void;
}

interface Write {
  readonly bytes: Uint8Array;
  /** Abandoned: a sync has failed, after which Linux does not write the bytes again. */
  state: 'pending' | 'abandoned' | 'durable';
}

/** A file, which can only grow: the program never opens an existing file to write. */
export class FileNode {
  readonly kind = 'file';
  mode: number;
  mtimeMs: number;
  size = 0;
  /** False: it takes no room any more. */
  hasName = true;
  /** Together they are the content. */
  #writes: Write[] = [];

  constructor(mode: number, mtimeMs: number) {
    this.mode = mode;
    this.mtimeMs = mtimeMs;
  }

  /** Keeps the bytes without a copy: the caller must not change them afterwards. */
  append(bytes: Uint8Array): void {
    this.#writes.push({ bytes, state: 'pending' });
    this.size += bytes.length;
  }

  content(): Buffer {
    const [first, second] = this.#writes;
    if (first && !second) return Buffer.from(first.bytes.buffer, first.bytes.byteOffset, first.bytes.length);
    return Buffer.concat(this.#writes.map(({ bytes }) => bytes));
  }

  /** Whether a loss of power would leave all of it. */
  get isDurable(): boolean {
    return this.#writes.every(({ state }) => state === 'durable');
  }

  sync(): void {
    for (const write of this.#writes) if (write.state === 'pending') write.state = 'durable';
  }

  abandon(): void {
    for (const write of this.#writes) if (write.state === 'pending') write.state = 'abandoned';
  }

  /** A file of the same content. */
  copy(): FileNode {
    const copy = new FileNode(this.mode, this.mtimeMs);
    copy.#writes = this.#writes;
    copy.size = this.size;
    return copy;
  }

  loseWhatIsNotSynced(loss: Loss): void {
    if (this.isDurable) return;
    const bytes = Buffer.alloc(this.size);
    let at = 0;
    let end = 0;
    for (const write of this.#writes) {
      const { kept, isAllocated } = write.state === 'durable' ? WHOLE : fateOf(write, loss);
      const part = write.bytes.subarray(0, kept);
      bytes.set(part, at);
      if (isAllocated) end = at + write.bytes.length;
      else if (part.length > 0) end = at + part.length;
      at += write.bytes.length;
    }
    // Bytes that are lost before others that are kept read as zeros.
    this.#writes = [{ bytes: bytes.subarray(0, end), state: 'durable' }];
    this.size = end;
  }
}

interface Fate {
  /** Bytes that survive. */
  readonly kept: number;
  /** The file has the length that it has with the whole write. */
  readonly isAllocated: boolean;
}

const WHOLE: Fate = { kept: Number.POSITIVE_INFINITY, isAllocated: true };

function fateOf({ bytes }: Write, { random, survival, onRare }: Loss): Fate {
  if (random.happens(survival)) return WHOLE;
  const what = random.pick(['lost', 'zeros', 'part']);
  if (what === 'part' && bytes.length > 1) {
    onRare('a loss of power kept a part of a write');
    return { kept: random.between(1, bytes.length - 1), isAllocated: random.happens(0.5) };
  }
  onRare(what === 'zeros' ? 'a loss of power left zeros for a write' : 'a loss of power lost a write');
  return { kept: 0, isAllocated: what === 'zeros' };
}

/** A change of a directory. A loss of power may undo it until the directory is synced. */
type Change =
  | { readonly what: 'link'; readonly name: string; readonly node: DiskNode }
  | { readonly what: 'rename'; readonly from: string; readonly to: string; readonly node: DiskNode }
  | { readonly what: 'unlink'; readonly name: string };

/** The kernel writes the oldest changes back in the end, synced or not. Without it a disk that lies would keep all of them. */
const MOST_PENDING = 64;

export class DirectoryNode {
  readonly kind = 'directory';
  mode: number;
  mtimeMs: number;
  readonly entries = new Map<string, DiskNode>();
  readonly #durable = new Map<string, DiskNode>();
  #changes: Change[] = [];

  constructor(mode: number, mtimeMs: number) {
    this.mode = mode;
    this.mtimeMs = mtimeMs;
  }

  /** How many renames a loss of power may undo. */
  get unsyncedRenames(): number {
    return this.#changes.filter(({ what }) => what === 'rename').length;
  }

  change(change: Change): void {
    apply(this.entries, change);
    this.#changes.push(change);
    const oldest = this.#changes.length > MOST_PENDING ? this.#changes.shift() : undefined;
    if (oldest) apply(this.#durable, oldest);
  }

  sync(): void {
    for (const change of this.#changes) apply(this.#durable, change);
    this.#changes = [];
  }

  loseWhatIsNotSynced(loss: Loss): void {
    let isRenameLost = false;
    for (const change of this.#changes) {
      const isRename = change.what === 'rename';
      if (loss.random.happens(loss.survival)) {
        apply(this.#durable, change);
        if (isRename && isRenameLost) loss.onRare('a loss of power kept the later one of two renames');
      } else {
        loss.onRare('a loss of power undid a change of a directory');
        if (isRename) loss.onRare('a loss of power undid a rename');
        isRenameLost ||= isRename;
      }
    }
    this.#changes = [];
    this.entries.clear();
    const seen = new Set<DiskNode>();
    for (const [name, node] of this.#durable) {
      if (!seen.has(node)) node.loseWhatIsNotSynced(loss);
      // Of two renames of a file only the second may survive, and then the file has two names. It becomes two files.
      const own = seen.has(node) && node.kind === 'file' ? node.copy() : node;
      seen.add(own);
      this.#durable.set(name, own);
      this.entries.set(name, own);
    }
  }
}

function apply(names: Map<string, DiskNode>, change: Change): void {
  if (change.what === 'link') names.set(change.name, change.node);
  else if (change.what === 'unlink') names.delete(change.name);
  else {
    names.delete(change.from);
    names.set(change.to, change.node);
  }
}

/** Bytes of a file, or of all files in a directory. */
export function sizeOf(node: DiskNode): number {
  if (node.kind === 'file') return node.size;
  let size = 0;
  for (const entry of node.entries.values()) size += sizeOf(entry);
  return size;
}

const KINDS = { file: 0o100000, directory: 0o040000 } as const;

export function statsOf({ kind, mode }: DiskNode): DiskStats {
  return { mode: KINDS[kind] | mode, isDirectory: () => kind === 'directory' };
}
