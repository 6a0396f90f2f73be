import { constants, lutimes, open, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Clock } from '../lib/clock.ts';
import { hasCode } from '../lib/error-code.ts';
import type { Logger } from '../lib/log.ts';
import { createFile } from '../lib/whole-file.ts';
import { FILE_MODE } from './directory.ts';
import { fateOf, Holder, thisProcess } from './holder.ts';

/** Another process keeps its state in this directory. */
export class StateLocked extends Error {
  override readonly name = 'StateLocked';
  readonly pid: number | undefined;

  constructor(dir: string, holder: Holder | undefined) {
    const who = holder ? `process ${holder.pid} on ${holder.host}` : 'another process';
    super(`the state directory ${dir} is in use by ${who}`);
    this.pid = holder?.pid;
  }
}

/** How often a holder shows that it lives. */
const BEAT_MS = 5_000;
/** A holder that cannot be looked up is gone when it has not shown itself for so long. */
const GONE_AFTER_MS = 30_000;
/** For so long it is watched at least, whatever the time of the lock: the clock of its host may be wrong. */
const MIN_WATCH_MS = 15_000;
const LOOK_EVERY_MS = 200;
/** The removal of a dead lock takes milliseconds: a process that takes longer has died of it. */
const REMOVAL_GONE_AFTER_MS = 10_000;

export interface LockOptions {
  readonly clock: Clock;
  readonly log: Logger;
  /** Ends the wait for a holder that may be dead. */
  readonly signal?: AbortSignal | undefined;
}

/**
 * A directory that belongs to this process: a file in it names the holder, who touches it again and again. Only the
 * directory need be shared, so it also works between containers and between hosts.
 */
export class DirectoryLock {
  readonly #dir: string;
  readonly #file: string;
  readonly #options: LockOptions;
  readonly #mine = thisProcess();
  readonly #text = JSON.stringify(this.#mine);
  readonly #stop = new AbortController();
  #beating: Promise<void> = Promise.resolve();
  /** What is there instead of our lock. */
  #other: Found | undefined;

  private constructor(dir: string, options: LockOptions) {
    this.#dir = dir;
    this.#file = join(dir, 'lock');
    this.#options = options;
  }

  /**
   * A lock that a dead process left is taken over: at once where it can be looked up, else when it was silent for a while.
   * @throws StateLocked; an Error with a code where the directory cannot be written; the signal's reason.
   */
  static async take(dir: string, options: LockOptions): Promise<DirectoryLock> {
    const lock = new DirectoryLock(dir, options);
    while (!(await lock.#create(lock.#file))) await lock.#clear();
    lock.#beating = lock.#beat();
    return lock;
  }

  /** @throws StateLocked: this process was stopped for so long that another has taken its place, and must write no more */
  async check(): Promise<void> {
    this.#other ??= await this.#findOther();
    if (this.#other) throw new StateLocked(this.#dir, this.#other.holder);
  }

  /** Gives the directory back. */
  async release(): Promise<void> {
    this.#stop.abort();
    await this.#beating;
    const found = await read(this.#file).catch(() => undefined);
    if (found?.text === this.#text) await rm(this.#file, { force: true });
  }

  /** False: there is one. */
  async #create(file: string): Promise<boolean> {
    try {
      await createFile(file, this.#text, FILE_MODE);
      return true;
    } catch (error) {
      if (hasCode(error, 'EEXIST')) return false;
      throw error;
    }
  }

  /** Returns when the lock is gone or has changed. @throws StateLocked */
  async #clear(): Promise<void> {
    const found = await read(this.#file);
    if (!found) return;
    const fate = fateOf(found.holder, this.#mine);
    if (fate === 'alive') throw new StateLocked(this.#dir, found.holder);
    if (fate === 'unknown' && !(await this.#isSilent(found))) return;
    await this.#remove(found);
  }

  /** False: it is gone, or another one. @throws StateLocked when its holder shows itself */
  async #isSilent(found: Found): Promise<boolean> {
    const { clock, log } = this.#options;
    const age = Math.max(0, clock.now() - found.touchedAt);
    const ms = Math.max(MIN_WATCH_MS, GONE_AFTER_MS - age);
    const { pid, host } = found.holder ?? {};
    log.warn(
      { pid, host, seconds: Math.ceil(ms / 1000) },
      'state directory is locked: waiting to see whether the holder is alive',
    );
    const last = await this.#watch(this.#file, found, ms);
    if (last === 'silent') return true;
    if (last?.text === found.text) throw new StateLocked(this.#dir, found.holder);
    return false;
  }

  /** Resolves when the file has changed or is gone (undefined), or has not changed for so long by our own clock. */
  async #watch(file: string, found: Found, ms: number): Promise<Found | 'silent' | undefined> {
    const { clock, signal } = this.#options;
    const end = clock.monotonic() + ms;
    while (clock.monotonic() < end) {
      await clock.sleep(LOOK_EVERY_MS, signal);
      const now = await read(file);
      if (now?.text !== found.text || now.touchedAt !== found.touchedAt) return now;
    }
    return 'silent';
  }

  /**
   * Of several processes that find a dead lock only one may look again and remove it: another could remove the lock that
   * the first has taken meanwhile.
   */
  async #remove(dead: Found): Promise<void> {
    const removal = `${this.#file}.removal`;
    if (await this.#create(removal)) {
      try {
        const found = await read(this.#file);
        if (found?.text === dead.text && found.touchedAt === dead.touchedAt) await rm(this.#file, { force: true });
      } finally {
        await rm(removal, { force: true });
      }
      return;
    }
    const other = await read(removal);
    if (other && (await this.#watch(removal, other, REMOVAL_GONE_AFTER_MS)) === 'silent') {
      await rm(removal, { force: true });
    }
  }

  async #beat(): Promise<void> {
    const { clock } = this.#options;
    while (!this.#stop.signal.aborted) {
      // A disk that fails now may be well at the next beat.
      await clock
        .sleep(BEAT_MS, this.#stop.signal)
        .then(() => this.#show())
        .catch(() => undefined);
    }
  }

  /** Where the directory was removed, the next write makes it anew, and the lock has to be made as well. */
  async #show(): Promise<void> {
    this.#other ??= await this.#findOther();
    if (this.#other || (await this.#create(this.#file))) return;
    const now = this.#options.clock.now() / 1000;
    await lutimes(this.#file, now, now);
  }

  async #findOther(): Promise<Found | undefined> {
    const found = await read(this.#file);
    return found && found.text !== this.#text ? found : undefined;
  }
}

interface Found {
  readonly text: string;
  /** Undefined: it names nobody that this version can read. */
  readonly holder: Holder | undefined;
  readonly touchedAt: number;
}

const MAX_LOCK = 10_000;

/** Undefined: there is none (any more). Opened each time, because only then a network file system asks its server. */
async function read(file: string): Promise<Found | undefined> {
  let handle: Awaited<ReturnType<typeof open>>;
  try {
    handle = await open(file, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return undefined;
    // A link: of nobody, and never followed.
    if (hasCode(error, 'ELOOP')) return { text: '', holder: undefined, touchedAt: 0 };
    throw error;
  }
  try {
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(MAX_LOCK), 0, MAX_LOCK, 0);
    const text = buffer.toString('utf8', 0, bytesRead);
    return { text, holder: parse(text), touchedAt: (await handle.stat()).mtimeMs };
  } finally {
    await handle.close();
  }
}

function parse(text: string): Holder | undefined {
  try {
    return Holder.parse(JSON.parse(text));
  } catch {
    return undefined;
  }
}
