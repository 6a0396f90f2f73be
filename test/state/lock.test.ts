import { spawn, spawnSync } from 'node:child_process';
import {
  existsSync,
  lutimesSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { readFile, stat } from 'node:fs/promises';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { type Disk, realDisk } from '../../src/lib/disk.ts';
import { type Holder, realHost, thisProcess } from '../../src/state/holder.ts';
import { DirectoryLock, StateLocked } from '../../src/state/lock.ts';
import { temporaryFolder } from '../support/files.ts';
import { logLines } from '../support/log-lines.ts';
import { NOW } from '../support/timing.ts';
import { isClockFaked } from '../support/tools.ts';
import { VirtualClock } from '../support/virtual-clock.ts';

const SECOND = 1_000;
const RIVAL = join(import.meta.dirname, 'lock-rival.ts');

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
function rival(dir: string, at: number, within: readonly string[] = []): Promise<string> {
  const [command = '', ...args] = [...within, process.execPath, RIVAL, dir, String(at)];
  const child = spawn(command, args, { stdio: ['ignore', 'pipe', 'inherit'] });
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

/** A lock as a process of our own would leave it, but for what differs. */
function holder(differing: Partial<Holder>): Holder {
  return { ...thisProcess(), ...differing };
}

/** Leaves a lock that was last touched so many seconds ago. */
function leaveLock(dir: string, left: unknown, secondsAgo = 0): void {
  const file = join(dir, 'lock');
  writeFileSync(file, typeof left === 'string' ? left : JSON.stringify(left));
  touch(dir, NOW - secondsAgo * SECOND);
}

function touch(dir: string, at: number): void {
  utimesSync(join(dir, 'lock'), at / 1000, at / 1000);
}

interface Attempt {
  /** Undefined until it has ended. */
  outcome: 'held' | Error | undefined;
  readonly lines: readonly Record<string, unknown>[];
  readonly done: Promise<DirectoryLock>;
}

/** Tries to take the lock on a clock that stands still. */
function attempt(dir: string, clock = new VirtualClock(NOW), signal?: AbortSignal): Attempt {
  const { log, lines } = logLines();
  const done = DirectoryLock.take(dir, { clock, log, disk: realDisk, host: realHost, signal });
  const made: Attempt = { outcome: undefined, lines, done };
  done.then(
    (lock) => {
      made.outcome = 'held';
      onTestFinished(() => lock.release());
    },
    (error: Error) => {
      made.outcome = error;
    },
  );
  return made;
}

/** Lets time pass, and files be read meanwhile; those that are read later find that less time has passed. */
async function pass(clock: VirtualClock, seconds: number): Promise<void> {
  for (let left = seconds * SECOND; left > 0; left -= 100) {
    await clock.advance(Math.min(100, left));
    for (let i = 0; i < 5; i += 1) await stat('/');
  }
}

/** Resolves when the lock that is there is watched: time that passed before would count as its age. */
async function watching({ lines }: Attempt): Promise<void> {
  while (lines.length === 0) await stat('/');
}

/** Lets time pass until something has come about. */
async function until(clock: VirtualClock, isSo: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await isSo())) await pass(clock, 1);
}

/** Lets time pass until the attempt has ended. */
async function ended(clock: VirtualClock, tried: Attempt): Promise<Attempt['outcome']> {
  await until(clock, () => tried.outcome !== undefined);
  return tried.outcome;
}

async function take(dir: string): Promise<DirectoryLock> {
  return attempt(dir).done;
}

function holderOf(dir: string): unknown {
  return JSON.parse(readFileSync(join(dir, 'lock'), 'utf8'));
}

/** What a container is to a lock: a count of processes that begins with 1, and the host name that others have too. */
const CONTAINER = ['unshare', '--pid', '--fork', '--mount-proc', '--kill-child'];

function hasContainers(): boolean {
  const [command = '', ...args] = [...CONTAINER, 'true'];
  if (spawnSync(command, args).status === 0) return true;
  process.stderr.write('the test of locks between containers cannot run: only root may unshare processes\n');
  return false;
}

const OURS = expect.objectContaining({ pid: process.pid });
const hasProc = existsSync('/proc/self/stat');

describe('state/lock', () => {
  it('names its holder while it is held, and is gone afterwards', async () => {
    const dir = temporaryFolder();
    const lock = await take(dir);
    expect(readdirSync(dir)).toEqual(['lock']);
    expect(holderOf(dir)).toMatchObject({ pid: process.pid, host: hostname() });
    expect(statSync(join(dir, 'lock')).mode & 0o777).toBe(0o600);
    await lock.check();
    await lock.release();
    expect(readdirSync(dir)).toEqual([]);
  });

  it.runIf(hasProc)('keeps a second process off at once, and tells which one is there', async () => {
    const dir = temporaryFolder();
    const { pid } = await otherProcess();
    leaveLock(dir, holder({ pid, started: startOf(pid) }), 3_600);
    const refused = take(dir);
    await expect(refused).rejects.toBeInstanceOf(StateLocked);
    await expect(refused).rejects.toMatchObject({ pid, message: expect.stringContaining(`process ${pid} on`) });
    expect(readdirSync(dir)).toEqual(['lock']);
    expect(holderOf(dir)).toMatchObject({ pid });
  });

  it('keeps the same process off that already has it', async () => {
    const dir = temporaryFolder();
    await take(dir);
    await expect(take(dir)).rejects.toMatchObject({ pid: process.pid });
  });

  it('of a dead process is taken over at once', async () => {
    const dir = temporaryFolder();
    const other = await otherProcess();
    const started = hasProc ? startOf(other.pid) : '';
    await other.kill();
    leaveLock(dir, holder({ pid: other.pid, started }));
    await take(dir);
    expect(holderOf(dir)).toEqual(OURS);
    expect(readdirSync(dir)).toEqual(['lock']);
  });

  it.runIf(hasProc)('of a dead process is taken over at once, also when a new one has its number', async () => {
    const dir = temporaryFolder();
    const { pid } = await otherProcess();
    leaveLock(dir, holder({ pid, started: '1' }));
    await take(dir);
    expect(holderOf(dir)).toEqual(OURS);
  });

  it.runIf(hasProc)('of an earlier process with our own number is taken over at once', async () => {
    const dir = temporaryFolder();
    leaveLock(dir, holder({ started: '1' }));
    await take(dir);
    expect(holderOf(dir)).toEqual(OURS);
  });

  describe('of a process that cannot be looked up', () => {
    const strangers: [string, unknown][] = [
      ['of another host', holder({ pid: 1, host: 'elsewhere' })],
      ['of another container with our host name and our number', holder({ started: '1', namespace: 'pid:[1]' })],
      ['of a host of our name', holder({ started: '1', boot: 'another' })],
      ['of an earlier version', { pid: process.pid, started: '1', host: hostname() }],
      ['of a later version', '{"holder":{"pid":1}}'],
      ['cut off', '{"pid":1,"star'],
      ['empty', ''],
    ];

    it.each(strangers)('%s: is refused when it is touched', async (_, left) => {
      const dir = temporaryFolder();
      const clock = new VirtualClock(NOW);
      leaveLock(dir, left, 20);
      const tried = attempt(dir, clock);
      await watching(tried);
      await pass(clock, 5);
      expect(tried.outcome).toBeUndefined();
      touch(dir, NOW + 5 * SECOND);
      expect(await ended(clock, tried)).toBeInstanceOf(StateLocked);
      expect(readdirSync(dir)).toEqual(['lock']);
    });

    it.each(strangers)('%s: is taken over when it was not touched for 30 s', async (_, left) => {
      const dir = temporaryFolder();
      const clock = new VirtualClock(NOW);
      leaveLock(dir, left);
      const tried = attempt(dir, clock);
      await watching(tried);
      await pass(clock, 29);
      expect(tried.outcome).toBeUndefined();
      expect(tried.lines).toEqual([
        expect.objectContaining({
          level: 'warn',
          seconds: 30,
          msg: 'state directory is locked: waiting to see whether the holder is alive',
        }),
      ]);
      expect(await ended(clock, tried)).toBe('held');
      expect(holderOf(dir)).toEqual(OURS);
      expect(readdirSync(dir)).toEqual(['lock']);
    });

    it.each([
      ['an hour ago', 3_600],
      ['in an hour by a clock that is wrong', -3_600],
    ])('and was touched %s: is watched for a while all the same', async (_, secondsAgo) => {
      const dir = temporaryFolder();
      const clock = new VirtualClock(NOW);
      leaveLock(dir, holder({ host: 'elsewhere' }), secondsAgo);
      const tried = attempt(dir, clock);
      await pass(clock, secondsAgo > 0 ? 14 : 29);
      expect(tried.outcome).toBeUndefined();
      expect(await ended(clock, tried)).toBe('held');
    });

    it('is not taken for dead after a time in which nothing could run', async () => {
      const dir = temporaryFolder();
      const clock = new VirtualClock(NOW);
      leaveLock(dir, holder({ host: 'elsewhere' }));
      const tried = attempt(dir, clock);
      await watching(tried);
      await pass(clock, 5);
      clock.stall(60 * SECOND);
      await pass(clock, 1);
      touch(dir, NOW + 66 * SECOND);
      expect(await ended(clock, tried)).toBeInstanceOf(StateLocked);
    });

    it('is taken at once when it is given back', async () => {
      const dir = temporaryFolder();
      const clock = new VirtualClock(NOW);
      leaveLock(dir, holder({ host: 'elsewhere' }));
      const tried = attempt(dir, clock);
      await pass(clock, 1);
      rmSync(join(dir, 'lock'));
      await pass(clock, 2);
      expect(await ended(clock, tried)).toBe('held');
    });

    it('is not waited for by a program that is stopped', async () => {
      const dir = temporaryFolder();
      leaveLock(dir, holder({ host: 'elsewhere' }));
      const clock = new VirtualClock(NOW);
      const stop = new AbortController();
      const tried = attempt(dir, clock, stop.signal);
      await pass(clock, 1);
      stop.abort(new Error('stopping'));
      await expect(tried.done).rejects.toThrow('stopping');
      expect(holderOf(dir)).toMatchObject({ host: 'elsewhere' });
    });
  });

  it('is kept fresh for as long as it is held', async () => {
    const dir = temporaryFolder();
    const clock = new VirtualClock(NOW);
    const lock = await attempt(dir, clock).done;
    const touchedAt = (): number => statSync(join(dir, 'lock')).mtimeMs;
    const touched = async (): Promise<number> => {
      const before = touchedAt();
      await until(clock, () => touchedAt() !== before);
      return touchedAt();
    };
    const first = await touched();
    expect(first).toBeGreaterThanOrEqual(NOW + 5 * SECOND);
    // A lock that is not touched for 30 s counts as dead.
    expect((await touched()) - first).toBeLessThan(15 * SECOND);
    await lock.release();
    await pass(clock, 60);
    expect(readdirSync(dir)).toEqual([]);
  });

  it('is not taken for that of another process while it is being recreated', async () => {
    const dir = temporaryFolder();
    const clock = new VirtualClock(NOW);
    const created = Promise.withResolvers<void>();
    const written = Promise.withResolvers<void>();
    let isSlow = false;
    const disk: Disk = {
      ...realDisk,
      open: async (file, flags, mode) => {
        const handle = await realDisk.open(file, flags, mode);
        if (isSlow && flags === 'wx') {
          created.resolve();
          await written.promise;
        }
        return handle;
      },
    };
    const lock = await DirectoryLock.take(dir, { clock, log: logLines().log, disk, host: realHost });
    onTestFinished(() => lock.release());
    rmSync(join(dir, 'lock'));
    isSlow = true;
    await clock.advance(5 * SECOND);
    await created.promise;
    const checked = lock.check();
    checked.catch(() => undefined);
    for (let i = 0; i < 20; i += 1) await stat('/');
    written.resolve();
    await expect(checked).resolves.toBeUndefined();
  });

  it('is put in the place of what a failed write of its own has left', async () => {
    const dir = temporaryFolder();
    const clock = new VirtualClock(NOW);
    const lock = await attempt(dir, clock).done;
    const file = join(dir, 'lock');
    const text = readFileSync(file, 'utf8');
    for (const part of ['', text.slice(0, 10)]) {
      writeFileSync(file, part);
      await expect(lock.check()).rejects.toBeInstanceOf(StateLocked);
      await pass(clock, 6);
      // Another process may still be writing it.
      expect(readFileSync(file, 'utf8')).toBe(part);
      await until(clock, async () => (await readFile(file, 'utf8').catch(() => '')) === text);
      await lock.check();
    }
  });

  it('that another process has taken meanwhile is lost for good, and stays that process’s', async () => {
    const dir = temporaryFolder();
    const clock = new VirtualClock(NOW);
    const lock = await attempt(dir, clock).done;
    await lock.check();
    const other = holder({ pid: 4711, host: 'elsewhere' });
    leaveLock(dir, other, 1);
    await expect(lock.check()).rejects.toMatchObject({ name: 'StateLocked', pid: 4711 });
    await pass(clock, 6);
    expect(statSync(join(dir, 'lock')).mtimeMs).toBe(NOW - SECOND);
    rmSync(join(dir, 'lock'));
    await pass(clock, 6);
    // What we know may be older than what the other has written.
    await expect(lock.check()).rejects.toBeInstanceOf(StateLocked);
    leaveLock(dir, other);
    await lock.release();
    expect(holderOf(dir)).toEqual(other);
  });

  it('is written through no link, and the file that a link leads to stays as it is', async () => {
    const dir = temporaryFolder();
    const victim = join(temporaryFolder(), 'victim');
    writeFileSync(victim, 'precious');
    const clock = new VirtualClock(NOW);
    for (const name of ['lock', `lock.${process.pid}`, 'lock.removal']) symlinkSync(victim, join(dir, name));
    lutimesSync(join(dir, 'lock'), 0, 0);
    const tried = attempt(dir, clock);
    expect(await ended(clock, tried)).toBe('held');
    expect(readFileSync(victim, 'utf8')).toBe('precious');
    expect(() => readlinkSync(join(dir, 'lock'))).toThrow('EINVAL');
  });

  // Whether a lock is dead is told from the times of files.
  it.skipIf(isClockFaked)(
    'goes to exactly one of several processes that find a dead one at the same moment',
    async () => {
      for (const left of [undefined, holder({ pid: 2 ** 22 + 1, started: 'never' })]) {
        const dir = temporaryFolder();
        if (left) writeFileSync(join(dir, 'lock'), JSON.stringify(left));
        const at = Date.now() + 1_000;
        const outcomes = await Promise.all([1, 2, 3, 4].map(() => rival(dir, at)));
        expect(outcomes.toSorted()).toEqual(['StateLocked', 'StateLocked', 'StateLocked', 'held']);
      }
    },
  );

  it.runIf(hasContainers())('goes to one of two containers, in each of which the exporter is process 1', async () => {
    const dir = temporaryFolder();
    expect(await rival(dir, 0, CONTAINER)).toBe('held');
    expect(holderOf(dir)).toMatchObject({ pid: 1, host: hostname() });
    expect(await rival(dir, 0, CONTAINER)).toBe('StateLocked');
    expect(await rival(dir, 0)).toBe('StateLocked');
  });

  it('cannot be taken where there is no directory', async () => {
    await expect(take(join(temporaryFolder(), 'nowhere'))).rejects.toMatchObject({ code: 'ENOENT' });
  });
});
