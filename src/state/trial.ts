import { access, constants, mkdtemp, readdir, rm, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { systemClock } from '../lib/clock.ts';
import { hasCode } from '../lib/error-code.ts';
import { DRAFT, readWhole } from '../lib/whole-file.ts';
import { toWhom, unreadable, unusable } from './directory.ts';
import { FileStore } from './file.ts';
import { LOCK } from './lock.ts';

/** Why this process could not keep a state in the directory; undefined: it could. Leaves nothing. */
export async function directoryProblem(dir: string): Promise<string | undefined> {
  try {
    await tryDirectory(dir);
    return undefined;
  } catch (error) {
    return `${unusable(dir, error)}${toWhom(error)}`;
  }
}

/**
 * Leaves the state and its lock to the exporter, which may run. A folder of its own next to them is made, used as the
 * exporter uses its directory, and removed. @throws an Error with a code, or with what to do
 */
async function tryDirectory(dir: string): Promise<void> {
  let at = dir;
  for (let found = await isThere(at); !found; found = await isThere(at)) at = dirname(at);
  for (const name of at === dir ? await readdir(dir) : []) {
    const file = join(dir, name);
    const tried =
      name === LOCK ? access(file, constants.R_OK | constants.W_OK) : name.endsWith('.json') && readWhole(file);
    await Promise.resolve(tried).catch((error: unknown) => {
      throw unreadable(file, error);
    });
  }
  // If the process is killed here, the next start removes the folder, as it removes the files of interrupted writes.
  const folder = await mkdtemp(join(at, `check.json${DRAFT}`));
  try {
    const documents = await FileStore.open(folder, systemClock, { warn: () => undefined });
    await documents.save('check', 0).finally(() => documents.close());
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** False: nothing has this name. @throws an Error with a code if it is no directory, or the path cannot be read */
async function isThere(path: string): Promise<boolean> {
  try {
    if ((await stat(path)).isDirectory()) return true;
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return false;
    throw error;
  }
  throw Object.assign(new Error('not a directory'), { code: 'EEXIST' });
}
