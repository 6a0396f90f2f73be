import { constants } from 'node:fs/promises';
import { join } from 'node:path';
import type { Clock } from '../lib/clock.ts';
import type { Disk, DiskFile } from '../lib/disk.ts';
import { hasCode } from '../lib/error-code.ts';
import type { Logger } from '../lib/log.ts';
import type { Milliseconds, UnixMs } from '../lib/time.ts';
import { createFile } from '../lib/whole-file.ts';
import { FILE_MODE } from './directory.ts';
import { Holder, type Host, livenessOf } from './holder.ts';

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
  /** The lock file that has replaced ours. */
  #other: LockFile | undefined;

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
   */
  async check(): Promise<void> {
    this.#other ??= await this.#readOther();
    if (this.#other) throw new StateLocked(this.#dir, holderOf(this.#other));
  }

  /** Unlocks the directory. */
  async release(): Promise<void> {
    this.#stop.abort();
    await this.#heartbeat;
    const found = await readLock(this.#file, this.#disk).catch(() => undefined);
    if (found?.text === this.#text) await this.#disk.rm(this.#file, { force: true });
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
    const holder = holderOf(found);
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
    const { pid, host } = holderOf(found) ?? {};
    log.warn(
      { pid, host, seconds: Math.ceil(ms / 1000) },
      'state directory is locked: waiting to see whether the holder is alive',
    );
    const last = await this.#watch(this.#file, found, ms);
    if (last === 'silent') return true;
    if (last?.text === found.text) throw new StateLocked(this.#dir, holderOf(found));
    return false;
  }

  /** Resolves when the file has changed or is gone (undefined), or has not changed for this long by our own clock. */
  async #watch(file: string, found: LockFile, ms: Milliseconds): Promise<LockFile | 'silent' | undefined> {
    const { clock, signal } = this.#options;
    const end = clock.monotonic() + ms;
    while (clock.monotonic() < end) {
      await clock.sleep(CHECK_EVERY_MS, signal);
      const now = await readLock(file, this.#disk);
      if (now?.text !== found.text || now.touchedAt !== found.touchedAt) return now;
    }
    return 'silent';
  }

  /**
   * Of several processes that find a dead lock, only one at a time may check it again and remove it. Otherwise one could
   * remove the lock that another has just taken.
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
    this.#other ??= await this.#readOther();
    if (this.#other || (await this.#create(this.#file))) return;
    const now = this.#options.clock.now() / 1000;
    await this.#disk.lutimes(this.#file, now, now);
  }

  async #readOther(): Promise<LockFile | undefined> {
    const found = await readLock(this.#file, this.#disk);
    return found && found.text !== this.#text ? found : undefined;
  }
}

interface LockFile {
  readonly text: string;
  readonly touchedAt: UnixMs;
}

/** Ten times what a lock has, and little enough for a buffer of Node's pool: a lock is read before each write. */
const MAX_LOCK_BYTES = 4_000;

/** Undefined: there is none. Opened each time, because only then does a network file system ask its server. */
async function readLock(file: string, disk: Disk): Promise<LockFile | undefined> {
  let handle: DiskFile;
  try {
    handle = await disk.open(file, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return undefined;
    // A link is not a lock of ours, and is not followed.
    if (hasCode(error, 'ELOOP')) return { text: '', touchedAt: 0 };
    throw error;
  }
  try {
    const buffer = Buffer.allocUnsafe(MAX_LOCK_BYTES);
    const { bytesRead } = await handle.read(buffer, 0, MAX_LOCK_BYTES, 0);
    const text = buffer.toString('utf8', 0, bytesRead);
    return { text, touchedAt: (await handle.stat()).mtimeMs };
  } finally {
    await handle.close();
  }
}

/** Undefined: this version cannot read it. */
function holderOf({ text }: LockFile): Holder | undefined {
  try {
    return Holder.parse(JSON.parse(text));
  } catch {
    return undefined;
  }
}
