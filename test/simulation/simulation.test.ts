import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';
import { simulateSeed } from './workers.ts';

it('what must always hold, holds in the stories of five seeds', async () => {
  const command = [join(import.meta.dirname, 'simulate.ts'), '--seeds=5', '--jobs=1'];
  const { stdout } = await promisify(execFile)(process.execPath, command).catch((error) => error);
  expect(stdout).toMatch(/^5 seeds, 0 failed\./);
});

it('a seed has the same events each time', async () => {
  expect(await simulateSeed(13)).toEqual(await simulateSeed(13));
});
