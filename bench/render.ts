import { setTimeout } from 'node:timers/promises';
import { Exposition } from '../src/toolkit/exposition/exposition.ts';
import { systemClock } from '../src/toolkit/lib/clock.ts';
import { digits, spread, summary, table, verdict } from './report.ts';
import { Turns } from './turns.ts';
import { registryOf, sectionsAt } from './values.ts';

const ROUNDS = 15;
const TARGET_MS = 20;

/** Measures rendering after a sweep and how long it blocks the event loop, compared with one text of prom-client. */
export async function benchRender(): Promise<void> {
  const rows: string[][] = [];
  for (const machines of [10, 1_000, 5_000]) {
    const sections = sectionsAt(machines, Date.now());
    const exposition = new Exposition(sections, {
      takeSnapshot: () => undefined,
      clock: systemClock,
      onError: (error) => {
        throw error;
      },
    });
    const registry = await registryOf(sections);
    await exposition.refresh();
    const ours = await rounds(async () => {
      exposition.touch('machines');
      await exposition.refresh();
    });
    const promClient = await rounds(() => registry.metrics());
    rows.push([
      `${machines}`,
      spread(ours.took, ' ms'),
      spread(ours.cpu, ' ms'),
      `${spread(ours.blocked, ' ms')}, most ${digits(ours.blocked.most)} ms`,
      `${spread(promClient.blocked, ' ms')}, most ${digits(promClient.blocked.most)} ms`,
      machines === 1_000 ? verdict(ours.blocked.median <= TARGET_MS) : '',
    ]);
  }
  table(
    'Rendering both formats, plain and compressed, after a sweep; the target at 1,000 machines is a block of 20 ms',
    ['machines', 'until shown', 'CPU, all threads', 'longest turn, CPU', 'prom-client, longest turn', ''],
    rows,
  );
}

/** The first rounds, which compile, are left out. */
async function rounds(work: () => Promise<unknown>) {
  const took: number[] = [];
  const cpu: number[] = [];
  const blocked: number[] = [];
  for (let i = -3; i < ROUNDS; i += 1) {
    const turns = new Turns();
    // Turns are counted from the first tick of the timer on.
    await setTimeout(5);
    const before = process.cpuUsage();
    const start = performance.now();
    await work();
    const end = performance.now();
    const used = process.cpuUsage(before);
    await setTimeout(5);
    turns.stop();
    if (i < 0) continue;
    took.push(end - start);
    cpu.push((used.user + used.system) / 1_000);
    blocked.push(turns.take());
  }
  return { took: summary(took), cpu: summary(cpu), blocked: summary(blocked) };
}
