/**
 * Simulates the whole program in worlds drawn from seeds (docs/internals/simulation.md):
 *
 *     npm run simulate -- --seeds=1000 --seed=1 [--days=30]
 *     npm run simulate -- --seeds=1 --seed=4711 --log
 *     npm run simulate -- --breakages
 *
 * A seed that fails is printed as a short story with the line that repeats it. `--days` tells long stories of the usual world.
 */
import { readFile, writeFile } from 'node:fs/promises';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { missed, tableOf, withBreakages } from './breakages/report.ts';
import { runBreakages } from './breakages/runner.ts';
import { BREAKAGES } from './breakages/table.ts';
import { type SeedResult, simulateSeed, tellFailure } from './seeds.ts';
import { Reached, tellMissing } from './sometimes.ts';
import { inWorkers } from './workers.ts';

const { values } = parseArgs({
  options: {
    seeds: { type: 'string' },
    seed: { type: 'string', default: '1' },
    days: { type: 'string' },
    jobs: { type: 'string', default: String(availableParallelism()) },
    log: { type: 'boolean', default: false },
    'until-failure': { type: 'boolean', default: false },
    json: { type: 'boolean', default: false },
    states: { type: 'boolean', default: false },
    breakages: { type: 'boolean', default: false },
    only: { type: 'string', default: '' },
  },
});

/** Fewer seeds cannot be expected to reach every rare state. */
const SEEDS_FOR_ALL_STATES = 1_000;
const TABLE_FILE = 'docs/internals/simulation.md';

const first = wholeNumber('seed', values.seed);
const seeds = wholeNumber('seeds', values.seeds ?? (values.breakages ? '200' : '100'));
const days = values.days === undefined ? undefined : wholeNumber('days', values.days);
process.exitCode = values.breakages ? await breakages() : await simulate();

async function simulate(): Promise<number> {
  const reached = new Reached();
  const told = new Map<string, number>();
  /** The first seed that failed at each check. */
  const firsts = new Map<string, SeedResult>();
  const began = performance.now();
  let [requests, simulatedMs] = [0, 0];
  const numbers = Array.from({ length: seeds }, (_, i) => first + i);
  const results = values.json || values.log ? oneByOne(numbers) : inWorkers(numbers, days, Number(values.jobs));
  for await (const result of results) {
    requests += result.requests;
    simulatedMs += result.simulatedMs;
    reached.merge(Reached.from(result.reached));
    const { failure, seed } = result;
    if (!failure) continue;
    told.set(failure.check, (told.get(failure.check) ?? 0) + 1);
    if (values.json) print(JSON.stringify({ seed, ...failure }));
    else print(`Seed ${seed} fails. ${failure.check}: ${failure.message}`);
    if (!firsts.has(failure.check)) firsts.set(failure.check, result);
    if (values['until-failure']) break;
  }
  if (values.json) return told.size > 0 ? 1 : 0;
  for (const { seed, failure } of firsts.values()) {
    if (failure) print(`\n${await tellFailure(seed, days, failure, values.log)}`);
  }
  const missing = seeds >= SEEDS_FOR_ALL_STATES ? tellMissing(reached) : [];
  for (const line of missing) print(line);
  if (values.states) for (const [state, count] of Object.entries(reached.toJSON())) print(`${count} x ${state}`);
  const failed = [...told.values()].reduce((sum, count) => sum + count, 0);
  const seconds = Math.round((performance.now() - began) / 1_000);
  const simulated = (simulatedMs / 86_400_000).toFixed(1);
  print(`${seeds} seeds, ${failed} failed. ${simulated} days, ${requests} requests, in ${seconds} s.`);
  for (const [check, count] of told) print(`  ${count} x ${check}`);
  return failed + missing.length > 0 ? 1 : 0;
}

async function* oneByOne(numbers: readonly number[]): AsyncGenerator<SeedResult> {
  // Most errors of a run are part of it. Their traces would take a tenth of the time.
  Error.stackTraceLimit = values.log ? 10 : 0;
  for (const seed of numbers) {
    const at = performance.now();
    const result = await simulateSeed(seed, days);
    const ms = Math.round(performance.now() - at);
    if (values.log)
      print(`seed ${seed}: ${ms} ms, ${result.requests} requests, ${(result.simulatedMs / 3.6e6).toFixed(1)} h`);
    yield result;
  }
}

/** Whether every deliberate breakage is found; writes the table of the documentation. */
async function breakages(): Promise<number> {
  const chosen = BREAKAGES.filter(({ name }) => name.includes(values.only));
  const root = join(import.meta.dirname, '../..');
  const results = await runBreakages(chosen, {
    root,
    seeds,
    seed: first,
    parallel: Number(values.jobs),
    onResult: ({ breakage, found, problem, seconds }) =>
      print(
        `${breakage.name}: ${problem ?? (found ? `seed ${found.seed}, ${found.check}` : 'not found')} (${seconds.toFixed(0)} s)`,
      ),
  });
  if (values.only === '') {
    const file = join(root, TABLE_FILE);
    await writeFile(file, withBreakages(await readFile(file, 'utf8'), tableOf(results)));
  }
  for (const line of missed(results)) print(line);
  return missed(results).length > 0 ? 1 : 0;
}

function wholeNumber(name: string, text: string): number {
  const number = Number(text);
  if (!Number.isInteger(number) || number < 0) throw new TypeError(`--${name}: expected a whole number, not "${text}"`);
  return number;
}

function print(line: string): void {
  process.stdout.write(`${line}\n`);
}
