import { basename } from 'node:path';
import type { WritableDisk, WritableFile } from '../../src/lib/whole-file.ts';

/** A file: the content that survives a loss of power, and the later writes, each of which may survive. */
interface Node {
  durable: Buffer;
  pending: { readonly at: number; readonly bytes: Buffer }[];
  /** The position of the next write, which is the size of the file if nothing is lost. */
  size: number;
}

/** A change of the directory. A loss of power may undo it until the directory is synced. */
type Change =
  | { readonly what: 'name'; readonly path: string; readonly node: Node }
  | { readonly what: 'rename'; readonly from: string; readonly to: string; readonly node: Node }
  | { readonly what: 'remove'; readonly path: string };

/** What a start after a crash finds: content by file name. */
export type Image = ReadonlyMap<string, Buffer>;

export interface Call {
  readonly what: 'open' | 'write' | 'sync' | 'close' | 'open dir' | 'sync dir' | 'close dir' | 'rename' | 'rm';
  /** The number of calls before this one. */
  readonly index: number;
}

export interface Faults {
  /** The error of this call, which then has no effect. */
  readonly fails?: (call: Call) => string | undefined;
  /** The largest number of bytes that one write takes. */
  readonly bytesPerWrite?: number;
  /** Free bytes. A write beyond them fails with ENOSPC. */
  readonly room?: number;
  /** Runs after each call. */
  readonly onCall?: (call: Call) => void;
}

/**
 * A disk with one directory that is as unreliable as POSIX allows. A crash may keep or lose any combination of what is
 * not synced: single writes of a file (a lost one may leave zeros) and changes of the directory.
 */
export class FragileDisk implements WritableDisk {
  faults: Faults = {};
  calls = 0;
  readonly #names = new Map<string, Node>();
  readonly #durableNames = new Map<string, Node>();
  #changes: Change[] = [];
  #left = Number.POSITIVE_INFINITY;

  /** Replaces the faults and counts calls from zero. */
  begin(faults: Faults): void {
    this.faults = faults;
    this.calls = 0;
    this.#left = faults.room ?? Number.POSITIVE_INFINITY;
  }

  async open(path: string, flags: 'r' | 'wx'): Promise<WritableFile> {
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

  /** The files if nothing is lost. */
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

  /** All states that a loss of power at this moment can leave. */
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

  async #directory(): Promise<WritableFile> {
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

  #file(node: Node): WritableFile {
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
