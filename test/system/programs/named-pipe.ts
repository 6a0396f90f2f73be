import { execFileSync } from 'node:child_process';
import { closeSync, constants, openSync, writeSync } from 'node:fs';
import { waitFor } from '../../support/program.ts';

/** A named pipe as a file that hangs: a read of it waits until `end`. */
export interface NamedPipe {
  /** Resolves when a program reads it. */
  isRead(): Promise<void>;
  /** Ends the read. */
  end(text: string): void;
}

export function makePipe(file: string): NamedPipe {
  execFileSync('mkfifo', [file]);
  let descriptor = -1;
  return {
    isRead: async () => {
      // Fails until a program reads.
      descriptor = await waitFor(() => openSync(file, constants.O_WRONLY | constants.O_NONBLOCK));
    },
    end: (text) => {
      writeSync(descriptor, text);
      closeSync(descriptor);
    },
  };
}
