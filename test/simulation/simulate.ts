/**
 * Simulates the whole program in worlds drawn from seeds (docs/internals/simulation.md):
 *
 *     npm run simulate -- --seeds=1000 --seed=1
 *     npm run simulate -- --seeds=1 --seed=4711 --log
 *     npm run simulate -- --breakages
 *
 * A seed that fails is printed with what happened in it, and with the command that repeats it.
 */
import { availableParallelism } from 'node:os';
import { parseArgs } from 'node:util';
import { BREAKAGES } from './breakages/list.ts';
import { findBreakage } from './breakages/runner.ts';
import { drawStory } from './draw.ts';
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

const first = wholeNumber('seed', values.seed);
const seeds = wholeNumber('seeds', values.seeds ?? (values.breakages ? '300' : '100'));
const jobs = wholeNumber('jobs', values.jobs);
process.exitCode = (values.breakages ? await breakages() : await simulate()) ? 0 : 1;

/** Whether no seed fails. */
async function simulate(): Promise<boolean> {
  const began = performance.now();
  let [requests, simulatedMs, failed] = [0, 0, 0];
  const numbers = Array.from({ length: seeds }, (_, i) => first + i);
  await inWorkers(numbers, jobs, (result) => {
    requests += result.requests;
    simulatedMs += result.simulatedMs;
    if (!result.failure) return true;
    failed += 1;
    tell(result);
    return !values['until-failure'];
  });
  const seconds = Math.round((performance.now() - began) / 1_000);
  const days = (simulatedMs / 86_400_000).toFixed(1);
  print(`${seeds} seeds, ${failed} failed. ${days} days, ${requests} requests, in ${seconds} s.`);
  return failed === 0;
}

function tell({ seed, failure, log }: SeedResult): void {
  if (!failure) return;
  const { start, lengthMs, setting, events } = drawStory(seed);
  print(`Seed ${seed} fails: ${failure.check}\n  ${failure.message}`);
  print(`  from ${new Date(start).toISOString()}, ${lengthMs / 1_000} s of trouble: ${JSON.stringify(setting)}`);
  // What comes later has not happened.
  for (const { at, kind, what } of events.filter(({ at }) => at <= failure.at))
    print(`  +${at / 1_000} s  ${kind} ${JSON.stringify(what)}`);
  print(`  +${failure.at / 1_000} s  fails`);
  if (values.log) for (const line of log.slice(-60)) print(`  ${line.trimEnd()}`);
  print(`  npm run simulate -- --seeds=1 --seed=${seed} --log`);
}

/** Whether every deliberate breakage is found. */
async function breakages(): Promise<boolean> {
  const chosen = BREAKAGES.filter(({ name }) => name.includes(values.only));
  const left = chosen.values();
  const missed: string[] = [];
  async function work(): Promise<void> {
    for (const breakage of left) {
      const found = await findBreakage(breakage, seeds, first);
      if (found === undefined) missed.push(breakage.name);
      print(`${breakage.name}: ${found ?? 'NOT FOUND'}`);
    }
  }
  await Promise.all(Array.from({ length: jobs }, work));
  print(`${chosen.length} breakages, not found: ${missed.join(', ') || 'none'}`);
  return missed.length === 0;
}

function wholeNumber(name: string, text: string): number {
  const number = Number(text);
  if (!Number.isInteger(number) || number < 0) throw new TypeError(`--${name}: expected a whole number, not "${text}"`);
  return number;
}

function print(line: string): void {
  process.stdout.write(`${line}\n`);
}
