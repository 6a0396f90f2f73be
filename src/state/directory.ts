import { dirname, join } from 'node:path';
import type { Disk } from '../lib/disk.ts';
import { hasCode } from '../lib/error-code.ts';
import type { Logger } from '../lib/log.ts';
import { DRAFT, syncDirectory } from '../lib/whole-file.ts';

const OWNER_ONLY = 0o700;
/** The mode of every file in the directory. */
export const FILE_MODE = 0o600;
const WRITABLE_BY_ALL = 0o002;

/**
 * As mkdir with `recursive`, which in Node never returns on a file system that refuses the directory, such as /proc. A
 * directory that exists keeps its mode: it may be a volume, whose mode the operator chooses.
 */
export async function makeDirectory(dir: string, disk: Disk): Promise<void> {
  try {
    await disk.mkdir(dir, OWNER_ONLY);
  } catch (error) {
    if (await isDirectory(dir, disk)) return;
    const parent = dirname(dir);
    if (!hasCode(error, 'ENOENT') || (await isDirectory(parent, disk))) throw error;
    await makeDirectory(parent, disk);
    return makeDirectory(dir, disk);
  }
  // A parent that is writable but not readable cannot be synced.
  await syncDirectory(dirname(dir), disk).catch(() => undefined);
}

async function isDirectory(path: string, disk: Disk): Promise<boolean> {
  return (await disk.stat(path).catch(() => undefined))?.isDirectory() ?? false;
}

/**
 * Warns if any user can replace the state. Write access for the group is allowed, because clusters assign volumes this
 * way.
 */
export async function warnOfOpenDirectory(dir: string, log: Logger, disk: Disk): Promise<void> {
  const { mode } = await disk.stat(dir);
  if (mode & WRITABLE_BY_ALL)
    log.warn({ dir, mode: (mode & 0o7777).toString(8) }, 'the state directory is writable by all users');
}

/** Removes the remains of interrupted writes. */
export async function cleanUp(dir: string, disk: Disk): Promise<void> {
  for (const name of await disk.readdir(dir)) {
    if (name.includes(`.json${DRAFT}`)) await disk.rm(join(dir, name), { force: true });
  }
}
