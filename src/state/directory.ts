import { dirname, join } from 'node:path';
import type { Disk } from '../lib/disk.ts';
import { hasCode } from '../lib/error-code.ts';
import type { Logger } from '../lib/log.ts';
import type { UnixMs } from '../lib/time.ts';
import { DRAFT, syncDirectory } from '../lib/whole-file.ts';

const OWNER_ONLY = 0o700;
/** The mode of every file in the directory. */
export const FILE_MODE = 0o600;
const GROUP_AND_OTHERS = 0o077;
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

const ABANDONED_AFTER_MS = 60_000;

/** Removes the remains of interrupted writes, and restricts files that earlier versions left readable to others. */
export async function cleanUp(dir: string, now: UnixMs, disk: Disk): Promise<void> {
  for (const name of await disk.readdir(dir)) {
    const file = join(dir, name);
    if (name.includes(`.json${DRAFT}`)) await disk.rm(file, { force: true });
    else if (/^lock\.(\d+|removal)$/.test(name)) await removeIfOld(file, now, disk);
    else if (/\.json($|\.unreadable-)/.test(name)) await makePrivate(file, disk);
  }
}

/** A recent one may belong to a process that is about to be refused the lock. */
async function removeIfOld(file: string, now: UnixMs, disk: Disk): Promise<void> {
  const found = await disk.lstat(file).catch(() => undefined);
  if (found && now - found.mtimeMs > ABANDONED_AFTER_MS) await disk.rm(file, { force: true });
}

async function makePrivate(file: string, disk: Disk): Promise<void> {
  const found = await disk.lstat(file).catch(() => undefined);
  // A file of another user is not changed until it is replaced.
  if (found?.isFile() && found.mode & GROUP_AND_OTHERS) await disk.chmod(file, FILE_MODE).catch(() => undefined);
}
