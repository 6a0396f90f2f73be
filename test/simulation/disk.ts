import { basename, dirname } from 'node:path';
import type { Disk, DiskStats } from '../../src/lib/disk.ts';
import type { UnixMs } from '../../src/lib/time.ts';
import { type DiskCall, DiskError, DiskFaults } from './disk-faults.ts';
import { DirectoryNode, type DiskNode, FileNode, sizeOf, statsOf } from './disk-nodes.ts';
import { OpenFile } from './disk-open-file.ts';
import type { Gate } from './gate.ts';
import type { Random } from './random.ts';

const FILE_MODE = 0o644;
const DIRECTORY_MODE = 0o755;

/**
 * The file system of one host, in memory. It is as unreliable as POSIX allows: a loss of power keeps or loses any
 * combination of what is not synced, namely single writes and single changes of directories. The death of a process
 * loses nothing. There are no links and no permissions, a rename stays in its directory, and modes and times are durable
 * at once.
 */
export class SimulatedDisk extends DiskFaults {
  readonly #now: () => UnixMs;
  readonly #root: DirectoryNode;

  /** @param now The clock of the host, for the times of files. */
  constructor(now: () => UnixMs) {
    super();
    this.#now = now;
    this.#root = new DirectoryNode(DIRECTORY_MODE, now());
  }

  open(path: string, flags: 'r' | 'wx', mode = FILE_MODE): OpenFile {
    if (flags === 'wx') return this.#create(path, mode);
    this.check('open', 'before the lookup', path);
    return new OpenFile(this, this.#node(path, 'open'), 'read', this.#now);
  }

  readFile(path: string): string {
    this.check('read file', 'before the lookup', path);
    const node = this.#node(path, 'read file');
    if (node.kind === 'directory') throw new DiskError('EISDIR', 'read file', path);
    return node.content().toString('utf8');
  }

  rename(from: string, to: string): void {
    this.check('rename', 'before the lookup', from);
    const directory = this.#parent(from, 'rename');
    const node = this.#node(from, 'rename');
    if (this.#parent(to, 'rename') !== directory) throw new DiskError('EXDEV', 'rename', to);
    const replaced = directory.entries.get(basename(to));
    if (replaced === node) return;
    if (replaced) expectReplaceable(node, replaced, to);
    this.check('rename', 'after the lookup', from);
    directory.change({ what: 'rename', from: basename(from), to: basename(to), node });
    directory.mtimeMs = this.#now();
    if (replaced) this.#giveBack(replaced);
  }

  /** As with `force`: a file that is not there is no error. */
  rm(path: string): void {
    this.check('rm', 'before the lookup', path);
    const node = this.#found(path, 'rm');
    if (node?.kind === 'directory') throw new DiskError('ERR_FS_EISDIR', 'rm', path);
    if (!node) return;
    this.check('rm', 'after the lookup', path);
    this.remove(path);
  }

  mkdir(path: string, mode: number): void {
    this.check('mkdir', 'before the lookup', path);
    if (path === '/') throw new DiskError('EEXIST', 'mkdir', path);
    const parent = this.#parent(path, 'mkdir');
    if (parent.entries.has(basename(path))) throw new DiskError('EEXIST', 'mkdir', path);
    this.check('mkdir', 'after the lookup', path);
    this.#link(parent, path, new DirectoryNode(mode, this.#now()));
  }

  readdir(path: string): string[] {
    this.check('readdir', 'before the lookup', path);
    return [...this.#directory(path, 'readdir').entries.keys()];
  }

  stat(path: string): DiskStats {
    this.check('stat', 'before the lookup', path);
    return statsOf(this.#node(path, 'stat'));
  }

  /** What a loss of power might take, in a directory. No fault applies. */
  unsyncedIn(path: string): { readonly renames: number; isDurable(name: string): boolean } {
    const directory = this.#found(path, 'readdir');
    const isDurable = (name: string): boolean => {
      const node = directory?.kind === 'directory' ? directory.entries.get(name) : undefined;
      return node?.kind === 'file' && node.isDurable;
    };
    return { renames: directory?.kind === 'directory' ? directory.unsyncedRenames : 0, isDurable };
  }

  /** A loss of power, which no process of the host survives. Everything that is left is durable. */
  loseWhatIsNotSynced(random: Random): void {
    const before = sizeOf(this.#root);
    this.hasLied = false;
    const survival = random.pick([0, 0.2, 0.5, 0.8, 1]);
    this.#root.loseWhatIsNotSynced({ random, survival, onRare: this.onRare });
    this.room += before - sizeOf(this.#root);
  }

  /** Content by name of the files in a directory, if it exists, for those outside of the program. No fault applies. */
  filesIn(path: string): Map<string, Buffer> {
    const files = new Map<string, Buffer>();
    const directory = this.#found(path, 'readdir');
    if (directory?.kind !== 'directory') return files;
    for (const [name, node] of directory.entries) {
      if (node.kind === 'file') files.set(name, node.content());
    }
    return files;
  }

  /** An operator puts a file there, such as one of an earlier version, in place of what has its name. It is durable. */
  put(path: string, text: string, { mode = FILE_MODE, touchedAt = this.#now() } = {}): void {
    this.remove(path);
    const parent = this.#makeDirectory(dirname(path));
    const file = new FileNode(mode, touchedAt);
    const bytes = Buffer.from(text);
    file.append(bytes);
    file.sync();
    this.room -= bytes.length;
    this.#link(parent, path, file);
    parent.sync();
  }

  /** An operator removes a file, or a directory with everything in it. */
  remove(path: string): void {
    const node = this.#found(path, 'rm');
    if (!node) return;
    const parent = this.#parent(path, 'rm');
    parent.change({ what: 'unlink', name: basename(path) });
    parent.mtimeMs = this.#now();
    this.#giveBack(node);
  }

  #create(path: string, mode: number): OpenFile {
    this.check('create', 'before the lookup', path);
    const parent = this.#parent(path, 'create');
    if (parent.entries.has(basename(path))) throw new DiskError('EEXIST', 'create', path);
    this.check('create', 'after the lookup', path);
    const file = new FileNode(mode, this.#now());
    this.#link(parent, path, file);
    return new OpenFile(this, file, 'write', this.#now);
  }

  #link(parent: DirectoryNode, path: string, node: DiskNode): void {
    parent.change({ what: 'link', name: basename(path), node });
    parent.mtimeMs = this.#now();
  }

  #giveBack(node: DiskNode): void {
    this.room += sizeOf(node);
    if (node.kind === 'file') node.hasName = false;
  }

  #makeDirectory(path: string): DirectoryNode {
    if (!this.#found(path, 'mkdir')) {
      const parent = this.#makeDirectory(dirname(path));
      this.#link(parent, path, new DirectoryNode(DIRECTORY_MODE, this.#now()));
      parent.sync();
    }
    return this.#directory(path, 'mkdir');
  }

  #directory(path: string, call: DiskCall): DirectoryNode {
    const node = this.#node(path, call);
    if (node.kind === 'file') throw new DiskError('ENOTDIR', call, path);
    return node;
  }

  #parent(path: string, call: DiskCall): DirectoryNode {
    return this.#directory(dirname(path), call);
  }

  #node(path: string, call: DiskCall): DiskNode {
    const node = this.#found(path, call);
    if (!node) throw new DiskError('ENOENT', call, path);
    return node;
  }

  /** @throws DiskError where a part of the path is a file */
  #found(path: string, call: DiskCall): DiskNode | undefined {
    let node: DiskNode | undefined = this.#root;
    for (const name of path.split('/')) {
      if (name === '') continue;
      if (node.kind === 'file') throw new DiskError('ENOTDIR', call, path);
      node = node.entries.get(name);
      if (!node) return undefined;
    }
    return node;
  }
}

/** @throws DiskError where rename(2) refuses it */
function expectReplaceable(node: DiskNode, replaced: DiskNode, path: string): void {
  if (replaced.kind === 'file' && node.kind === 'directory') throw new DiskError('ENOTDIR', 'rename', path);
  if (replaced.kind === 'file') return;
  if (node.kind === 'file') throw new DiskError('EISDIR', 'rename', path);
  if (replaced.entries.size > 0) throw new DiskError('ENOTEMPTY', 'rename', path);
}

/** The disk as a process reaches it. */
export function diskOf(disk: SimulatedDisk, gate: Gate): Disk {
  return {
    open: async (path, flags, mode) => {
      const call = flags === 'wx' ? 'disk create' : 'disk open';
      const file = await gate.call(call, () => disk.open(path, flags, mode));
      return file.through(gate);
    },
    readFile: (path) => gate.call('disk read file', () => disk.readFile(path)),
    rename: (from, to) => gate.call('disk rename', () => disk.rename(from, to)),
    rm: (path) => gate.call('disk rm', () => disk.rm(path)),
    mkdir: (path, mode) => gate.call('disk mkdir', () => disk.mkdir(path, mode)),
    readdir: (path) => gate.call('disk readdir', () => disk.readdir(path)),
    stat: (path) => gate.call('disk stat', () => disk.stat(path)),
  };
}
