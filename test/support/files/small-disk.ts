import { execFileSync, spawnSync } from 'node:child_process';
import { rmSync, statfsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { atTheEnd } from '../vitest/cleanup.ts';
import { temporaryFolder } from './files.ts';

const FILLER = 'filler';

/** A real file system of a few blocks, of which as many are free as a test wants. */
export function smallDisk(blocks: number) {
  const dir = temporaryFolder();
  mount('-t', 'tmpfs', '-o', `size=${blocks * 4}k,mode=0700`, 'tmpfs', dir);
  atTheEnd(() => execFileSync('umount', ['-R', '-l', dir]));
  const free = (): number => statfsSync(dir).bfree;
  return {
    dir,
    free,
    /** Leaves so many blocks free, by taking or giving back the others. */
    leave(wanted: number): void {
      rmSync(join(dir, FILLER), { force: true });
      const surplus = free() - wanted;
      if (surplus < 0) throw new RangeError(`${free()} blocks are free, not ${wanted}`);
      if (surplus > 0) writeFileSync(join(dir, FILLER), Buffer.alloc(4_096 * surplus));
      if (free() !== wanted) throw new Error(`${free()} blocks are free instead of ${wanted}`);
    },
  };
}

/** For root only, see `cannotMount`. */
export function mount(...args: readonly string[]): void {
  execFileSync('mount', args);
}

let mayMount: boolean | undefined;

/** Whether the tests that need a file system of their own are to be skipped. */
export function cannotMount(): boolean {
  if (mayMount === undefined) {
    const dir = temporaryFolder();
    mayMount = spawnSync('mount', ['-t', 'tmpfs', 'tmpfs', dir]).status === 0;
    if (mayMount) execFileSync('umount', [dir]);
    else process.stderr.write('tests on a full file system cannot run: only root may mount a tmpfs\n');
  }
  return !mayMount;
}
