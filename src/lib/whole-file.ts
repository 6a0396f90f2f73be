import { randomBytes } from 'node:crypto';
import * as fs from 'node:fs/promises';
import { dirname } from 'node:path';
import { hasCode } from './error-code.ts';

/** The calls of node:fs/promises that a write takes. A test puts a disk behind them that fails or loses power. */
export interface Disk {
  open(path: string, flags: 'r' | 'wx', mode?: number): Promise<DiskFile>;
  rename(from: string, to: string): Promise<void>;
  rm(path: string, options: { readonly force: true }): Promise<void>;
}

export interface DiskFile {
  write(bytes: Uint8Array, offset: number): Promise<{ readonly bytesWritten: number }>;
  sync(): Promise<void>;
  close(): Promise<void>;
}

/** Part of the name of every file that is not yet whole. */
export const DRAFT = '.tmp-';

/**
 * Replaces a file, and resolves when the new one would survive a loss of power. When it rejects, the file is the old one
 * or all of the new one. The same holds after a crash at any moment.
 */
export async function writeWhole(file: string, text: string, mode: number, disk: Disk = fs): Promise<void> {
  const draft = `${file}${DRAFT}${randomBytes(8).toString('hex')}`;
  await createFile(draft, text, mode, disk);
  await orRemove(draft, disk, () => disk.rename(draft, file));
  await syncDirectory(dirname(file), disk);
}

/** Writes a file that must not exist, not even as a link; all of it or, unless the process ends meanwhile, nothing. */
export async function createFile(file: string, text: string, mode: number, disk: Disk = fs): Promise<void> {
  const handle = await disk.open(file, 'wx', mode);
  await orRemove(file, disk, async () => {
    try {
      await writeAll(handle, Buffer.from(text));
      await handle.sync();
    } finally {
      await handle.close();
    }
  });
}

async function orRemove(file: string, disk: Disk, work: () => Promise<void>): Promise<void> {
  try {
    await work();
  } catch (error) {
    await disk.rm(file, { force: true }).catch(() => undefined);
    throw error;
  }
}

/** One call may write a part: on a disk that is nearly full it does, and only the next one fails. */
async function writeAll(handle: DiskFile, bytes: Uint8Array): Promise<void> {
  for (let done = 0; done < bytes.length; ) {
    const { bytesWritten } = await handle.write(bytes, done);
    if (bytesWritten === 0) throw new Error('the disk accepts no more bytes');
    done += bytesWritten;
  }
}

/** Makes the names in a directory survive a loss of power: without its name a file is lost, however well it is synced. */
export async function syncDirectory(dir: string, disk: Pick<Disk, 'open'> = fs): Promise<void> {
  const handle = await disk.open(dir, 'r');
  try {
    await handle.sync();
  } catch (error) {
    // Some network file systems cannot sync a directory (fsync(2)). Nothing safer can be done there.
    if (!hasCode(error, 'EINVAL', 'ENOTSUP')) throw error;
  } finally {
    await handle.close();
  }
}
