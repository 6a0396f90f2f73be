import { readFile, rename } from 'node:fs/promises';
import { join } from 'node:path';
import type { z } from 'zod';
import type { Clock } from '../lib/clock.ts';
import { hasCode } from '../lib/error-code.ts';
import type { Logger } from '../lib/log.ts';
import { type Disk, writeWhole } from '../lib/whole-file.ts';
import { FILE_MODE, makeDirectory, tidy, warnOfOpenDirectory } from './directory.ts';
import { open, parseValue, VERSION, wrap } from './envelope.ts';
import { DirectoryLock } from './lock.ts';

/** Values by name, over restarts. */
export interface Documents {
  /** Undefined: none, or one that cannot be read, which was moved aside with a warning. */
  load<S extends z.ZodType>(name: string, schema: S): Promise<z.output<S> | undefined>;
  /** Resolves when the value would survive the end of the process; in files also a loss of power. */
  save(name: string, value: unknown): Promise<void>;
}

export interface FileOptions {
  /** Ends the wait for a lock that may be of a dead process. */
  readonly signal?: AbortSignal | undefined;
  /** What documents are written to. */
  readonly disk?: Disk;
}

/** One JSON file per document in a directory that belongs to this process. */
export class FileDocuments implements Documents {
  readonly #dir: string;
  readonly #clock: Clock;
  readonly #log: Logger;
  readonly #lock: DirectoryLock;
  readonly #disk: Disk | undefined;
  /** The newest write of each document: the next one waits for it. */
  readonly #writes = new Map<string, Promise<void>>();

  private constructor(dir: string, clock: Clock, log: Logger, lock: DirectoryLock, disk: Disk | undefined) {
    this.#dir = dir;
    this.#clock = clock;
    this.#log = log;
    this.#lock = lock;
    this.#disk = disk;
  }

  /** @throws StateLocked; an Error with a code where the directory cannot be made or written; the signal's reason. */
  static async open(dir: string, clock: Clock, log: Logger, options: FileOptions = {}): Promise<FileDocuments> {
    await makeDirectory(dir);
    await warnOfOpenDirectory(dir, log);
    const lock = await DirectoryLock.take(dir, { clock, log, signal: options.signal });
    await tidy(dir, clock.now());
    return new FileDocuments(dir, clock, log, lock, options.disk);
  }

  async load<S extends z.ZodType>(name: string, schema: S): Promise<z.output<S> | undefined> {
    const file = this.#file(name);
    let text: string;
    try {
      text = await readFile(file, 'utf8');
    } catch (error) {
      if (hasCode(error, 'ENOENT')) return undefined;
      throw error;
    }
    const parsed = parse(text, schema);
    if (parsed.success) return parsed.data;
    const aside = `${file}.unreadable-${this.#clock.now()}`;
    await rename(file, aside);
    this.#log.warn({ document: name, moved_to: aside, why: parsed.why }, 'state not readable, starting without it');
    return undefined;
  }

  async save(name: string, value: unknown): Promise<void> {
    const text = wrap(value);
    const before = this.#writes.get(name)?.catch(() => undefined);
    const write = Promise.resolve(before).then(() => this.#write(this.#file(name), text));
    this.#writes.set(name, write);
    await write;
  }

  /** Gives the directory back when everything is written. */
  async close(): Promise<void> {
    await Promise.allSettled(this.#writes.values());
    await this.#lock.release();
  }

  async #write(file: string, text: string): Promise<void> {
    await this.#lock.check();
    try {
      await writeWhole(file, text, FILE_MODE, this.#disk);
    } catch (error) {
      if (!hasCode(error, 'ENOENT')) throw error;
      // The directory was removed.
      await makeDirectory(this.#dir);
      await writeWhole(file, text, FILE_MODE, this.#disk);
    }
  }

  #file(name: string): string {
    return join(this.#dir, `${name}.json`);
  }
}

/** Reads a document without taking the directory, and leaves it as it is. Undefined: none that can be read. */
export async function peek<S extends z.ZodType>(
  dir: string,
  name: string,
  schema: S,
): Promise<z.output<S> | undefined> {
  try {
    const parsed = parse(await readFile(join(dir, `${name}.json`), 'utf8'), schema);
    return parsed.success ? parsed.data : undefined;
  } catch {
    return undefined;
  }
}

type Parsed<T> = { success: true; data: T } | { success: false; why: string };

/** A directory belongs to one process: what another version wrote, also one that this one could follow, is not taken over. */
function parse<S extends z.ZodType>(text: string, schema: S): Parsed<z.output<S>> {
  const opened = open(text);
  const isOther = opened.success ? opened.version !== VERSION : opened.isNewer;
  if (isOther) return { success: false, why: `not of version ${VERSION}` };
  if (!opened.success) return opened;
  return parseValue(opened.value, schema);
}
