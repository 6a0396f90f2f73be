import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { build, Child, startExporter, until } from './program.ts';
import { digits, say, table } from './report.ts';
import type { Service } from './service.ts';

/** After the start, and then how long it is measured. */
const SETTLE_SECONDS = Number(process.env['BENCH_REST_SETTLE_SECONDS'] ?? 45);
const SECONDS = Number(process.env['BENCH_REST_SECONDS'] ?? 180);
const SCRAPE_SECONDS = 15;
const MACHINES = [10, 100];
const TICKS_PER_SECOND = 100;

/** What a process has used so far. */
interface Used {
  readonly cpuSeconds: number;
  readonly wakeups: number;
  readonly writtenBytes: number;
}

interface Subject {
  readonly name: string;
  readonly pid: number;
  readonly url: string;
  stop(): Promise<void>;
}

/** What the program costs with the default configuration and a scrape each 15 s, beside the peers that are installed. */
export async function benchRest(): Promise<void> {
  build();
  const rows: string[][] = [];
  for (const machines of MACHINES) rows.push(await measured(await exporter(machines)));
  for (const peer of ['prometheus-pushgateway', 'prometheus-node-exporter']) {
    if (existsSync(`/usr/bin/${peer}`)) rows.push(await measured(await started(peer)));
    else say(`${peer} is not installed\n`);
  }
  const columns = ['CPU seconds an hour', 'wakeups a second', 'MB written an hour'];
  table(`At rest, over ${SECONDS} s with a scrape each ${SCRAPE_SECONDS} s`, ['program', ...columns], rows);
}

async function measured({ name, pid, url, stop }: Subject): Promise<string[]> {
  await scrapes(url, SETTLE_SECONDS);
  const before = usedBy(pid);
  await scrapes(url, SECONDS);
  const after = usedBy(pid);
  await stop();
  const perHour = (amount: number): number => (amount * 3_600) / SECONDS;
  return [
    name,
    digits(perHour(after.cpuSeconds - before.cpuSeconds)),
    digits((after.wakeups - before.wakeups) / SECONDS),
    digits(perHour(after.writtenBytes - before.writtenBytes) / 1e6),
  ];
}

async function scrapes(url: string, seconds: number): Promise<void> {
  for (let at = 0; at < seconds; at += SCRAPE_SECONDS) {
    await (await fetch(url)).arrayBuffer();
    await setTimeout(Math.min(SCRAPE_SECONDS, seconds - at) * 1_000);
  }
}

/** From Linux (man 5 proc): user and system time, voluntary switches of all threads, bytes sent to the storage. */
export function usedBy(pid: number): Used {
  const file = (path: string): string => readFileSync(`/proc/${pid}/${path}`, 'utf8');
  const [user = 0, system = 0] = file('stat').split(') ')[1]?.split(' ').slice(11, 13).map(Number) ?? [];
  const switches = readdirSync(`/proc/${pid}/task`).map((task) => {
    const [, count] = /^voluntary_ctxt_switches:\s+(\d+)/m.exec(file(`task/${task}/status`)) ?? [];
    return Number(count);
  });
  const [, written] = /^write_bytes: (\d+)/m.exec(file('io')) ?? [];
  return {
    cpuSeconds: (user + system) / TICKS_PER_SECOND,
    wakeups: switches.reduce((sum, count) => sum + count, 0),
    writtenBytes: Number(written),
  };
}

async function exporter(machines: number): Promise<Subject> {
  const folder = mkdtempSync(join(tmpdir(), 'bench-'));
  const api = new Child<Service>('service.ts', { args: [`${machines}`] });
  const service = await api.message();
  const settings = `chains: {mainnet: {v1_base_url: "${service.url}"}}\nmachines: {chain: mainnet}`;
  const { child, port } = await startExporter(folder, service, settings, []);
  return {
    name: `beaconchain-exporter, ${machines} machines`,
    pid: child.process.pid ?? 0,
    url: `http://127.0.0.1:${port}/metrics`,
    async stop() {
      await child.stop();
      await api.stop();
      rmSync(folder, { recursive: true });
    },
  };
}

async function started(program: string): Promise<Subject> {
  const port = 19_700 + (process.pid % 200);
  const child: ChildProcess = spawn(`/usr/bin/${program}`, [`--web.listen-address=127.0.0.1:${port}`], {
    stdio: 'ignore',
  });
  const url = `http://127.0.0.1:${port}/metrics`;
  await until(async () => (await fetch(url).catch(() => undefined))?.ok || undefined);
  return {
    name: program,
    pid: child.pid ?? 0,
    url,
    async stop() {
      const ended = new Promise((resolve) => child.once('exit', resolve));
      child.kill();
      await ended;
    },
  };
}
