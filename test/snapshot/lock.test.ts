import { spawn } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { lockDirectory, StateLocked } from '../../src/snapshot/lock.ts';
import { temporaryFolder } from '../support/files.ts';
import { waitFor } from '../support/program.ts';
import { NOW } from '../support/timing.ts';
import { isClockFaked } from '../support/tools.ts';
import { VirtualClock } from '../support/virtual-clock.ts';

const SECOND = 1_000;
const RIVAL = join(import.meta.dirname, '../support/lock-rival.ts');

/** A process other than this one, alive until the end of the test. */
async function otherProcess(): Promise<{ pid: number; kill(): Promise<void> }> {
  const child = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)'], { stdio: 'ignore' });
  const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  const kill = (): Promise<void> => {
    child.kill('SIGKILL');
    return ended;
  };
  onTestFinished(kill);
  await new Promise((resolve, reject) => child.once('spawn', resolve).once('error', reject));
  return { pid: child.pid ?? 0, kill };
}

/** A process of its own that opens the directory at a moment (Unix ms), and what came of it. */
function rival(dir: string, at: number): Promise<string> {
  const child = spawn(process.execPath, [RIVAL, dir, String(at)], { stdio: ['ignore', 'pipe', 'inherit'] });
  onTestFinished(() => void child.kill('SIGKILL'));
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.stdout.once('data', (text: Buffer) => resolve(text.toString().trim()));
    child.stdout.once('close', () => resolve('ended'));
  });
}

function startOf(pid: number): string {
  return readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ').at(-1)?.split(' ')[19] ?? '';
}

function leaveLock(dir: string, holder: unknown): void {
  writeFileSync(join(dir, 'lock'), typeof holder === 'string' ? holder : JSON.stringify(holder));
}

async function lock(dir: string, clock = new VirtualClock(NOW)): Promise<() => Promise<void>> {
  const unlock = await lockDirectory(dir, clock);
  onTestFinished(unlock);
  return unlock;
}

function holderOf(dir: string): unknown {
  return JSON.parse(readFileSync(join(dir, 'lock'), 'utf8'));
}

const hasProc = existsSync('/proc/self/stat');

describe('snapshot/lock', () => {
  it('names its holder while it is held, and is gone afterwards', async () => {
    const dir = temporaryFolder();
    const unlock = await lock(dir);
    expect(readdirSync(dir)).toEqual(['lock']);
    expect(holderOf(dir)).toMatchObject({ pid: process.pid, host: hostname() });
    await unlock();
    expect(readdirSync(dir)).toEqual([]);
  });

  it('keeps a second process off, and tells which one is there', async () => {
    const dir = temporaryFolder();
    const { pid } = await otherProcess();
    for (const started of hasProc ? [startOf(pid), ''] : ['']) {
      leaveLock(dir, { pid, started, host: hostname() });
      const refused = lock(dir);
      await expect(refused).rejects.toBeInstanceOf(StateLocked);
      await expect(refused).rejects.toMatchObject({ pid, message: expect.stringContaining(String(pid)) });
      expect(readdirSync(dir)).toEqual(['lock']);
      expect(holderOf(dir)).toMatchObject({ pid });
    }
  });

  it('of a dead process is taken over', async () => {
    const dir = temporaryFolder();
    const other = await otherProcess();
    const started = hasProc ? startOf(other.pid) : '';
    await other.kill();
    leaveLock(dir, { pid: other.pid, started, host: hostname() });
    await lock(dir);
    expect(holderOf(dir)).toMatchObject({ pid: process.pid });
    expect(readdirSync(dir)).toEqual(['lock']);
  });

  it.runIf(hasProc)('of a dead process is taken over, also when a new one bears its number', async () => {
    const dir = temporaryFolder();
    const { pid } = await otherProcess();
    leaveLock(dir, { pid, started: '1', host: hostname() });
    await lock(dir);
    expect(holderOf(dir)).toMatchObject({ pid: process.pid });
  });

  it('of an earlier process with our own number is taken over: in a container it is always 1', async () => {
    const dir = temporaryFolder();
    leaveLock(dir, { pid: process.pid, started: '1', host: hostname() });
    await lock(dir);
    expect(holderOf(dir)).toMatchObject({ pid: process.pid });
  });

  it.each(['', '{', '[]', '{"pid":1}'])('that nobody can read (%j) is taken over', async (text) => {
    const dir = temporaryFolder();
    leaveLock(dir, text);
    await lock(dir);
    expect(holderOf(dir)).toMatchObject({ pid: process.pid });
  });

  it('of another host counts for as long as it is kept fresh', async () => {
    const dir = temporaryFolder();
    leaveLock(dir, { pid: 1, started: '1', host: 'elsewhere' });
    utimesSync(join(dir, 'lock'), (NOW - 29 * SECOND) / 1000, (NOW - 29 * SECOND) / 1000);
    await expect(lock(dir)).rejects.toThrow('process 1 on elsewhere');
    utimesSync(join(dir, 'lock'), (NOW - 30 * SECOND) / 1000, (NOW - 30 * SECOND) / 1000);
    await lock(dir);
    expect(holderOf(dir)).toMatchObject({ pid: process.pid });
  });

  it('is kept fresh for as long as it is held', async () => {
    const dir = temporaryFolder();
    const clock = new VirtualClock(NOW);
    const unlock = await lock(dir, clock);
    for (const seconds of [10, 20]) {
      await clock.advance(10 * SECOND);
      await waitFor(() => expect(statSync(join(dir, 'lock')).mtimeMs).toBe(NOW + seconds * SECOND));
    }
    await unlock();
    await clock.advance(60 * SECOND);
    expect(readdirSync(dir)).toEqual([]);
  });

  // Whether a lock is dead is told from the times of files.
  it.skipIf(isClockFaked)(
    'goes to exactly one of several processes that find a dead one at the same moment',
    async () => {
      for (const holder of [undefined, { pid: 1, started: 'never', host: hostname() }]) {
        const dir = temporaryFolder();
        if (holder) leaveLock(dir, holder);
        const at = Date.now() + 1_000;
        const outcomes = await Promise.all([1, 2, 3, 4].map(() => rival(dir, at)));
        expect(outcomes.toSorted()).toEqual(['StateLocked', 'StateLocked', 'StateLocked', 'held']);
      }
    },
  );

  it('cannot be taken where there is no directory', async () => {
    await expect(lock(join(temporaryFolder(), 'nowhere'))).rejects.toMatchObject({ code: 'ENOENT' });
  });
});
