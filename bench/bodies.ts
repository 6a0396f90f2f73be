import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { Agent } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { SHAPES } from './body-shapes.ts';
import type { Observation } from './observe.ts';
import { build, Child, startExporter, timed } from './program.ts';
import { digits, summary, table, verdict } from './report.ts';
import type { Service, Shape } from './service.ts';

const SETTLES_MS = 4_000;
const LASTS_MS = 12_000;
const PAUSE_MS = 5;
const MAX_PROBE_MS = 250;
const MAX_RISE_MIB = 300;

/** Measures the program while every answer is as large as it accepts, one shape after the other. */
export async function benchBodies(): Promise<void> {
  build();
  const rows: string[][] = [];
  for (const name of Object.keys(SHAPES)) {
    for (const isZipped of [false, true]) rows.push(await measure({ name, isZipped }));
  }
  table(
    `Bodies at the limit, 1 MiB and 4 MiB, over ${LASTS_MS / 1_000} s; the targets are ${MAX_PROBE_MS} ms and ${MAX_RISE_MIB} MiB`,
    ['bodies', 'as', 'read', 'probes', 'median', 'longest', 'longest turn, CPU', 'RSS before', 'most above', ''],
    rows,
  );
}

async function measure(shape: Shape): Promise<string[]> {
  const folder = mkdtempSync(join(tmpdir(), 'bench-'));
  const api = new Child<Service>('service.ts', { args: ['5'] });
  const service = await api.message();
  // Polls as often as allowed, so that a body is always in flight.
  const often = 'machines: {interval: 1s}\nslashings: {interval: 1s}\nbudget: {plan: {per_second: 100}}';
  const chains = `chains: {mainnet: {v1_base_url: "${service.url}"}}`;
  const { child, port } = await startExporter(folder, service, `${chains}\n${often}`);
  const { pid } = child.process;
  try {
    const turns: number[] = [];
    child.process.on('message', ({ turnMs }: Observation) => turns.push(turnMs));
    await setTimeout(SETTLES_MS);
    turns.length = 0;
    // Resets the peak: proc_pid_clear_refs(5). Only Linux reports it.
    writeFileSync(`/proc/${pid}/clear_refs`, '5');
    const before = peakMiB(pid);
    const readBefore = await bodiesRead(port);
    api.process.send(shape);
    const probes = summary(await probe(port));
    const rise = peakMiB(pid) - before;
    return [
      shape.name,
      shape.isZipped ? 'gzip' : 'plain',
      `${(await bodiesRead(port)) - readBefore}`,
      `${probes.count}`,
      `${digits(probes.median)} ms`,
      `${digits(probes.most)} ms`,
      `${digits(Math.max(...turns))} ms`,
      `${digits(before)} MiB`,
      `${digits(rise)} MiB`,
      verdict(probes.most <= MAX_PROBE_MS && rise <= MAX_RISE_MIB),
    ];
  } finally {
    await Promise.all([child.stop(), api.stop()]);
    rmSync(folder, { recursive: true });
  }
}

/** The most memory (RSS) of a process since its peak was reset. */
function peakMiB(pid = 0): number {
  const [, kib] = /VmHWM:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? [];
  return Number(kib) / 1024;
}

/** Milliseconds of each probe: health and metrics in turn. */
async function probe(port: number): Promise<number[]> {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  const times: number[] = [];
  for (const end = performance.now() + LASTS_MS; performance.now() < end; await setTimeout(PAUSE_MS)) {
    times.push(await timed({ port, path: times.length % 2 === 0 ? '/-/healthy' : '/metrics', agent }));
  }
  agent.destroy();
  return times;
}

async function bodiesRead(port: number): Promise<number> {
  const text = await (await fetch(`http://127.0.0.1:${port}/metrics`)).text();
  const ended =
    /^beaconchain_api_request_duration_seconds_count\{endpoint="(?:machine_metrics|attester_slashings)"\} (\d+)$/gm;
  return [...text.matchAll(ended)].reduce((sum, [, count]) => sum + Number(count), 0);
}
