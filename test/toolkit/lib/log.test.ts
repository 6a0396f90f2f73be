import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';

const MODULE = new URL('../../../src/toolkit/lib/log.ts', import.meta.url);

/** What another process writes to its stdout, which is no terminal. */
async function written(options: string): Promise<string> {
  const script = `
    const { openLogger } = await import(${JSON.stringify(MODULE.href)});
    const log = await openLogger(${options});
    log.info({ slot: 7 }, 'a slashing');
    log.warn('second');
    process.exit(0);`;
  const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '-e', script]);
  return stdout;
}

it('lib/log writes one JSON object a line if stdout is no terminal, and all lines before an exit', async () => {
  const lines = (await written(JSON.stringify({ level: 'info', format: null }))).trimEnd().split('\n');
  const time = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
  expect(lines.map((line) => JSON.parse(line))).toEqual([
    { level: 'info', time, slot: 7, msg: 'a slashing' },
    { level: 'warn', time, msg: 'second' },
  ]);
});
