/**
 * Runs every property of the tests with many more cases than the usual run does:
 *
 *     npm run fuzz -- --cases=100000 --seed=42
 *
 * `--cases` is the number for test/property together; the other properties grow by the same factor. A finding is printed with
 * its seed and its path. A property alone begins at any case, or repeats one finding:
 *
 *     npm run fuzz -- --cases=50000 --seed=42 --path=5000 test/sources/slashings/model
 *     npm run fuzz -- --seed=42 --path=2884:0:0:7 test/sources/slashings/model
 */
import { spawnSync } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { globSync, readFileSync } from 'node:fs';
import { parseArgs } from 'node:util';

const { values, positionals } = parseArgs({
  options: {
    cases: { type: 'string', default: '100000' },
    seed: { type: 'string', default: String(randomInt(2 ** 31)) },
    path: { type: 'string' },
  },
  allowPositionals: true,
});
if (!(Number(values.cases) >= 1)) throw new Error('--cases: expected a number of at least 1');
if (!Number.isSafeInteger(Number(values.seed))) throw new Error('--seed: expected a whole number');
if (values.path !== undefined && positionals.length !== 1) throw new Error('--path: expected one test file with it');

const properties = globSync('test/**/*.test.ts').filter((file) =>
  readFileSync(file, 'utf8').includes('vitest/fuzz.ts'),
);
const { status } = spawnSync('vitest', ['run', ...(positionals.length > 0 ? positionals : properties)], {
  stdio: 'inherit',
  env: {
    ...process.env,
    FUZZ_CASES: values.cases,
    FUZZ_SEED: values.seed,
    ...(values.path !== undefined && { FUZZ_PATH: values.path }),
  },
});
process.stdout.write(`seed ${values.seed}\n`);
process.exitCode = status ?? 1;
