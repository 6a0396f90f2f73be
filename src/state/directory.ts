import { access, constants, mkdir, mkdtemp, readdir, rm, rmdir, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { codeOf, hasCode } from '../lib/error-code.ts';
import type { Logger } from '../lib/log.ts';
import { createFile, DRAFT, syncDirectory } from '../lib/whole-file.ts';

const OWNER_ONLY = 0o700;
/** The mode of every file in the directory. */
export const FILE_MODE = 0o600;
const WRITABLE_BY_ALL = 0o002;

/**
 * As mkdir with `recursive`, which in Node never returns on a file system that refuses the directory, such as /proc. A
 * directory that exists keeps its mode: it may be a volume, whose mode the operator chooses.
 */
export async function makeDirectory(dir: string): Promise<void> {
  try {
    await mkdir(dir, OWNER_ONLY);
  } catch (error) {
    if (await isDirectory(dir)) return;
    const parent = dirname(dir);
    if (!hasCode(error, 'ENOENT') || (await isDirectory(parent))) throw error;
    await makeDirectory(parent);
    return makeDirectory(dir);
  }
  // A parent that is writable but not readable cannot be synced.
  await syncDirectory(dirname(dir)).catch(() => undefined);
}

async function isDirectory(path: string): Promise<boolean> {
  return (await stat(path).catch(() => undefined))?.isDirectory() ?? false;
}

/**
 * Warns if any user can replace the state. Write access for the group is allowed, because clusters assign volumes this
 * way.
 */
export async function warnOfOpenDirectory(dir: string, log: Logger): Promise<void> {
  const { mode } = await stat(dir);
  if (mode & WRITABLE_BY_ALL)
    log.warn({ dir, mode: (mode & 0o7777).toString(8) }, 'the state directory is writable by all users');
}

/** Removes the remains of interrupted writes. */
export async function cleanUp(dir: string): Promise<void> {
  for (const name of await readdir(dir)) {
    if (name.includes(`.json${DRAFT}`)) await rm(join(dir, name), { force: true });
  }
}

const REASONS: Readonly<Record<string, string>> = {
  EACCES: 'permission denied',
  EPERM: 'permission denied',
  EROFS: 'the file system is read-only',
  ENOTDIR: 'a part of its path is a file',
  EEXIST: 'it is a file',
  ENOENT: 'it cannot be created',
  ENOSPC: 'the disk is full',
  EDQUOT: 'the disk quota is used up',
  ENAMETOOLONG: 'the path is too long',
  ELOOP: 'its symbolic links form a loop',
};

/** Why a directory for the state cannot be used, in words and with the code of the system. */
export function unusable(dir: string, error: unknown): string {
  const code = codeOf(error);
  const reason = code === undefined ? String(error) : [REASONS[code], code].filter(Boolean).join(', ');
  return `the state directory ${dir} cannot be used: ${reason}`;
}

/** Why this process could not keep a state in the directory; undefined: it could. Leaves nothing. */
export async function directoryProblem(dir: string): Promise<string | undefined> {
  try {
    await tryDirectory(dir);
    return undefined;
  } catch (error) {
    const user = process.getuid?.();
    const who = hasCode(error, 'EACCES', 'EPERM') && user !== undefined ? ` (to user ${user})` : '';
    return `${unusable(dir, error)}${who}`;
  }
}

/**
 * Does not create a missing directory. Instead it creates and removes a folder of another name next to it.
 * @throws an Error with a code
 */
async function tryDirectory(dir: string): Promise<void> {
  let at = dir;
  for (let found = await isThere(at); !found; found = await isThere(at)) at = dirname(at);
  if (at !== dir) {
    await rmdir(await mkdtemp(join(at, 'beaconchain-exporter-check-')));
    return;
  }
  for (const name of await readdir(dir)) {
    if (name.endsWith('.json')) await access(join(dir, name), constants.R_OK);
  }
  // If the process is killed here, the next start removes the file, as it removes those of interrupted writes.
  const file = join(dir, `check.json${DRAFT}${process.pid}`);
  await createFile(file, 'check', FILE_MODE);
  await rm(file, { force: true });
}

/** False: nothing has this name. @throws an Error with a code if it is no directory, or the path cannot be read */
async function isThere(path: string): Promise<boolean> {
  try {
    if ((await stat(path)).isDirectory()) return true;
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return false;
    throw error;
  }
  throw Object.assign(new Error('not a directory'), { code: 'EEXIST' });
}
