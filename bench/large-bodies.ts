import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { Agent, get } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { SHAPES } from '../test/support/body-shapes.ts';
import { build, OBSERVE, PROGRAM, tunables } from './built.ts';
import { Child } from './child.ts';
import type { Observation } from './observe.ts';
import { forgetPeak, peakMiB } from './peak.ts';
import { table, verdict } from './report.ts';
import { digits, summary } from './stats.ts';

const SETTLES_MS = 4_000;
const LASTS_MS = 12_000;
const PAUSE_MS = 5;
const MAX_PROBE_MS = 250;
const MAX_RISE_MIB = 300;

/** What the program takes while every answer is as large as is read, one after the other. */
export async function benchLargeBodies(): Promise<void> {
  build();
  const rows: string[][] = [];
  for (const shape of Object.keys(SHAPES)) {
    for (const coding of ['plain', 'gzip']) rows.push(await measure(shape, coding));
  }
  table(
    `Bodies at the limit, 1 MiB and 4 MiB, over ${LASTS_MS / 1_000} s; the targets are ${MAX_PROBE_MS} ms and ${MAX_RISE_MIB} MiB`,
    ['bodies', 'as', 'read', 'probes', 'median', 'longest', 'longest turn, CPU', 'RSS before', 'most above', ''],
    rows,
  );
}

async function measure(shape: string, coding: string): Promise<string[]> {
  const folder = mkdtempSync(join(tmpdir(), 'bench-'));
  const api = new Child<{ url: string; key: string }>('bodies-server.ts', { args: [shape, coding] });
  const { url, key } = await api.message();
  const program = start(folder, url, key);
  const { pid } = program.process;
  try {
    const port = await portOf(program);
    const turns: number[] = [];
    program.process.on('message', ({ turnMs }: Observation) => turns.push(turnMs));
    await setTimeout(SETTLES_MS);
    turns.length = 0;
    forgetPeak(pid);
    const before = peakMiB(pid);
    const readBefore = await bodiesRead(port);
    api.process.send('begin');
    const probes = summary(await probe(port));
    const rise = peakMiB(pid) - before;
    return [
      shape,
      coding,
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
    await Promise.all([program.stop(), api.stop()]);
    rmSync(folder, { recursive: true });
  }
}

/** As often as it may, so that there is always a body on the way. */
function start(folder: string, url: string, key: string): Child<Observation> {
  const file = join(folder, 'config.yaml');
  const often = 'machines: {interval: 1s}\nslashings: {interval: 1s}\nbudget: {plan: {per_second: 100}}\n';
  const where = `api: {base_url: "${url}"}\nchains: {mainnet: {v1_base_url: "${url}"}}\n`;
  writeFileSync(file, `${where}${often}state: {dir: "${folder}/state"}\n`);
  return new Child<Observation>(PROGRAM, {
    args: ['serve', `--config.file=${file}`, '--web.listen-address=127.0.0.1:0', '--log.format=json'],
    node: OBSERVE,
    env: { BEACONCHAIN_API_KEY: key, GLIBC_TUNABLES: tunables() },
  });
}

async function portOf(program: Child<Observation>): Promise<number> {
  for (;;) {
    const [, port] = /"port":(\d+)/.exec(program.output) ?? [];
    if (port !== undefined) return Number(port);
    await setTimeout(20);
  }
}

/** Milliseconds of each probe: health and metrics in turn. */
async function probe(port: number): Promise<number[]> {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  const times: number[] = [];
  for (const end = performance.now() + LASTS_MS; performance.now() < end; await setTimeout(PAUSE_MS)) {
    const began = performance.now();
    await read(port, times.length % 2 === 0 ? '/-/healthy' : '/metrics', agent);
    times.push(performance.now() - began);
  }
  agent.destroy();
  return times;
}

async function bodiesRead(port: number): Promise<number> {
  const text = await read(port, '/metrics');
  const ended =
    /^beaconchain_api_request_duration_seconds_count\{endpoint="(?:machine_metrics|attester_slashings)"\} (\d+)$/gm;
  return [...text.matchAll(ended)].reduce((sum, [, count]) => sum + Number(count), 0);
}

function read(port: number, path: string, agent?: Agent): Promise<string> {
  return new Promise((resolve, reject) => {
    get({ host: '127.0.0.1', port, path, agent: agent ?? false }, (answer) => {
      let text = '';
      answer.setEncoding('utf8').on('data', (part: string) => {
        text += part;
      });
      answer.on('error', reject).on('end', () => resolve(text));
    }).on('error', reject);
  });
}
