import { execFileSync } from 'node:child_process';
import { closeSync, constants, openSync, writeSync } from 'node:fs';
import { waitFor } from '../../support/program.ts';

/** A file that does not answer: who reads it waits until `end`. */
export interface NamedPipe {
  /** Resolves when somebody reads it. */
  isRead(): Promise<void>;
  /** Ends what is being read. */
  end(text: string): void;
}

export function makePipe(file: string): NamedPipe {
  execFileSync('mkfifo', [file]);
  let descriptor = -1;
  return {
    isRead: async () => {
      // Fails as long as nobody reads.
      descriptor = await waitFor(() => openSync(file, constants.O_WRONLY | constants.O_NONBLOCK));
    },
    end: (text) => {
      writeSync(descriptor, text);
      closeSync(descriptor);
    },
  };
}
