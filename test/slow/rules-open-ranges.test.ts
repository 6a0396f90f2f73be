import { execFile } from 'node:child_process';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';
import { parseDuration } from '../../src/toolkit/lib/duration.ts';
import { temporaryFolder } from '../support/files/files.ts';
import { areMissing, PROMTOOL } from '../support/tools/tools.ts';

const FOLDER = 'deploy/prometheus';

/** Samples are at whole milliseconds: without its first one a closed range holds what an open one does. */
function openRanges(promql: string): string {
  return promql.replace(/\[(\d+[mhd])\]/g, (_, range: string) => `[${(parseDuration(range) ?? 0) - 1}ms]`);
}

it('an open range is a millisecond shorter', () => {
  expect(openRanges('rate(a[2m]) + rate(b{c="d"}[1d] offset 1h)')).toBe(
    'rate(a[119999ms]) + rate(b{c="d"}[86399999ms] offset 1h)',
  );
});

it.skipIf(areMissing(PROMTOOL))('each alert does the same where ranges are open, as in Prometheus 3', async () => {
  const folder = temporaryFolder();
  const files = readdirSync(FOLDER).filter((name) => /^rules.*\.yaml$/.test(name));
  for (const name of files) writeFileSync(join(folder, name), openRanges(readFileSync(join(FOLDER, name), 'utf8')));
  for (const name of files.filter((one) => one.endsWith('.test.yaml'))) {
    const { stdout } = await promisify(execFile)(PROMTOOL.command, ['test', 'rules', join(folder, name)]);
    expect(stdout).toContain('SUCCESS');
  }
});
