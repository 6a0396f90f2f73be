import { Agent } from 'node:http';
import { Child, timed } from './program.ts';
import { type Summary, spread, summary, table, verdict } from './report.ts';
import type { Serving, Way } from './scraped.ts';

/** Scrapes of each server, in turn. */
const ROUNDS: ReadonlyMap<number, number> = new Map([
  [10, 300],
  [1_000, 60],
  [5_000, 20],
]);
const WARM_UP = 10;
const WAYS: readonly Way[] = ['ours', 'buffer', 'promClient'];

/** The time of a scrape over a connection that is kept open, against a static buffer and prom-client. */
export async function benchScrape(): Promise<void> {
  const rows: string[][] = [];
  for (const [machines, rounds] of ROUNDS) {
    const children = WAYS.map((way) => new Child<Serving>('scraped.ts', { args: [way, `${machines}`] }));
    const servings = await Promise.all(children.map((child) => child.message()));
    for (const form of ['plain', 'gzip'] as const) {
      const headers = form === 'gzip' ? { 'accept-encoding': 'gzip' } : {};
      const agent = new Agent({ keepAlive: true });
      const times: number[][] = WAYS.map(() => []);
      for (let i = -WARM_UP; i < rounds; i += 1) {
        for (const [way, { port }] of servings.entries()) {
          const took = await timed({ port, path: '/metrics', agent, headers });
          if (i >= 0) times[way]?.push(took);
        }
      }
      agent.destroy();
      const [ours, buffer, promClient] = times.map(summary) as [Summary, Summary, Summary];
      const isMet = ours.median <= 1.2 * buffer.median && promClient.median >= 20 * ours.median;
      rows.push([
        `${machines}`,
        form,
        `${((servings[0]?.bytes[form] ?? 0) / 1_000).toFixed(0)} kB`,
        ...[ours, buffer, promClient].map((one) => spread(one, ' ms')),
        (ours.median / buffer.median).toFixed(2),
        (promClient.median / ours.median).toFixed(0),
        machines === 1_000 ? verdict(isMet) : '',
      ]);
    }
    await Promise.all(children.map((child) => child.stop()));
  }
  table(
    'Scrape: median (middle half); the target at 1,000 machines is 1.2 x the buffer and 20 x faster than prom-client',
    ['machines', 'form', 'size', 'ours', 'static buffer', 'prom-client', 'ours/buffer', 'prom-client/ours', ''],
    rows,
  );
}
