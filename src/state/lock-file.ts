import { constants } from 'node:fs/promises';
import type { Disk, DiskFile } from '../lib/disk.ts';
import { hasCode } from '../lib/error-code.ts';
import type { UnixMs } from '../lib/time.ts';
import { Holder } from './holder.ts';

/** A lock as it was read. */
export interface LockFile {
  readonly text: string;
  readonly touchedAt: UnixMs;
}

/** Ten times what a lock has, and little enough for a buffer of Node's pool: a lock is read before each write. */
const MAX_LOCK_BYTES = 4_000;

/** A lock, and when it was last touched. Undefined: there is none. */
export async function readLock(file: string, disk: Disk): Promise<LockFile | undefined> {
  let touchedAt: UnixMs = 0;
  const text = await readText(file, disk, async (handle) => {
    touchedAt = (await handle.stat()).mtimeMs;
  });
  return text === undefined ? undefined : { text, touchedAt };
}

/**
 * The text of a lock. Undefined: there is none. Opened each time, because only then does a network file system ask its
 * server.
 * @param onRead Called with the open file after its text was read.
 */
export async function readText(
  file: string,
  disk: Disk,
  onRead?: (handle: DiskFile) => Promise<void>,
): Promise<string | undefined> {
  let handle: DiskFile;
  try {
    handle = await disk.open(file, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return undefined;
    // A link is not a lock of ours, and is not followed.
    if (hasCode(error, 'ELOOP')) return '';
    throw error;
  }
  try {
    const buffer = Buffer.allocUnsafe(MAX_LOCK_BYTES);
    const { bytesRead } = await handle.read(buffer, 0, MAX_LOCK_BYTES, 0);
    await onRead?.(handle);
    return buffer.toString('utf8', 0, bytesRead);
  } finally {
    await handle.close();
  }
}

/** Undefined: this version cannot read it. */
export function holderOf(text: string): Holder | undefined {
  try {
    return Holder.parse(JSON.parse(text));
  } catch {
    return undefined;
  }
}
