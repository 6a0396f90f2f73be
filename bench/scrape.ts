import { Agent, request } from 'node:http';
import { Child } from './child.ts';
import { table, verdict } from './report.ts';
import { type Summary, spread, summary } from './stats.ts';

interface Serving {
  readonly ports: { readonly ours: number; readonly buffer: number };
  readonly bytes: { readonly plain: number; readonly gzip: number };
  readonly series: number;
}

/** How often each is scraped: as often as is quick, in turn. prom-client every n-th time. */
const ROUNDS = [
  { machines: 10, rounds: 600, promClientEvery: 10 },
  { machines: 100, rounds: 400, promClientEvery: 10 },
  { machines: 1_000, rounds: 300, promClientEvery: 20 },
  { machines: 5_000, rounds: 60, promClientEvery: 15 },
];
const WARM_UP = 20;

/** The time of a scrape over a connection that is kept open, against a static buffer and prom-client. */
export async function benchScrape(): Promise<void> {
  const rows: string[][] = [];
  for (const { machines, rounds, promClientEvery } of ROUNDS) {
    const child = new Child<Serving>('scrape-server.ts', { args: [`${machines}`] });
    const { ports: own, bytes, series } = await child.message();
    const other = new Child<number>('prom-client-server.ts', { args: [`${machines}`] });
    const ports = { ...own, promClient: await other.message() };
    const agents = { ours: newAgent(), buffer: newAgent(), promClient: newAgent() };
    for (const form of ['plain', 'gzip'] as const) {
      const headers = form === 'gzip' ? { 'accept-encoding': 'gzip' } : {};
      const scrape = (who: keyof typeof ports): Promise<number> => timed(ports[who], agents[who], headers);
      const times = { ours: [] as number[], buffer: [] as number[], promClient: [] as number[] };
      for (let i = -WARM_UP; i < rounds; i += 1) {
        // Who goes first has the colder cache.
        const [first, second] = i % 2 === 0 ? (['ours', 'buffer'] as const) : (['buffer', 'ours'] as const);
        const took = { [first]: await scrape(first), [second]: await scrape(second) };
        if (i < 0) continue;
        times.ours.push(took['ours'] ?? 0);
        times.buffer.push(took['buffer'] ?? 0);
        if (i % promClientEvery === 0) times.promClient.push(await scrape('promClient'));
      }
      const [ours, buffer, promClient] = [summary(times.ours), summary(times.buffer), summary(times.promClient)];
      const paired = summary(times.ours.map((time, i) => time / (times.buffer[i] ?? Number.NaN)));
      rows.push([
        `${machines}`,
        `${series}`,
        form,
        `${(bytes[form] / 1_000).toFixed(0)} kB`,
        spread(ours, ' ms'),
        spread(buffer, ' ms'),
        spread(promClient, ' ms'),
        `${(ours.median / buffer.median).toFixed(2)}, paired ${spread(paired, '')}`,
        (promClient.median / ours.median).toFixed(0),
        machines === 1_000 ? targets(ours, buffer, promClient) : '',
      ]);
    }
    for (const agent of Object.values(agents)) agent.destroy();
    await Promise.all([child.stop(), other.stop()]);
  }
  table(
    'Scrape: median (middle half); the target at 1,000 machines is 1.2 x the buffer and 20 x faster than prom-client',
    [
      'machines',
      'series',
      'form',
      'size',
      'ours',
      'static buffer',
      'prom-client',
      'ours/buffer',
      'prom-client/ours',
      '',
    ],
    rows,
  );
}

function targets(ours: Summary, buffer: Summary, promClient: Summary): string {
  return verdict(ours.median <= 1.2 * buffer.median && promClient.median >= 20 * ours.median);
}

function newAgent(): Agent {
  return new Agent({ keepAlive: true, maxSockets: 1 });
}

/** Milliseconds from asking to the last byte. */
function timed(port: number, agent: Agent, headers: Record<string, string>): Promise<number> {
  return new Promise((resolve, reject) => {
    const start = performance.now();
    const outgoing = request({ host: '127.0.0.1', port, path: '/metrics', agent, headers }, (answer) => {
      answer.on('data', () => undefined);
      answer.on('error', reject);
      answer.on('end', () => resolve(performance.now() - start));
    });
    outgoing.on('error', reject);
    outgoing.end();
  });
}
