/**
 * Simulates the whole program in worlds drawn from seeds (docs/internals/simulation.md):
 *
 *     npm run simulate -- --seeds=1000 --seed=1
 *     npm run simulate -- --seeds=1 --seed=4711 --log
 *     npm run simulate -- --breakages
 *
 * A seed that fails is printed as a short story with the line that repeats it.
 */
import { readFile, writeFile } from 'node:fs/promises';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { runBreakages, withList } from './breakages/runner.ts';
import { BREAKAGES } from './breakages/table.ts';
import { tellFailure } from './failing.ts';
import { inWorkers, type SeedResult } from './workers.ts';

const { values } = parseArgs({
  options: {
    seeds: { type: 'string' },
    seed: { type: 'string', default: '1' },
    jobs: { type: 'string', default: String(availableParallelism()) },
    log: { type: 'boolean', default: false },
    'until-failure': { type: 'boolean', default: false },
    breakages: { type: 'boolean', default: false },
    only: { type: 'string', default: '' },
  },
});

const LIST_FILE = 'docs/internals/simulation.md';

const first = wholeNumber('seed', values.seed);
const seeds = wholeNumber('seeds', values.seeds ?? (values.breakages ? '200' : '100'));
const jobs = wholeNumber('jobs', values.jobs);
process.exitCode = values.breakages ? await breakages() : await simulate();

async function simulate(): Promise<number> {
  const failed: SeedResult[] = [];
  const began = performance.now();
  let [requests, simulatedMs] = [0, 0];
  const numbers = Array.from({ length: seeds }, (_, i) => first + i);
  await inWorkers(numbers, jobs, (result) => {
    requests += result.requests;
    simulatedMs += result.simulatedMs;
    const { failure, seed } = result;
    if (!failure) return true;
    print(`Seed ${seed} fails: ${failure.check}\n  ${failure.message}`);
    failed.push(result);
    return !values['until-failure'];
  });
  if (values['until-failure']) return failed.length > 0 ? 1 : 0;
  const told = new Set<string>();
  for (const { seed, failure } of failed) {
    if (!failure || told.has(failure.check)) continue;
    told.add(failure.check);
    print(`\n${await tellFailure(seed, failure, values.log)}`);
  }
  const seconds = Math.round((performance.now() - began) / 1_000);
  const days = (simulatedMs / 86_400_000).toFixed(1);
  print(`${seeds} seeds, ${failed.length} failed. ${days} days, ${requests} requests, in ${seconds} s.`);
  return failed.length > 0 ? 1 : 0;
}

/** Whether every deliberate breakage is found; writes the list of the documentation. */
async function breakages(): Promise<number> {
  const chosen = BREAKAGES.filter(({ name }) => name.includes(values.only));
  const root = join(import.meta.dirname, '../..');
  const results = await runBreakages(
    chosen,
    { root, seeds, seed: first, jobs },
    ({ breakage, found, problem, seconds }) =>
      print(
        `${breakage.name}: ${problem ?? (found ? `seed ${found.seed}, ${found.check}` : 'not found')} (${seconds} s)`,
      ),
  );
  if (values.only === '') {
    const file = join(root, LIST_FILE);
    await writeFile(file, withList(await readFile(file, 'utf8'), results));
  }
  const missed = results.filter(({ found }) => !found);
  if (missed.length > 0) print(`not found: ${missed.map(({ breakage }) => breakage.name).join(', ')}`);
  return missed.length > 0 ? 1 : 0;
}

function wholeNumber(name: string, text: string): number {
  const number = Number(text);
  if (!Number.isInteger(number) || number < 0) throw new TypeError(`--${name}: expected a whole number, not "${text}"`);
  return number;
}

function print(line: string): void {
  process.stdout.write(`${line}\n`);
}
