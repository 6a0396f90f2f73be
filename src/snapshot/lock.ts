import { readFileSync } from 'node:fs';
import { link, readFile, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { z } from 'zod';
import type { Clock } from '../lib/clock.ts';

/** Who holds the lock. A process is told from a later one of its number by the time at which it was started. */
const Holder = z.object({ pid: z.number(), started: z.string(), host: z.string() });
type Holder = z.infer<typeof Holder>;

/** Another process keeps its state in this directory. */
export class StateLocked extends Error {
  override readonly name = 'StateLocked';
  readonly pid: number;

  constructor(dir: string, { pid, host }: Holder) {
    super(`the state directory ${dir} is in use by process ${pid} on ${host}`);
    this.pid = pid;
  }
}

const REFRESH_MS = 10_000;
/** Processes of another host or container cannot be looked up: one that was not seen for so long is gone. */
const GONE_AFTER_MS = 30_000;
const REMOVAL_WAIT_MS = 20;
/** The removal of a dead lock takes milliseconds: who takes longer has died of it. */
const REMOVAL_GONE_AFTER_MS = 10_000;

/**
 * Takes the directory for this process and returns how to give it back. A lock left by a dead process is taken over.
 * @throws StateLocked; an Error with a code where the directory cannot be written.
 */
export async function lockDirectory(dir: string, clock: Clock): Promise<() => Promise<void>> {
  const file = join(dir, 'lock');
  const mine: Holder = { pid: process.pid, started: startOf(process.pid), host: hostname() };
  const own = `${file}.${mine.pid}`;
  await writeFile(own, JSON.stringify(mine));
  try {
    // A link appears with its content, so nobody ever reads half a lock.
    while (!(await linked(own, file))) await removeDead(dir, { file, own, mine }, clock);
  } finally {
    await rm(own, { force: true });
  }
  const stop = new AbortController();
  const refreshing = keepFresh(file, mine, clock, stop.signal);
  return async () => {
    stop.abort();
    await refreshing;
    await rm(file, { force: true });
  };
}

async function linked(own: string, file: string): Promise<boolean> {
  try {
    await link(own, file);
    return true;
  } catch (error) {
    if (hasCode(error, 'EEXIST')) return false;
    throw error;
  }
}

interface Attempt {
  readonly file: string;
  /** Our lock under a name of our own. */
  readonly own: string;
  readonly mine: Holder;
}

/**
 * Of several processes that find a dead lock only one may look again and remove it: another could remove the lock that
 * the first has taken meanwhile.
 */
async function removeDead(dir: string, { file, own, mine }: Attempt, clock: Clock): Promise<void> {
  const refuseLiving = (found: Found | undefined): void => {
    if (!found?.holder || !isAlive(found.holder, mine, clock.now() - found.touchedAt)) return;
    throw new StateLocked(dir, found.holder);
  };
  refuseLiving(await read(file));
  const removal = `${file}.removal`;
  if (await linked(own, removal)) {
    try {
      refuseLiving(await read(file));
      await rm(file, { force: true });
    } finally {
      await rm(removal, { force: true });
    }
    return;
  }
  await clock.sleep(REMOVAL_WAIT_MS);
  const other = await read(removal);
  if (other && clock.now() - other.touchedAt > REMOVAL_GONE_AFTER_MS) await rm(removal, { force: true });
}

interface Found {
  /** Undefined: unreadable. */
  readonly holder: Holder | undefined;
  readonly touchedAt: number;
}

/** Undefined: there is no lock (any more). */
async function read(file: string): Promise<Found | undefined> {
  try {
    const [text, { mtimeMs }] = await Promise.all([readFile(file, 'utf8'), stat(file)]);
    return { holder: parseHolder(text), touchedAt: mtimeMs };
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return undefined;
    throw error;
  }
}

function parseHolder(text: string): Holder | undefined {
  try {
    return Holder.parse(JSON.parse(text));
  } catch {
    return undefined;
  }
}

function isAlive(holder: Holder, mine: Holder, untouchedMs: number): boolean {
  if (holder.host !== mine.host) return untouchedMs < GONE_AFTER_MS;
  if (holder.pid === mine.pid) return false;
  if (holder.started !== '') return startOf(holder.pid) === holder.started;
  try {
    process.kill(holder.pid, 0);
    return true;
  } catch (error) {
    return hasCode(error, 'EPERM');
  }
}

/** Start time of a process in ticks since boot (proc(5), field 22 of stat); '' where there is no such process or no /proc. */
function startOf(pid: number): string {
  try {
    // The name in field 2 may hold anything, also spaces and parentheses.
    const afterName = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ').at(-1) ?? '';
    const fields = afterName.split(' ');
    // A zombie is dead, but keeps its number until it is waited for.
    return fields[0] === 'Z' ? '' : (fields[19] ?? '');
  } catch {
    return '';
  }
}

async function keepFresh(file: string, mine: Holder, clock: Clock, signal: AbortSignal): Promise<void> {
  try {
    for (;;) {
      await clock.sleep(REFRESH_MS, signal);
      const now = clock.now() / 1000;
      // Where the directory was removed, the next save makes it anew, and the lock has to be made as well.
      await utimes(file, now, now)
        .catch(() => writeFile(file, JSON.stringify(mine), { flag: 'wx' }))
        .catch(() => undefined);
    }
  } catch {
    // Aborted: the lock is given back.
  }
}

function hasCode(error: unknown, code: string): boolean {
  return error instanceof Error && 'code' in error && error.code === code;
}
