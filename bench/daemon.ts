import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { Child } from './child.ts';
import type { Observation } from './observe.ts';
import { say, table, verdict } from './report.ts';
import { digits, summary } from './stats.ts';

const OBSERVE = ['--import', join(import.meta.dirname, 'observe.ts')];
const SECONDS = 25;

/** The program itself against a simulated service: memory, event loop, start. */
export async function benchDaemon(): Promise<void> {
  const idle = new Child<Observation>('idle.ts', { node: OBSERVE });
  await idle.message();
  const { rssMiB: idleMiB } = await idle.message();
  await idle.stop();
  say(`\nan idle Node with the same observer: ${digits(idleMiB)} MiB\n`);
  const memory: string[][] = [];
  const starts: string[][] = [];
  for (const machines of [10, 1_000, 5_000]) {
    const folder = mkdtempSync(join(tmpdir(), 'bench-'));
    const api = new Child<{ url: string; key: string }>('api-server.ts', { args: [`${machines}`] });
    const { url, key } = await api.message();
    const first = await start(folder, url, key);
    const seen = await watch(first);
    await first.child.stop();
    const second = await start(folder, url, key);
    await second.child.stop();
    await api.stop();
    rmSync(folder, { recursive: true });
    const rss = summary(seen.map(({ rssMiB }) => rssMiB));
    const turn = summary(seen.map(({ turnMs }) => turnMs));
    const delay = summary(seen.map(({ delayMs }) => delayMs));
    memory.push([
      `${machines}`,
      `${digits(rss.median - idleMiB)} MiB`,
      `${digits(rss.most - idleMiB)} MiB`,
      `${digits(turn.median)} ms, most ${digits(turn.most)} ms`,
      `${digits(delay.median)} ms, most ${digits(delay.most)} ms`,
      machines === 1_000 ? verdict(rss.most - idleMiB <= 150) : '',
    ]);
    const own = first.readyMs - first.apiMs;
    starts.push([
      `${machines}`,
      `${first.shownMs.toFixed(0)} ms`,
      `${first.readyMs.toFixed(0)} ms`,
      `${first.apiMs.toFixed(0)} ms`,
      `${own.toFixed(0)} ms`,
      `${second.shownMs.toFixed(0)} ms`,
      machines === 1_000 ? verdict(own <= 1_000) : '',
    ]);
  }
  table(
    `The program over ${SECONDS} s, a sweep every 5 s, a scrape each second; the target at 1,000 machines is 150 MiB`,
    ['machines', 'RSS above idle', 'most', 'longest turn of each second, CPU', 'event-loop delay', ''],
    memory,
  );
  table(
    'From the start of the process; the target at 1,000 machines is 1 s beside the API, for a complete /metrics',
    ['machines', '/metrics answers', 'complete', 'of that API', 'beside it', 'complete after a restart', ''],
    starts,
  );
}

interface Started {
  readonly child: Child<Observation>;
  readonly port: number;
  /** From the start of the process until /metrics answers, and until it is complete. */
  readonly shownMs: number;
  readonly readyMs: number;
  /** From the first poll to the end of the last. */
  readonly apiMs: number;
}

async function start(folder: string, url: string, key: string): Promise<Started> {
  const file = join(folder, 'config.yaml');
  const chains = `{mainnet: {v1_base_url: "${url}"}, hoodi: {v1_base_url: "${url}/hoodi"}}`;
  const machines = '{chain: mainnet, interval: 5s}';
  writeFileSync(
    file,
    `api: {base_url: "${url}"}\nchains: ${chains}\nmachines: ${machines}\nstate: {dir: "${folder}/state"}\n`,
  );
  const began = performance.now();
  const child = new Child<Observation>('../src/main.ts', {
    args: ['serve', `--config.file=${file}`, '--web.listen-address=127.0.0.1:0', '--log.format=json'],
    node: OBSERVE,
    env: { BEACONCHAIN_API_KEY: key },
  });
  const port = await until(() => /"port":(\d+)/.exec(child.output)?.[1]);
  const base = `http://127.0.0.1:${port}`;
  await until(async () => (await fetch(`${base}/metrics`)).ok || undefined);
  const shownMs = performance.now() - began;
  await until(async () => (await fetch(`${base}/-/ready`)).ok || undefined);
  const readyMs = performance.now() - began;
  return { child, port: Number(port), shownMs, readyMs, apiMs: apiTime(await (await fetch(`${base}/metrics`)).text()) };
}

function apiTime(metrics: string): number {
  const values = (name: string): number[] =>
    [...metrics.matchAll(new RegExp(`^beaconchain_source_${name}\\{.*\\} (\\S+)$`, 'gm'))].map(([, v]) => Number(v));
  const starts = values('last_attempt_timestamp_seconds');
  const durations = values('duration_seconds');
  return 1_000 * (Math.max(...starts.map((at, i) => at + (durations[i] ?? 0))) - Math.min(...starts));
}

/** Scrapes as a Prometheus does, and now and then as a browser. */
async function watch({ child, port }: Started): Promise<Observation[]> {
  const seen: Observation[] = [];
  const accept = 'application/openmetrics-text;version=1.0.0,text/plain;version=0.0.4;q=0.5';
  for (let i = 0; i < SECONDS; i += 1) {
    seen.push(await child.message());
    await (await fetch(`http://127.0.0.1:${port}/metrics`, { headers: { accept } })).arrayBuffer();
  }
  return seen;
}

async function until<T>(look: () => T | undefined | Promise<T | undefined>): Promise<T> {
  for (;;) {
    const found = await look();
    if (found !== undefined) return found;
    await setTimeout(5);
  }
}
