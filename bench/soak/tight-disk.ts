import { execFileSync, spawnSync } from 'node:child_process';
import { closeSync, fstatSync, ftruncateSync, mkdtempSync, openSync, rmSync, statfsSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const BLOCK = 4_096;

/** A file system of its own, of which as much is free as the soak wants; an ordinary folder where none may be mounted. */
export class TightDisk {
  readonly dir = mkdtempSync(join(tmpdir(), 'soak-disk-'));
  readonly isOwn: boolean;
  readonly #filler: number | undefined;

  constructor(mib: number) {
    this.isOwn = spawnSync('mount', ['-t', 'tmpfs', '-o', `size=${mib}m,mode=0700`, 'tmpfs', this.dir]).status === 0;
    if (this.isOwn) this.#filler = openSync(join(this.dir, 'filler'), 'w');
  }

  /** Leaves so many blocks free, give or take what somebody else writes meanwhile. */
  leave(blocks: number): void {
    if (this.#filler === undefined) return;
    const surplus = statfsSync(this.dir).bfree - blocks;
    const { size } = fstatSync(this.#filler);
    if (surplus < 0) ftruncateSync(this.#filler, Math.max(0, size + surplus * BLOCK));
    try {
      if (surplus > 0) writeSync(this.#filler, Buffer.alloc(surplus * BLOCK), 0, surplus * BLOCK, size);
    } catch {
      // Somebody else was faster: then it is fuller than wanted.
    }
  }

  relax(): void {
    if (this.#filler !== undefined) ftruncateSync(this.#filler, 0);
  }

  close(): void {
    if (this.#filler !== undefined) closeSync(this.#filler);
    if (this.isOwn) execFileSync('umount', ['-l', this.dir]);
    rmSync(this.dir, { recursive: true, force: true });
  }
}
