import { join } from 'node:path';
import type { Clock } from '../lib/clock.ts';
import type { Disk } from '../lib/disk.ts';
import { hasCode } from '../lib/error-code.ts';
import type { Logger } from '../lib/log.ts';
import type { Milliseconds } from '../lib/time.ts';
import { createFile } from '../lib/whole-file.ts';
import { FILE_MODE } from './directory.ts';
import { type Holder, type Host, livenessOf } from './holder.ts';
import { holderOf, type LockFile, readLock, readText } from './lock-file.ts';

/** Another process uses this directory. */
export class StateLocked extends Error {
  override readonly name = 'StateLocked';
  readonly pid: number | undefined;

  constructor(dir: string, holder: Holder | undefined) {
    const who = holder ? `process ${holder.pid} on ${holder.host}` : 'another process';
    super(`the state directory ${dir} is in use by ${who}`);
    this.pid = holder?.pid;
  }
}

/** How often a holder touches its lock. */
const HEARTBEAT_MS = 5_000;
/** A holder that cannot be looked up counts as dead if it has not touched its lock for this long. */
const PRESUMED_DEAD_AFTER_MS = 30_000;
/** Its lock is watched for at least this long, whatever the time of the file: the clock of its host may be wrong. */
const MIN_WATCH_MS = 15_000;
const CHECK_EVERY_MS = 200;
/** Removing a dead lock takes milliseconds: a process that takes this long has died while doing it. */
const REMOVAL_TIMEOUT_MS = 10_000;

export interface LockOptions {
  readonly clock: Clock;
  readonly log: Logger;
  readonly disk: Disk;
  readonly host: Host;
  /** Ends the wait for a holder that may be dead. */
  readonly signal?: AbortSignal | undefined;
}

/**
 * Locks a directory for this process. A file in it names the holder, who touches it at every heartbeat. It needs only
 * the shared directory, so it also works between containers and between hosts.
 */
export class DirectoryLock {
  readonly #dir: string;
  readonly #file: string;
  readonly #options: LockOptions;
  readonly #disk: Disk;
  readonly #mine: Holder;
  readonly #text: string;
  readonly #stop = new AbortController();
  #heartbeat: Promise<void> = Promise.resolve();
  /** The text of the lock that has replaced ours. */
  #other: string | undefined;
  /** Settles when our lock, which was missing, has been written again. */
  #recreated: Promise<unknown> | undefined;
  /** What the last heartbeat found, if it was only a part of our text. */
  #part: string | undefined;

  private constructor(dir: string, options: LockOptions) {
    this.#dir = dir;
    this.#file = join(dir, 'lock');
    this.#options = options;
    this.#disk = options.disk;
    this.#mine = options.host.thisProcess();
    this.#text = JSON.stringify(this.#mine);
  }

  /**
   * Takes over a lock that a dead process left: at once where the process can be looked up, else after watching the lock.
   * @throws StateLocked; an Error with a code where the directory cannot be written; the signal's reason.
   */
  static async take(dir: string, options: LockOptions): Promise<DirectoryLock> {
    const lock = new DirectoryLock(dir, options);
    while (!(await lock.#create(lock.#file))) await lock.#removeIfDead();
    lock.#heartbeat = lock.#keepTouching();
    return lock;
  }

  /**
   * @throws StateLocked: this process was suspended for so long that another one took over. It must not write any more.
   * An Error with a code where the lock cannot be read.
   */
  async check(): Promise<void> {
    if (this.#other === undefined) {
      await this.#recreated;
      const text = await readText(this.#file, this.#disk);
      if (text === undefined || text === this.#text) return;
      // Its write has not ended or has failed, so what is there next may be ours.
      if (this.#isPart(text)) throw new StateLocked(this.#dir, undefined);
      this.#other = text;
    }
    throw new StateLocked(this.#dir, holderOf(this.#other));
  }

  /** Unlocks the directory. */
  async release(): Promise<void> {
    this.#stop.abort();
    await this.#heartbeat;
    const text = await readText(this.#file, this.#disk).catch(() => undefined);
    if (text === this.#text) await this.#disk.rm(this.#file, { force: true });
  }

  /** False: the file exists. */
  async #create(file: string): Promise<boolean> {
    try {
      await createFile(file, this.#text, FILE_MODE, this.#disk);
      return true;
    } catch (error) {
      if (hasCode(error, 'EEXIST')) return false;
      throw error;
    }
  }

  /** Resolves when the lock is gone or has changed. @throws StateLocked */
  async #removeIfDead(): Promise<void> {
    const found = await readLock(this.#file, this.#disk);
    if (!found) return;
    const holder = holderOf(found.text);
    const liveness = livenessOf(holder, this.#mine, this.#options.host);
    if (liveness === 'alive') throw new StateLocked(this.#dir, holder);
    if (liveness === 'unknown' && !(await this.#isSilent(found))) return;
    await this.#remove(found);
  }

  /** False: the lock is gone, or another one. @throws StateLocked when the holder touches it */
  async #isSilent(found: LockFile): Promise<boolean> {
    const { clock, log } = this.#options;
    const age = Math.max(0, clock.now() - found.touchedAt);
    const ms = Math.max(MIN_WATCH_MS, PRESUMED_DEAD_AFTER_MS - age);
    const { pid, host } = holderOf(found.text) ?? {};
    log.warn(
      { pid, host, seconds: Math.ceil(ms / 1000) },
      'state directory is locked: waiting to see whether the holder is alive',
    );
    const last = await this.#watch(this.#file, found, ms);
    if (last === 'silent') return true;
    if (last?.text === found.text) throw new StateLocked(this.#dir, holderOf(found.text));
    return false;
  }

  /**
   * Resolves when the file has changed or is gone (undefined), or has not changed for this long. Counts reads and not time:
   * while the disk or the computer stands still, the holder cannot touch the file either.
   */
  async #watch(file: string, found: LockFile, ms: Milliseconds): Promise<LockFile | 'silent' | undefined> {
    const { clock, signal } = this.#options;
    for (let left = ms; left > 0; left -= CHECK_EVERY_MS) {
      await clock.sleep(CHECK_EVERY_MS, signal);
      const now = await readLock(file, this.#disk);
      if (now?.text !== found.text || now.touchedAt !== found.touchedAt) return now;
    }
    return 'silent';
  }

  /**
   * Of several processes that find a dead lock, only one at a time may check it again and remove it. Otherwise one could
   * remove the lock that another has just taken. A process that is suspended here for longer than REMOVAL_TIMEOUT_MS still
   * can. If a third process then takes the lock, the one that lost it notices before its next write.
   */
  async #remove(dead: LockFile): Promise<void> {
    const removal = `${this.#file}.removal`;
    if (await this.#create(removal)) {
      try {
        const found = await readLock(this.#file, this.#disk);
        if (found?.text === dead.text && found.touchedAt === dead.touchedAt)
          await this.#disk.rm(this.#file, { force: true });
      } finally {
        await this.#disk.rm(removal, { force: true });
      }
      return;
    }
    const other = await readLock(removal, this.#disk);
    if (other && (await this.#watch(removal, other, REMOVAL_TIMEOUT_MS)) === 'silent') {
      await this.#disk.rm(removal, { force: true });
    }
  }

  async #keepTouching(): Promise<void> {
    const { clock } = this.#options;
    while (!this.#stop.signal.aborted) {
      // A disk that fails now may work at the next heartbeat.
      await clock
        .sleep(HEARTBEAT_MS, this.#stop.signal)
        .then(() => this.#touch())
        .catch(() => undefined);
    }
  }

  /** Creates the lock again if it is missing: when the directory was removed, the next write creates only the directory. */
  async #touch(): Promise<void> {
    if (this.#other !== undefined) return;
    const text = await readText(this.#file, this.#disk);
    const isLeft = text !== undefined && text === this.#part;
    this.#part = undefined;
    if (text === this.#text) {
      const now = this.#options.clock.now() / 1000;
      await this.#disk.lutimes(this.#file, now, now);
    } else if (text === undefined || isLeft) {
      this.#recreated = this.#recreate(isLeft).catch(() => undefined);
      await this.#recreated;
    } else if (this.#isPart(text)) {
      this.#part = text;
    } else {
      this.#other = text;
    }
  }

  /** @param isLeft A failed write has left a part of the text, which is removed first. */
  async #recreate(isLeft: boolean): Promise<void> {
    if (isLeft) await this.#disk.rm(this.#file, { force: true });
    await this.#create(this.#file);
  }

  /** Whether this can be our text, while it is being written or after that has failed. */
  #isPart(text: string): boolean {
    return this.#text.startsWith(text);
  }
}
