/**
 * Runs every property of the tests with many more cases than the usual run does:
 *
 *     npm run fuzz -- --cases=100000 --seed=42
 *
 * `--cases` is the number for test/property together; the other properties grow by the same factor. A finding is printed with
 * its seed and its path, and `--seed` repeats the run that found it. A property alone begins at any case, or repeats one finding:
 *
 *     npm run fuzz -- --cases=50000 --seed=42 --path=5000 test/sources/slashings/model
 *     npm run fuzz -- --seed=42 --path=2884:0:0:7 test/sources/slashings/model
 */
import { spawnSync } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import type { FuzzLine } from '../test/support/fuzz.ts';

const PROPERTIES = [
  'property',
  'test/sources/slashings/model',
  'test/sources/machines/next-change',
  'test/sources/machines/options',
];

const { values, positionals } = parseArgs({
  options: { cases: { type: 'string', default: '100000' }, seed: { type: 'string' }, path: { type: 'string' } },
  allowPositionals: true,
});
if (!(Number(values.cases) >= 1)) throw new Error('--cases: expected a number of at least 1');
if (values.seed !== undefined && !Number.isSafeInteger(Number(values.seed)))
  throw new Error('--seed: expected a whole number');
if (values.path !== undefined && (values.seed === undefined || positionals.length !== 1))
  throw new Error('--path: expected --seed and one test file with it');

const folder = mkdtempSync(join(tmpdir(), 'fuzz-'));
const file = join(folder, 'report');
const { status } = spawnSync(
  'vitest',
  ['run', ...(positionals.length > 0 ? positionals : PROPERTIES), '--reporter=dot'],
  {
    stdio: 'inherit',
    env: {
      ...process.env,
      FUZZ_CASES: values.cases,
      FUZZ_REPORT: file,
      FUZZ_SEED: values.seed ?? String(randomInt(2 ** 31)),
      ...(values.path === undefined ? {} : { FUZZ_PATH: values.path }),
    },
  },
);
const lines = readFileSync(file, 'utf8')
  .trim()
  .split('\n')
  .map((line): FuzzLine => JSON.parse(line));
rmSync(folder, { recursive: true });

for (const { test, cases, seed, failed } of lines.toSorted((a, b) => (a.test < b.test ? -1 : 1))) {
  process.stdout.write(`${failed ? 'FAILED' : '    ok'} ${String(cases).padStart(8)} cases, seed ${seed}: ${test}\n`);
}
const total = lines.reduce((sum, { cases }) => sum + cases, 0);
process.stdout.write(`${total} cases, ${lines.filter(({ failed }) => failed).length} findings\n`);
process.exitCode = status ?? 1;
