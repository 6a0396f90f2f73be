import { isUtf8 } from 'node:buffer';
import { randomUUID } from 'node:crypto';
import { constants } from 'node:fs';
import * as fs from 'node:fs/promises';
import { dirname } from 'node:path';
import { hasCode } from '../lib/error-code.ts';

/** The functions of node:fs/promises that a write needs. Tests replace them with a disk that fails. */
export interface WritableDisk {
  open(path: string, flags: 'r' | 'wx', mode?: number): Promise<WritableFile>;
  rename(from: string, to: string): Promise<void>;
  rm(path: string, options: { readonly force: true }): Promise<void>;
}

export interface WritableFile {
  /** Writes the bytes from `offset` on, at the end of what was written before. */
  write(bytes: Uint8Array, offset: number): Promise<{ readonly bytesWritten: number }>;
  sync(): Promise<void>;
  close(): Promise<void>;
}

/**
 * The text of a file. A FIFO or a device is refused: opening or reading it could wait for ever, and with it one of the
 * few threads that read files. @throws an Error with a code, EFTYPE for what is not a regular file, EFBIG for a large one
 */
export async function readWhole(file: string, maxBytes?: number): Promise<string> {
  return String(await readBytes(file, maxBytes));
}

/** The text of a file that people write. A name in another encoding would match nothing. @throws also EILSEQ, if it is not UTF-8 */
export async function readText(file: string): Promise<string> {
  const bytes = await readBytes(file);
  if (isUtf8(bytes)) return String(bytes);
  throw Object.assign(new Error('not UTF-8'), { code: 'EILSEQ' });
}

async function readBytes(file: string, maxBytes = 16 * 2 ** 20): Promise<Buffer> {
  await using handle = await fs.open(file, constants.O_RDONLY | constants.O_NONBLOCK);
  const found = await handle.stat();
  if (found.size > maxBytes) throw Object.assign(new Error('too large'), { code: 'EFBIG' });
  // Reading a directory fails by itself.
  if (found.isFile() || found.isDirectory()) return await handle.readFile();
  throw Object.assign(new Error('not a regular file'), { code: 'EFTYPE' });
}

/** Marks the name of a file that is not yet completely written. */
export const DRAFT = '.tmp-';

/** In pieces, each of which is made after the one before is written: a large text is never whole in memory. */
type Text = string | Iterable<string>;

/**
 * Replaces a file atomically, and resolves when the new one would survive a loss of power. If it rejects, or the host
 * crashes at any moment, the file is the old one or all of the new one.
 */
export async function writeWhole(file: string, text: Text, mode: number, disk: WritableDisk = fs): Promise<void> {
  // Node makes many UUIDs at once: the last twelve digits, all random, cost far less than random bytes of our own.
  const draft = `${file}${DRAFT}${randomUUID().slice(-12)}`;
  await createFile(draft, text, mode, disk);
  await orRemove(draft, disk, () => disk.rename(draft, file));
  await syncDirectory(dirname(file), disk);
}

/** Writes a file that must not exist, not even as a link. A failed write leaves nothing, unless the process is killed. */
export async function createFile(file: string, text: Text, mode: number, disk: WritableDisk = fs): Promise<void> {
  const handle = await disk.open(file, 'wx', mode);
  await orRemove(file, disk, async () => {
    try {
      for (const piece of typeof text === 'string' ? [text] : text) await writeAll(handle, Buffer.from(piece));
      await handle.sync();
    } finally {
      await handle.close();
    }
  });
}

async function orRemove(file: string, disk: WritableDisk, work: () => Promise<void>): Promise<void> {
  try {
    await work();
  } catch (error) {
    await disk.rm(file, { force: true }).catch(() => undefined);
    throw error;
  }
}

/** One call may write only a part. On a disk that is nearly full, it is the next call that fails. */
async function writeAll(handle: WritableFile, bytes: Uint8Array): Promise<void> {
  for (let done = 0; done < bytes.length; ) {
    const { bytesWritten } = await handle.write(bytes, done);
    if (bytesWritten === 0) throw new Error('the disk accepts no more bytes');
    done += bytesWritten;
  }
}

/** Makes the names in a directory survive a loss of power: without its name a file is lost, however well it is synced. */
export async function syncDirectory(dir: string, disk: Pick<WritableDisk, 'open'> = fs): Promise<void> {
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
