import * as fs from 'node:fs/promises';
import type { WritableDisk, WritableFile } from '../../src/lib/whole-file.ts';

export const DISK_FAULTS = {
  'writes that take a part, or fail': 'write',
  'every third sync fails': 'sync',
  'every second rename fails': 'rename',
} as const;

export type DiskFault = (typeof DISK_FAULTS)[keyof typeof DISK_FAULTS];

const PART = 4_096;
/** One in so many writes fails: a file of 100 kB takes 25 of them. */
const FAILS_EACH = { write: 40, sync: 3, rename: 2 } as const;

/** A real disk between which and the program calls fail, where they are told to. */
export class WeakDisk implements WritableDisk {
  fault: DiskFault | undefined;
  #calls = 0;

  async open(path: string, flags: 'r' | 'wx', mode?: number): Promise<WritableFile> {
    const file = await fs.open(path, flags, mode);
    return {
      write: async (bytes, offset) => {
        this.#call('write', 'ENOSPC');
        const length = Math.min(bytes.length - offset, this.fault === 'write' ? PART : Number.POSITIVE_INFINITY);
        return file.write(bytes.subarray(0, offset + length), offset);
      },
      sync: async () => {
        this.#call('sync', 'EIO');
        await file.sync();
      },
      close: () => file.close(),
    };
  }

  async rename(from: string, to: string): Promise<void> {
    this.#call('rename', 'EIO');
    await fs.rename(from, to);
  }

  async rm(path: string, options: { readonly force: true }): Promise<void> {
    await fs.rm(path, options);
  }

  #call(what: DiskFault, code: string): void {
    if (this.fault !== what) return;
    this.#calls += 1;
    if (this.#calls % FAILS_EACH[what] === 0) throw Object.assign(new Error(`${code}: made up`), { code });
  }
}
