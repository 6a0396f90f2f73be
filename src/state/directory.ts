import { chmod, lstat, mkdir, readdir, rm, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { hasCode } from '../lib/error-code.ts';
import type { Logger } from '../lib/log.ts';
import { DRAFT, syncDirectory } from '../lib/whole-file.ts';

const OURS_ALONE = 0o700;
/** Of every file in the directory. */
export const FILE_MODE = 0o600;
const GROUP_AND_OTHERS = 0o077;
const WRITABLE_BY_ALL = 0o002;

/**
 * As a recursive mkdir, which in Node never ends where a file system has no place for the directory (/proc). What is there
 * keeps its rights: it may be a volume whose rights are somebody else's to choose.
 */
export async function makeDirectory(dir: string): Promise<void> {
  try {
    await mkdir(dir, OURS_ALONE);
  } catch (error) {
    if (await isDirectory(dir)) return;
    const parent = dirname(dir);
    if (!hasCode(error, 'ENOENT') || (await isDirectory(parent))) throw error;
    await makeDirectory(parent);
    return makeDirectory(dir);
  }
  // A directory that may be written but not read cannot be synced.
  await syncDirectory(dirname(dir)).catch(() => undefined);
}

async function isDirectory(path: string): Promise<boolean> {
  return (await stat(path).catch(() => undefined))?.isDirectory() ?? false;
}

/** Says when everybody could replace the state. A group may be how a cluster gives the volume to its user. */
export async function warnOfOpenDirectory(dir: string, log: Logger): Promise<void> {
  const { mode } = await stat(dir);
  if (mode & WRITABLE_BY_ALL) log.warn({ dir, mode: (mode & 0o7777).toString(8) }, 'everybody can write to the state');
}

const LEFT_AFTER_MS = 60_000;

/** Removes what writes left that were cut off, and takes from others the right to read what earlier versions wrote. */
export async function tidy(dir: string, now: number): Promise<void> {
  for (const name of await readdir(dir)) {
    const file = join(dir, name);
    if (name.includes(`.json${DRAFT}`)) await rm(file, { force: true });
    else if (/^lock\.(\d+|removal)$/.test(name)) await removeIfOld(file, now);
    else if (/\.json($|\.unreadable-)/.test(name)) await closeToOthers(file);
  }
}

/** A young one may be of a process that is about to be refused. */
async function removeIfOld(file: string, now: number): Promise<void> {
  const found = await lstat(file).catch(() => undefined);
  if (found && now - found.mtimeMs > LEFT_AFTER_MS) await rm(file, { force: true });
}

async function closeToOthers(file: string): Promise<void> {
  const found = await lstat(file).catch(() => undefined);
  // One of another user stays as it is until it is replaced.
  if (found?.isFile() && found.mode & GROUP_AND_OTHERS) await chmod(file, FILE_MODE).catch(() => undefined);
}
