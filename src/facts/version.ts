import { readFileSync } from 'node:fs';

/** The only version of the state that is read and written. A test fails if the form of the state changes without it. */
export const STATE_VERSION = 9;

/** The build writes the revision; a checkout has none. */
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
