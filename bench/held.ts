import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { AttesterSlashing } from '../src/api/answers/slots.ts';
import { limitMemory } from '../src/commands/memory.ts';
import { countSlashings, NO_SLASHINGS } from '../src/sources/slashings/count.ts';
import { slashingEvent } from '../src/sources/slashings/events.ts';
import { identityOf } from '../src/sources/slashings/evidence.ts';
import { prune } from '../src/sources/slashings/retention.ts';
import type { Slashings } from '../src/sources/slashings/state.ts';
import { slashing } from '../test/support/answers/slot-rows.ts';
import type { Observation } from './observe.ts';
import { build, Child, startExporter } from './program.ts';
import { spread, summary, table, verdict } from './report.ts';
import type { Service } from './service.ts';
import { threadMs } from './turns.ts';

/** Machines, and the longest turn while they are swept. */
const TARGETS: ReadonlyMap<number, number> = new Map([
  [1_000, 20],
  [5_000, 60],
]);
const SETTLES_MS = 25_000;
const SWEEPS = 4;
const SWEEP_MS = 20_000;
const ROUNDS = 9;
const LARGEST = 131_072;

/** How long the event loop is held by sweeps of large fleets, and by the largest slashing. */
export async function benchHeld(): Promise<void> {
  build();
  const rows: string[][] = [];
  for (const machines of TARGETS.keys()) rows.push(await sweeping(machines));
  table(
    `Longest turn in each of ${SWEEPS} sweeps of the program, CPU`,
    ['machines', 'longest turn', 'target', ''],
    rows,
  );
  slashings();
}

async function sweeping(machines: number): Promise<string[]> {
  const folder = mkdtempSync(join(tmpdir(), 'bench-'));
  const api = new Child<Service>('service.ts', { args: [`${machines}`] });
  const service = await api.message();
  const chains = `chains: {mainnet: {v1_base_url: "${service.url}"}}`;
  const settings = `${chains}\nmachines: {chain: mainnet, interval: ${SWEEP_MS / 1_000}s}`;
  const { child } = await startExporter(folder, service, `${settings}\nbudget: {plan: {per_second: 100}}`);
  const longest: number[] = [];
  let turns: number[] = [];
  child.process.on('message', ({ turnMs }: Observation) => turns.push(turnMs));
  await setTimeout(SETTLES_MS);
  for (let i = 0; i < SWEEPS; i += 1) {
    turns = [];
    await setTimeout(1.1 * SWEEP_MS);
    longest.push(Math.max(...turns));
  }
  await child.stop();
  await api.stop();
  rmSync(folder, { recursive: true });
  const seen = summary(longest);
  const target = TARGETS.get(machines) ?? 0;
  return [`${machines}`, spread(seen, ' ms'), `${target} ms`, verdict(seen.median <= target)];
}

/** As the daemon computes, for the rest of the process. */
function slashings(): void {
  limitMemory();
  const validators = Array.from({ length: LARGEST }, (_, i) => 1_000_000 + i * 14);
  const slot = 12_571_718;
  const body = JSON.stringify({ data: [slashing(slot, validators)] });
  const watch = [{ first: 1_000_500, last: 1_000_900 }];
  const before: Slashings = { ...NO_SLASHINGS, scannedEpoch: 392_000 };
  let state = before;
  const reads = Array.from({ length: ROUNDS }, () =>
    cpuOf(() => {
      const record = AttesterSlashing.parse(JSON.parse(body).data[0]);
      const counted = countSlashings(before, slot, new Map([[identityOf(record), record]]));
      for (const one of counted.observed) slashingEvent(watch, one);
      state = prune(counted.state, watch);
    }),
  );
  const later = Array.from({ length: ROUNDS }, () => cpuOf(() => void prune(state, watch)));
  const [read, next] = [summary(reads), summary(later)];
  table(
    `A slashing of ${LARGEST.toLocaleString('en-US')} validators, CPU in one turn`,
    ['poll', 'takes', 'target', ''],
    [
      ['reads it', spread(read, ' ms'), '200 ms', verdict(read.median <= 200)],
      ['a later one', spread(next, ' ms'), '10 ms', verdict(next.median <= 10)],
    ],
  );
}

function cpuOf(work: () => void): number {
  const began = threadMs();
  work();
  return threadMs() - began;
}
