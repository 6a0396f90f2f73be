import { execFileSync } from 'node:child_process';
import { constants, openSync, readSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { temporaryFolder } from '../files/files.ts';

/** Writes no line. */
const FILLER = '\0';

/** A full pipe, to whose descriptor `fd` a program can write. Its reader takes something only if `read` is called. */
export function stoppedReader(): { readonly fd: number; read(): string } {
  const path = join(temporaryFolder(), 'pipe');
  execFileSync('mkfifo', [path]);
  const reader = openSync(path, constants.O_RDWR | constants.O_NONBLOCK);
  const fd = openSync(path, constants.O_WRONLY | constants.O_NONBLOCK);
  const buffer = Buffer.alloc(65_536, FILLER);
  expectFull(() => writeSync(fd, buffer));
  return {
    fd,
    read: () => buffer.toString('utf8', 0, readSync(reader, buffer)).replaceAll(FILLER, ''),
  };
}

function expectFull(write: () => void): void {
  try {
    for (;;) write();
  } catch (error) {
    if (!String(error).includes('EAGAIN')) throw error;
  }
}
