import { accessSync, chmodSync, constants, lstatSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { stat } from 'node:fs/promises';
import { hostname } from 'node:os';
import { join } from 'node:path';
import type { DatabaseSync } from 'node:sqlite';
import type { Clock } from '../lib/clock.ts';
import { codeOf, hasCode } from '../lib/error-code.ts';
import { FILE_MODE, makeDirectory, unreadable, type Warner } from './directory.ts';

/** Another process uses this directory. */
export class StateLocked extends Error {
  override readonly name = 'StateLocked';

  constructor(dir: string, holder: string) {
    const unless = holder ? '' : '. If there is none, the directory is on a network disk without locks';
    super(`the state directory ${dir} is in use by ${holder || 'another process'}: stop it first${unless}`);
  }
}

/** A result code of SQLite, as below. */
const BUSY = 5;
/** SQLITE_CORRUPT and SQLITE_NOTADB. */
const DAMAGED = [11, 26];

/**
 * Locks a directory for this process: an exclusive transaction on an empty SQLite file. The kernel ends the lock with
 * the process, whatever kills it, and other containers see the lock as well.
 *
 * Nothing else in this process may open the file: the kernel also ends the lock when any handle of the file is closed.
 * So a second file says who holds the lock.
 */
export class DirectoryLock {
  readonly #dir: string;
  readonly #file: string;
  readonly #holder: string;
  readonly #clock: Clock;
  readonly #log: Warner;
  #database: DatabaseSync | undefined;
  /** Device and inode of the file that is locked. */
  #identity = '';
  #lost: StateLocked | undefined;
  #ensured: Promise<void> = Promise.resolve();

  private constructor(dir: string, clock: Clock, log: Warner) {
    this.#dir = dir;
    this.#file = join(dir, 'lock');
    this.#holder = `${this.#file}.holder`;
    this.#clock = clock;
    this.#log = log;
  }

  /** @throws StateLocked; an Error with a code where the directory cannot be written, or with what to do. */
  static take(dir: string, clock: Clock, log: Warner): DirectoryLock {
    const lock = new DirectoryLock(dir, clock, log);
    lock.#take();
    return lock;
  }

  /**
   * Call it before each write. If the directory was removed or replaced, this process makes it and takes the lock again.
   * @throws StateLocked if another process was faster: this one must not write any more.
   */
  ensure(): Promise<void> {
    const ensure = (): Promise<void> => this.#ensure();
    // One at a time, so that the lock is taken only once.
    this.#ensured = this.#ensured.then(ensure, ensure);
    return this.#ensured;
  }

  /** Unlocks the directory. The file stays: another process could lock it while this one removes it. */
  async release(): Promise<void> {
    try {
      if (await this.#isInPlace().catch(() => false)) rmSync(this.#holder, { force: true });
    } catch {
      // The directory has become read-only: the next holder replaces the file.
    }
    this.#close();
  }

  async #ensure(): Promise<void> {
    if (this.#lost) throw this.#lost;
    if (await this.#isInPlace()) return;
    this.#close();
    await makeDirectory(this.#dir);
    try {
      this.#take();
    } catch (error) {
      if (error instanceof StateLocked) this.#lost = error;
      throw error;
    }
  }

  /** Whether the locked file is the one in the directory. */
  async #isInPlace(): Promise<boolean> {
    try {
      const { dev, ino } = await stat(this.#file, { bigint: true });
      return this.#identity === `${dev} ${ino}`;
    } catch (error) {
      if (hasCode(error, 'ENOENT')) return false;
      throw error;
    }
  }

  #take(): void {
    try {
      // SQLite and what follows would change the target of a link.
      if (lstatSync(this.#file, { throwIfNoEntry: false })?.isFile() === false)
        throw unreadable(this.#file, new Error('it is not a regular file'));
      this.#begin();
      rmSync(this.#holder, { force: true });
      try {
        chmodSync(this.#file, FILE_MODE);
      } catch (error) {
        // Some mounts refuse it, and so does a file of another user. The lock is held all the same.
        this.#log.warn({ file: this.#file, err: codeOf(error) }, 'could not change the mode of the lock file');
      }
      const { dev, ino } = lstatSync(this.#file, { bigint: true });
      this.#identity = `${dev} ${ino}`;
      this.#sayWhoHolds(`process ${process.pid} on ${hostname()} since ${new Date(this.#clock.now()).toISOString()}\n`);
    } catch (error) {
      this.#close();
      throw this.#whyNot(error);
    }
  }

  #begin(isNew = false): void {
    // Loaded here because it takes 1.7 MiB, which a state in Redis does not need.
    const { DatabaseSync } = process.getBuiltinModule('node:sqlite');
    try {
      this.#database = new DatabaseSync(this.#file, { timeout: 0 });
      // The journal is in memory, so it leaves no file. On a read-only file BEGIN succeeds without a lock, so a change,
      // which is never written, has to fail there.
      this.#database.exec('PRAGMA journal_mode = MEMORY; BEGIN EXCLUSIVE; PRAGMA user_version = 1');
    } catch (error) {
      if (isNew || !DAMAGED.includes(resultOf(error) ?? BUSY)) throw error;
      this.#close();
      // SQLite reads the file under a lock, so no process holds this one. If several do this at once, one gets the lock.
      writeFileSync(this.#file, '');
      this.#log.warn({ file: this.#file }, 'replaced a damaged lock file');
      this.#begin(true);
    }
  }

  /** Ignores a full disk: the lock works without this file. */
  #sayWhoHolds(text: string): void {
    try {
      writeFileSync(this.#holder, text, { flag: 'wx', mode: FILE_MODE });
    } catch (error) {
      if (!hasCode(error, 'ENOSPC', 'EDQUOT')) throw error;
    }
  }

  #close(): void {
    this.#database?.close();
    this.#database = undefined;
    this.#identity = '';
  }

  #whyNot(error: unknown): unknown {
    const errcode = resultOf(error);
    if (!(error instanceof Error) || errcode === undefined) return error;
    if (errcode === BUSY) return new StateLocked(this.#dir, this.#holderNow());
    try {
      // SQLite does not report the system error.
      accessSync(this.#dir, constants.W_OK | constants.X_OK);
      accessSync(this.#file, constants.R_OK | constants.W_OK);
    } catch (refused) {
      return (refused as NodeJS.ErrnoException).path === this.#file ? unreadable(this.#file, refused) : refused;
    }
    return new Error(`${this.#file} cannot be locked: ${error.message}`);
  }

  #holderNow(): string {
    try {
      return readFileSync(this.#holder, 'utf8').trim();
    } catch {
      return '';
    }
  }
}

function resultOf(error: unknown): number | undefined {
  return (error as { readonly errcode?: number }).errcode;
}
