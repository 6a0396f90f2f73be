import { readFileSync } from 'node:fs';

/** Version and revision of this program. The revision is written by the build; a checkout has none. */
export const VERSION: string = read('../../package.json', 'version') ?? 'unknown';
export const REVISION: string = read('../build.json', 'revision') ?? '';
/** Where the files of this version can be read in a browser; undefined if package.json names no repository on the web. */
export const FILES_URL: string | undefined = filesUrl(read('../../package.json', 'repository'), VERSION);

function read(file: string, field: string): string | undefined {
  try {
    const value: unknown = JSON.parse(readFileSync(new URL(file, import.meta.url), 'utf8'))[field];
    // npm also takes {type, url} for a repository.
    const text = typeof value === 'object' && value !== null && 'url' in value ? value.url : value;
    return typeof text === 'string' ? text : undefined;
  } catch {
    return undefined;
  }
}

/** The files of a release, which has the tag `v<version>`. */
export function filesUrl(repository: string | undefined, version: string): string | undefined {
  const [, address] = /^(?:git\+)?(https:\/\/.+?)(?:\.git)?$/.exec(repository ?? '') ?? [];
  return address === undefined ? undefined : `${address}/blob/v${version}`;
}
