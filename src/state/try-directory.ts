import { access, constants, mkdtemp, readdir, rm, rmdir, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { codeOf, hasCode } from '../lib/error-code.ts';
import { createFile, DRAFT } from '../lib/whole-file.ts';
import { FILE_MODE } from './directory.ts';

const REASONS: Readonly<Record<string, string>> = {
  EACCES: 'permission denied',
  EPERM: 'permission denied',
  EROFS: 'the file system is read-only',
  ENOTDIR: 'a part of its path is a file',
  EEXIST: 'it is a file',
  ENOENT: 'it cannot be made there',
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
export async function problemOf(dir: string): Promise<string | undefined> {
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
 * A directory that is missing is not made: a folder with a name of its own is made in its place, and removed.
 * @throws an Error with a code
 */
async function tryDirectory(dir: string): Promise<void> {
  let at = dir;
  for (let found = await isDirectory(at); !found; found = await isDirectory(at)) at = dirname(at);
  if (at !== dir) {
    await rmdir(await mkdtemp(join(at, 'beaconchain-exporter-check-')));
    return;
  }
  for (const name of await readdir(dir)) {
    if (name.endsWith('.json')) await access(join(dir, name), constants.R_OK);
  }
  // Should the process be killed here, the next start removes the file, as it does with those of interrupted writes.
  const file = join(dir, `check.json${DRAFT}${process.pid}`);
  await createFile(file, 'check', FILE_MODE);
  await rm(file, { force: true });
}

/** False: there is nothing. @throws an Error with a code if there is something else, or the path cannot be read */
async function isDirectory(path: string): Promise<boolean> {
  try {
    if ((await stat(path)).isDirectory()) return true;
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return false;
    throw error;
  }
  throw Object.assign(new Error('not a directory'), { code: 'EEXIST' });
}
