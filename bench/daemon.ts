import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Observation } from './observe.ts';
import { build, Child, EMPTY, IDLE, OBSERVE, type Started, startExporter, until } from './program.ts';
import { digits, spread, summary, table, verdict } from './report.ts';
import type { Service } from './service.ts';

/** Longer than the default interval of sweeps. The targets are for ten minutes. */
const SECONDS = Number(process.env['BENCH_DAEMON_SECONDS'] ?? 65);
const STARTS = 15;

/** Machines, and the most RSS above an idle Node, MiB. */
const TARGETS: ReadonlyMap<number, number> = new Map([
  [10, 40],
  [1_000, 65],
]);
/** With ten machines, /metrics answers within so many starts of an empty program. */
const TARGET_STARTS = 6;

interface Measured {
  readonly machines: number;
  readonly seen: readonly Observation[];
  /** Milliseconds until /metrics answers after a restart, measured in turn with the run of an empty program. */
  readonly restarted: readonly number[];
  readonly empty: readonly number[];
}

/** The program as the image runs it, against the sandbox: memory, event loop, start. */
export async function benchDaemon(): Promise<void> {
  build();
  const idle = new Child<Observation>(IDLE, { node: OBSERVE });
  await idle.message();
  const { rssMiB: idleMiB } = await idle.message();
  await idle.stop();
  // One after the other: side by side they would compete for the CPU, and collect garbage later.
  const all: Measured[] = [];
  for (const machines of TARGETS.keys()) all.push(await measure(machines));
  table(
    `The program over ${SECONDS} s, with a scrape each second; an idle Node has ${digits(idleMiB)} MiB`,
    ['machines', 'RSS above idle', 'most', 'target', 'longest turn in a second, CPU', ''],
    all.map(({ machines, seen }) => {
      const rss = summary(seen.map(({ rssMiB }) => rssMiB - idleMiB));
      const turn = summary(seen.map(({ turnMs }) => turnMs));
      const target = TARGETS.get(machines) ?? 0;
      return [
        `${machines}`,
        `${digits(rss.median)} MiB`,
        `${digits(rss.most)} MiB`,
        `${target} MiB`,
        `${digits(turn.median)} ms, most ${digits(turn.most)} ms`,
        verdict(rss.most <= target),
      ];
    }),
  );
  table(
    `From the start of the process until /metrics answers after a restart; the target with ten machines is ${TARGET_STARTS} starts of an empty program`,
    ['machines', '/metrics answers', 'an empty program', 'ratio', ''],
    all.map(({ machines, restarted, empty }) => {
      const [again, nothing] = [summary(restarted), summary(empty)];
      const ratio = again.median / nothing.median;
      // With more machines the state takes longer to read.
      const isQuick = machines > 10 || ratio <= TARGET_STARTS;
      return [`${machines}`, spread(again, ' ms'), spread(nothing, ' ms'), digits(ratio), verdict(isQuick)];
    }),
  );
}

async function measure(machines: number): Promise<Measured> {
  const folder = mkdtempSync(join(tmpdir(), 'bench-'));
  const api = new Child<Service>('service.ts', { args: [`${machines}`] });
  const service = await api.message();
  const { child, port } = await start(folder, service);
  await until(async () => (await fetch(`http://127.0.0.1:${port}/-/ready`)).ok || undefined);
  const seen = await watch(child, port);
  await child.stop();
  const restarted: number[] = [];
  const empty: number[] = [];
  for (let i = 0; i < STARTS; i += 1) {
    empty.push(await timeOf(() => new Child(EMPTY, { node: OBSERVE }).ended()));
    let again: Started | undefined;
    restarted.push(
      await timeOf(async () => {
        again = await start(folder, service);
        const { port } = again;
        await until(async () => (await fetch(`http://127.0.0.1:${port}/metrics`)).ok || undefined);
      }),
    );
    await again?.child.stop();
  }
  await api.stop();
  rmSync(folder, { recursive: true });
  return { machines, seen, restarted, empty };
}

function start(folder: string, service: Service): Promise<Started> {
  const chains = `{mainnet: {v1_base_url: "${service.url}"}, hoodi: {v1_base_url: "${service.url}/hoodi"}}`;
  return startExporter(folder, service, `chains: ${chains}\nmachines: {chain: mainnet}`);
}

async function timeOf(work: () => Promise<void>): Promise<number> {
  const began = performance.now();
  await work();
  return performance.now() - began;
}

/** Scrapes as a Prometheus does. */
async function watch(child: Child<Observation>, port: number): Promise<Observation[]> {
  const seen: Observation[] = [];
  // The first message is about the start.
  await child.message();
  const accept = 'application/openmetrics-text;version=1.0.0,text/plain;version=0.0.4;q=0.5';
  for (let i = 0; i < SECONDS; i += 1) {
    seen.push(await child.message());
    await (await fetch(`http://127.0.0.1:${port}/metrics`, { headers: { accept } })).arrayBuffer();
  }
  return seen;
}
