import { mkdir, readdir, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { CODE_MEANINGS, codeOf, messageOf, toWhom } from '../lib/error-code.ts';
import type { Logger } from '../lib/log.ts';
import { moveAside } from './envelope.ts';
import { DRAFT, syncDirectory } from './whole-file.ts';

export type Warner = Pick<Logger, 'warn'>;

const OWNER_ONLY = 0o700;
/** The mode of every file in the directory. */
export const FILE_MODE = 0o600;

/** A directory that exists keeps its mode: it may be a volume, whose mode the operator chooses. */
export async function makeDirectory(dir: string): Promise<void> {
  await mkdir(dir, { recursive: true, mode: OWNER_ONLY });
  // A parent that is writable but not readable cannot be synced.
  await syncDirectory(dirname(dir)).catch(() => undefined);
}

/** Removes the remains of interrupted writes. */
export async function cleanUp(dir: string): Promise<void> {
  for (const name of await readdir(dir)) {
    if (name.includes(`.json${DRAFT}`)) await rm(join(dir, name), { recursive: true, force: true });
  }
}

export function unusable(dir: string, error: unknown): string {
  return `the state directory ${dir} cannot be used: ${why(error)}`;
}

/** A file of the state cannot be used. Its message names the file, the reason and the remedy. */
export function unreadable(file: string, error: unknown): Error {
  return new Error(`${file}: ${why(error)}. Correct this, or begin without the file: ${moveAside(file)}`);
}

/** The meaning and the code of an error, and the user to whom access is denied. */
function why(error: unknown): string {
  const code = codeOf(error);
  if (code === undefined) return messageOf(error);
  return [CODE_MEANINGS[code], code].filter(Boolean).join(', ') + toWhom(error);
}
