import { rename } from 'node:fs/promises';
import { join } from 'node:path';
import type * as z from 'zod';
import type { Clock } from '../lib/clock.ts';
import { hasCode } from '../lib/error-code.ts';
import { cleanUp, FILE_MODE, makeDirectory, unreadable, type Warner } from './directory.ts';
import { anewIn, parseDocument, wrapInPieces } from './envelope.ts';
import { DirectoryLock, StateLocked } from './lock.ts';
import type { StateStore } from './store.ts';
import { readWhole, type WritableDisk, writeWhole } from './whole-file.ts';

export interface FileStoreOptions {
  /** The version in which documents are written. No other is read. */
  readonly version: number;
  /** The directory was replaced while this process ran, and another process has the new one. Nothing is written any more. */
  readonly onLost?: ((error: StateLocked) => void) | undefined;
  /** Replaces the disk that is written to in tests. */
  readonly disk?: WritableDisk | undefined;
}

/** One JSON file for each document, in a directory that only this process uses. */
export class FileStore implements StateStore {
  readonly #dir: string;
  readonly #clock: Clock;
  readonly #log: Warner;
  readonly #lock: DirectoryLock;
  readonly #options: FileStoreOptions;
  /** The latest write of each document: the next one waits for it. */
  readonly #writes = new Map<string, Promise<void>>();

  private constructor(dir: string, clock: Clock, log: Warner, lock: DirectoryLock, options: FileStoreOptions) {
    this.#dir = dir;
    this.#clock = clock;
    this.#log = log;
    this.#lock = lock;
    this.#options = options;
  }

  /** @throws StateLocked; StateOfOtherVersion; an Error with a code where the directory cannot be made or written. */
  static async open(dir: string, clock: Clock, log: Warner, options: FileStoreOptions): Promise<FileStore> {
    await makeDirectory(dir);
    const lock = DirectoryLock.take(dir, clock, log);
    await cleanUp(dir);
    return new FileStore(dir, clock, log, lock, options);
  }

  async load<S extends z.ZodType>(name: string, schema: S): Promise<z.output<S> | undefined> {
    const file = this.#file(name);
    let text: string;
    try {
      text = await readWhole(file);
    } catch (error) {
      if (hasCode(error, 'ENOENT')) return undefined;
      throw unreadable(file, error);
    }
    const parsed = parseDocument({ document: file, anew: anewIn(this.#dir) }, this.#options.version, text, schema);
    if (parsed.success) return parsed.data;
    const aside = `${file}.unreadable-${this.#clock.now()}`;
    await rename(file, aside);
    this.#log.warn({ document: name, moved_to: aside, why: parsed.why }, 'state not readable, starting without it');
    return undefined;
  }

  async save(name: string, value: unknown): Promise<void> {
    const before = this.#writes.get(name)?.catch(() => undefined);
    const write = Promise.resolve(before).then(() => this.#write(this.#file(name), value));
    this.#writes.set(name, write);
    await write;
  }

  /** Releases the directory when everything is written. */
  async close(): Promise<void> {
    await Promise.allSettled(this.#writes.values());
    await this.#lock.release();
  }

  async #write(file: string, value: unknown): Promise<void> {
    try {
      await this.#lock.ensure();
    } catch (error) {
      if (error instanceof StateLocked) this.#options.onLost?.(error);
      throw error;
    }
    await writeWhole(file, wrapInPieces(this.#options.version, value), FILE_MODE, this.#options.disk);
  }

  #file(name: string): string {
    return join(this.#dir, `${name}.json`);
  }
}

/**
 * Reads a document without locking the directory, and changes nothing. Undefined: there is none, or it cannot be read.
 * @throws StateOfOtherVersion
 */
export async function peek<S extends z.ZodType>(
  dir: string,
  version: number,
  name: string,
  schema: S,
): Promise<z.output<S> | undefined> {
  const file = join(dir, `${name}.json`);
  const text = await readWhole(file).catch(() => undefined);
  if (text === undefined) return undefined;
  const parsed = parseDocument({ document: file, anew: anewIn(dir) }, version, text, schema);
  return parsed.success ? parsed.data : undefined;
}
