import { rename } from 'node:fs/promises';
import { join } from 'node:path';
import type * as z from 'zod';
import type { Clock } from '../lib/clock.ts';
import { hasCode } from '../lib/error-code.ts';
import { cleanUp, FILE_MODE, makeDirectory, unreadable, unusable, type Warner } from './directory.ts';
import { moveAside, parseDocument, wrap } from './envelope.ts';
import { DirectoryLock, StateLocked } from './lock.ts';
import type { StateStore } from './store.ts';
import { readWhole, writeWhole } from './whole-file.ts';

export interface FileStoreOptions {
  /** The only version of documents that is read and written. */
  readonly version: number;
  /** Called if another process took the directory after it was replaced. From then on nothing is written. */
  readonly onLost?: ((error: StateLocked) => void) | undefined;
}

/**
 * One JSON file for each document, in a directory that only this process uses.
 * @throws StateLocked; an Error with a code where the directory cannot be made or written.
 */
export async function openFileStore(
  dir: string,
  clock: Clock,
  log: Warner,
  { version, onLost }: FileStoreOptions,
): Promise<StateStore & { close(): Promise<void> }> {
  await makeDirectory(dir);
  const lock = DirectoryLock.take(dir, clock, log);
  await cleanUp(dir);
  /** The latest write of each document: the next one waits for it. */
  const writes = new Map<string, Promise<void>>();
  const fileOf = (name: string): string => join(dir, `${name}.json`);

  async function load<S extends z.ZodType>(name: string, schema: S): Promise<z.output<S> | undefined> {
    const file = fileOf(name);
    const text = await readWhole(file, Number.POSITIVE_INFINITY).catch((error: unknown) => {
      if (hasCode(error, 'ENOENT')) return undefined;
      throw unreadable(file, error);
    });
    if (text === undefined) return undefined;
    const parsed = parseDocument({ document: file, remedy: moveAside(dir) }, version, text, schema);
    if (parsed.success) return parsed.data;
    const aside = `${file}.unreadable-${clock.now()}`;
    await rename(file, aside);
    log.warn({ document: name, moved_to: aside, why: parsed.why }, 'state not readable, starting without it');
    return undefined;
  }

  async function save(name: string, value: unknown): Promise<void> {
    const before = writes.get(name)?.catch(() => undefined);
    const writing = Promise.resolve(before).then(() => write(fileOf(name), value));
    writes.set(name, writing);
    await writing;
  }

  async function write(file: string, value: unknown): Promise<void> {
    try {
      await lock.ensure();
    } catch (error) {
      if (error instanceof StateLocked) onLost?.(error);
      throw error;
    }
    await writeWhole(file, wrap(version, value), FILE_MODE);
  }

  async function close(): Promise<void> {
    await Promise.allSettled(writes.values());
    await lock.release();
  }

  return { load, save, close };
}

/**
 * Reads a document without locking the directory, and changes nothing. Undefined if it is absent or unreadable.
 * @throws StateOfOtherVersion, Error if a part of the path is a file
 */
export async function peek<S extends z.ZodType>(
  dir: string,
  version: number,
  name: string,
  schema: S,
): Promise<z.output<S> | undefined> {
  const file = join(dir, `${name}.json`);
  const text = await readWhole(file, Number.POSITIVE_INFINITY).catch((error: unknown) => {
    if (hasCode(error, 'ENOTDIR')) throw new Error(unusable(dir, error));
    return undefined;
  });
  if (text === undefined) return undefined;
  const parsed = parseDocument({ document: file, remedy: moveAside(dir) }, version, text, schema);
  return parsed.success ? parsed.data : undefined;
}
