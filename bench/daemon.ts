import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { BUILT, build, OBSERVE, PROGRAM, tunables } from './built.ts';
import { Child } from './child.ts';
import type { Observation } from './observe.ts';
import { table, verdict } from './report.ts';
import { digits, summary } from './stats.ts';

/** More than a sweep of the default interval. The targets are for ten minutes. */
const SECONDS = Number(process.env['BENCH_DAEMON_SECONDS'] ?? 65);
/** Another program with the same series is only scraped. */
const OTHER_SECONDS = 15;
const STARTS = 7;

/** Machines, and the most RSS above an idle Node, MiB. */
const TARGETS: ReadonlyMap<number, number> = new Map([
  [10, 35],
  [1_000, 80],
  [5_000, 170],
]);
/** The time until /metrics answers, in starts of an empty program. */
const TARGET_STARTS = 4;

interface Measured {
  readonly machines: number;
  readonly seen: readonly Observation[];
  readonly promClient: readonly Observation[];
  readonly first: Started;
  /** Without waiting for the service: until /metrics answers, and until an empty program has ended, in turn. */
  readonly restarted: readonly number[];
  readonly empty: readonly number[];
}

/** The program as the image runs it, against a simulated service: memory, event loop, start. */
export async function benchDaemon(): Promise<void> {
  build();
  const idle = new Child<Observation>(join(BUILT, 'bench/idle.js'), { node: OBSERVE });
  await idle.message();
  const { rssMiB: idleMiB } = await idle.message();
  await idle.stop();
  // One after the other: side by side they would compete for the CPU, and collect garbage later.
  const all: Measured[] = [];
  for (const machines of TARGETS.keys()) all.push(await measure(machines));
  table(
    `The program over ${SECONDS} s, with a scrape each second; an idle Node has ${digits(idleMiB)} MiB`,
    [
      'machines',
      'RSS above idle',
      'most',
      'target',
      'prom-client, same series, most',
      'longest turn in a second, CPU',
      'event-loop delay',
      '',
    ],
    all.map(({ machines, seen, promClient }) => {
      const rss = summary(seen.map(({ rssMiB }) => rssMiB - idleMiB));
      const other = summary(promClient.map(({ rssMiB }) => rssMiB - idleMiB));
      const target = TARGETS.get(machines) ?? 0;
      const turn = summary(seen.map(({ turnMs }) => turnMs));
      const delay = summary(seen.map(({ delayMs }) => delayMs));
      return [
        `${machines}`,
        `${digits(rss.median)} MiB`,
        `${digits(rss.most)} MiB`,
        `${target} MiB`,
        `${digits(other.most)} MiB`,
        `${digits(turn.median)} ms, most ${digits(turn.most)} ms`,
        `${digits(delay.median)} ms, most ${digits(delay.most)} ms`,
        verdict(rss.most <= target),
      ];
    }),
  );
  table(
    `From the start of the process until /metrics is complete; the targets are 1 s without the time of the API and after a restart, and ${TARGET_STARTS} starts of an empty program until /metrics answers`,
    [
      'machines',
      '/metrics answers',
      'complete',
      'of which API',
      'without it',
      '/metrics answers after a restart',
      'an empty program',
      'restart / empty',
      '',
    ],
    all.map(({ machines, first, restarted, empty }) => {
      const own = first.readyMs - first.apiMs;
      const [again, nothing] = [summary(restarted).median, summary(empty).median];
      const times = [first.shownMs, first.readyMs, first.apiMs, own, again, nothing];
      const ratio = again / nothing;
      // With more machines the state takes longer to read.
      const isQuick = machines > 10 || ratio <= TARGET_STARTS;
      return [
        `${machines}`,
        ...times.map((ms) => `${ms.toFixed(0)} ms`),
        digits(ratio),
        verdict(Math.max(own, again) <= 1_000 && isQuick),
      ];
    }),
  );
}

async function measure(machines: number): Promise<Measured> {
  const folder = mkdtempSync(join(tmpdir(), 'bench-'));
  const api = new Child<Service>(join(BUILT, 'bench/api-server.js'), { args: [`${machines}`] });
  const service = await api.message();
  const first = await start(folder, service);
  const watched = await watchBoth(first);
  const restarted: number[] = [];
  const empty: number[] = [];
  for (let i = 0; i < STARTS; i += 1) {
    empty.push(await timeOfEmpty());
    const again = await start(folder, service, false);
    restarted.push(again.shownMs);
    await again.child.stop();
  }
  await api.stop();
  rmSync(folder, { recursive: true });
  return { machines, ...watched, first, restarted, empty };
}

/** The program, and then prom-client with the same series. */
async function watchBoth({ child, port }: Started): Promise<Pick<Measured, 'seen' | 'promClient'>> {
  const seen = await watch(child, port, SECONDS);
  const other = new Child<number | Observation>(join(BUILT, 'bench/prom-client-same.js'), {
    args: [`http://127.0.0.1:${port}/metrics`],
    node: OBSERVE,
  });
  const promClient = await watch(other as Child<Observation>, await portIn(other), OTHER_SECONDS);
  await Promise.all([child.stop(), other.stop()]);
  return { seen, promClient };
}

/** Observations may come before the port. */
async function portIn(child: Child<number | Observation>): Promise<number> {
  for (;;) {
    const message = await child.message();
    if (typeof message === 'number') return message;
  }
}

async function timeOfEmpty(): Promise<number> {
  const began = performance.now();
  await new Child(join(BUILT, 'bench/empty.js'), { node: OBSERVE }).ended();
  return performance.now() - began;
}

interface Service {
  readonly url: string;
  readonly key: string;
}

interface Started {
  readonly child: Child<Observation>;
  readonly port: number;
  /** From the start of the process until /metrics answers, and until it is complete. */
  readonly shownMs: number;
  readonly readyMs: number;
  readonly apiMs: number;
}

async function start(folder: string, { url, key }: Service, isAwaited = true): Promise<Started> {
  const file = join(folder, 'config.yaml');
  const chains = `{mainnet: {v1_base_url: "${url}"}, hoodi: {v1_base_url: "${url}/hoodi"}}`;
  writeFileSync(
    file,
    `api: {base_url: "${url}"}\nchains: ${chains}\nmachines: {chain: mainnet}\nstate: {dir: "${folder}/state"}\n`,
  );
  const began = performance.now();
  const child = new Child<Observation>(PROGRAM, {
    args: ['serve', `--config.file=${file}`, '--web.listen-address=127.0.0.1:0', '--log.format=json'],
    node: OBSERVE,
    env: { BEACONCHAIN_API_KEY: key, GLIBC_TUNABLES: tunables() },
  });
  const port = await until(() => /"port":(\d+)/.exec(child.output)?.[1]);
  const base = `http://127.0.0.1:${port}`;
  await until(async () => (await fetch(`${base}/metrics`)).ok || undefined);
  const shownMs = performance.now() - began;
  if (!isAwaited) return { child, port: Number(port), shownMs, readyMs: Number.NaN, apiMs: Number.NaN };
  await until(async () => (await fetch(`${base}/-/ready`)).ok || undefined);
  // Ready is what is known; it is rendered a moment later.
  const metrics = await until(async () => {
    const text = await (await fetch(`${base}/metrics`)).text();
    return ofSources(text, 'attempts_total').every((attempts) => attempts > 0) ? text : undefined;
  });
  const readyMs = performance.now() - began;
  return { child, port: Number(port), shownMs, readyMs, apiMs: apiTime(metrics) };
}

/** From the first poll to the end of the last. */
function apiTime(metrics: string): number {
  const starts = ofSources(metrics, 'last_attempt_timestamp_seconds');
  const durations = ofSources(metrics, 'duration_seconds');
  return 1_000 * (Math.max(...starts.map((at, i) => at + (durations[i] ?? 0))) - Math.min(...starts));
}

function ofSources(metrics: string, name: string): number[] {
  const lines = metrics.matchAll(new RegExp(`^beaconchain_source_${name}\\{.*\\} (\\S+)$`, 'gm'));
  return [...lines].map(([, value]) => Number(value));
}

/** Scrapes as a Prometheus does, and now and then as a browser. */
async function watch(child: Child<Observation>, port: number, seconds: number): Promise<Observation[]> {
  const seen: Observation[] = [];
  // Of the start.
  await child.message();
  const accept = 'application/openmetrics-text;version=1.0.0,text/plain;version=0.0.4;q=0.5';
  for (let i = 0; i < seconds; i += 1) {
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
