import { readFileSync } from 'node:fs';

/** The version in which the state is written. No other is read. A test holds that it changes with the form of the state. */
export const STATE_VERSION = 9;

/** Version and revision of this program. The revision is written by the build; a checkout has none. */
export const VERSION: string = read('../../package.json', 'version') ?? 'unknown';
export const REVISION: string = read('../build.json', 'revision') ?? '';

function read(file: string, field: string): string | undefined {
  try {
    const value: unknown = JSON.parse(readFileSync(new URL(file, import.meta.url), 'utf8'))[field];
    return typeof value === 'string' ? value : undefined;
  } catch {
    return undefined;
  }
}
