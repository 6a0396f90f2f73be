import { mkdir, readdir, readFile, rename, rm, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { writeFile } from 'atomically';
import type { z } from 'zod';
import type { Clock } from '../lib/clock.ts';
import type { Logger } from '../lib/log.ts';
import { open, parseValue, VERSION, wrap } from './envelope.ts';
import { lockDirectory } from './lock.ts';

/** Values by name, over restarts. */
export interface Documents {
  /** Undefined: none, or one that cannot be read, which was moved aside with a warning. */
  load<S extends z.ZodType>(name: string, schema: S): Promise<z.output<S> | undefined>;
  /** Resolves when the value would survive the end of the process; a durable one also a loss of power. */
  save(name: string, value: unknown, durability: 'durable' | 'process'): Promise<void>;
}

/** One JSON file per document in a directory that belongs to this process. */
export class FileDocuments implements Documents {
  readonly #dir: string;
  readonly #clock: Clock;
  readonly #log: Logger;
  readonly #unlock: () => Promise<void>;

  private constructor(dir: string, clock: Clock, log: Logger, unlock: () => Promise<void>) {
    this.#dir = dir;
    this.#clock = clock;
    this.#log = log;
    this.#unlock = unlock;
  }

  /** @throws StateLocked; an Error with a code where the directory cannot be made or written. */
  static async open(dir: string, clock: Clock, log: Logger): Promise<FileDocuments> {
    await makeDirectory(dir);
    const unlock = await lockDirectory(dir, clock);
    await removeLeftovers(dir, clock.now());
    return new FileDocuments(dir, clock, log, unlock);
  }

  async load<S extends z.ZodType>(name: string, schema: S): Promise<z.output<S> | undefined> {
    const file = this.#file(name);
    let text: string;
    try {
      text = await readFile(file, 'utf8');
    } catch (error) {
      if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined;
      throw error;
    }
    const parsed = parse(text, schema);
    if (parsed.success) return parsed.data;
    const aside = `${file}.unreadable-${this.#clock.now()}`;
    await rename(file, aside);
    this.#log.warn({ document: name, moved_to: aside, why: parsed.why }, 'state not readable, starting without it');
    return undefined;
  }

  async save(name: string, value: unknown, durability: 'durable' | 'process'): Promise<void> {
    await writeFile(this.#file(name), wrap(value), { fsync: durability === 'durable' });
  }

  /** Gives the directory back. */
  async close(): Promise<void> {
    await this.#unlock();
  }

  #file(name: string): string {
    return join(this.#dir, `${name}.json`);
  }
}

/** As a recursive mkdir, which in Node never ends where a file system has no place for the directory (/proc). */
async function makeDirectory(dir: string): Promise<void> {
  try {
    await mkdir(dir);
  } catch (error) {
    if (await isDirectory(dir)) return;
    const parent = dirname(dir);
    const isOrphan = error instanceof Error && 'code' in error && error.code === 'ENOENT';
    if (!isOrphan || (await isDirectory(parent))) throw error;
    await makeDirectory(parent);
    await makeDirectory(dir);
  }
}

async function isDirectory(path: string): Promise<boolean> {
  return (await stat(path).catch(() => undefined))?.isDirectory() ?? false;
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

const ATTEMPT_GONE_AFTER_MS = 60_000;

/** What a write that was cut off leaves behind. */
async function removeLeftovers(dir: string, now: number): Promise<void> {
  for (const name of await readdir(dir)) {
    const file = join(dir, name);
    if (/\.json\.tmp-/.test(name)) await rm(file, { force: true });
    if (!/^lock\.\d+$/.test(name)) continue;
    // A young one may be of a process that is about to be refused.
    const { mtimeMs } = (await stat(file).catch(() => undefined)) ?? { mtimeMs: now };
    if (now - mtimeMs > ATTEMPT_GONE_AFTER_MS) await rm(file, { force: true });
  }
}
