import { mkdtempSync, readFileSync, rmSync, statSync, watch } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import type { Observation } from './observe.ts';
import { build, Child, OBSERVE, startExporter } from './program.ts';
import { digits, summary, table } from './report.ts';
import { usedBy } from './rest.ts';
import type { Service } from './service.ts';

/** After the start, and then how long it is measured: two epochs. */
const SETTLE_SECONDS = Number(process.env['BENCH_EPOCHS_SETTLE_SECONDS'] ?? 400);
const SECONDS = Number(process.env['BENCH_EPOCHS_SECONDS'] ?? 768);
const SCRAPE_SECONDS = 15;
/** Validators, and requests a second of the plan. 10,000 take more than it allows. Looking at its turns takes CPU. */
const CASES: readonly (readonly [validators: number, perSecond: number, node: readonly string[]])[] = [
  [1, 1, []],
  [5_000, 5, []],
  [5_000, 5, OBSERVE],
  [10_000, 5, []],
];
/** Of a document: its file, and its folder. */
const FLUSHES_PER_WRITE = 2;

/** What it costs to count every epoch of so many validators, one machine and the chain beside them. They run side by side. */
export async function benchEpochs(): Promise<void> {
  build();
  const rows = await Promise.all(CASES.map((one) => counting(...one)));
  table(
    `Every epoch, over ${SECONDS} s with a scrape each ${SCRAPE_SECONDS} s`,
    [
      'validators',
      'plan',
      'RSS, most',
      'CPU s an hour',
      'flushes an hour',
      'MB an hour',
      'state',
      'longest turn',
      'lag',
    ],
    rows,
  );
}

async function counting(validators: number, perSecond: number, node: readonly string[]): Promise<string[]> {
  const folder = mkdtempSync(join(tmpdir(), 'bench-'));
  const api = new Child<Service>('service.ts', { args: ['1'] });
  const service = await api.message();
  const settings = [
    `chains: {mainnet: {v1_base_url: "${service.url}"}}`,
    `budget: {plan: {per_second: ${perSecond}}}`,
    `machines: {chain: mainnet}`,
    `validators: {watch: ["1-${validators}"], epochs: true}`,
  ];
  const { child, port } = await startExporter(folder, service, settings.join('\n'), node);
  const seen: Observation[] = [];
  child.process.on('message', (one: Observation) => seen.push(one));
  const scrape = async (): Promise<string> => (await fetch(`http://127.0.0.1:${port}/metrics`)).text();
  const scrapes = async (seconds: number): Promise<void> => {
    for (let at = 0; at < seconds; at += SCRAPE_SECONDS) {
      await scrape();
      await setTimeout(SCRAPE_SECONDS * 1_000);
    }
  };
  await scrapes(SETTLE_SECONDS);
  const { pid = 0 } = child.process;
  const before = usedBy(pid);
  const measured = seen.length;
  let written = 0;
  const state = join(folder, 'state');
  const watcher = watch(state, (_, name) => {
    if (name?.endsWith('.json')) written += 1;
  });
  await scrapes(SECONDS);
  watcher.close();
  const after = usedBy(pid);
  const text = await scrape();
  const [, mostKiB] = /^VmHWM:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? [];
  const mostMiB = Number(mostKiB) / 1024;
  const bytes = statSync(join(state, 'validators-mainnet.json')).size;
  await child.stop();
  await api.stop();
  rmSync(folder, { recursive: true });
  const perHour = (amount: number): string => digits((amount * 3_600) / SECONDS);
  const value = (name: string): number => Number(new RegExp(`^beaconchain_${name} (.*)$`, 'm').exec(text)?.[1]);
  const final = value('finalized_epoch{chain="mainnet"}'.replaceAll(/[{}]/g, '\\$&'));
  const lags = ['epoch_duties', 'epoch_rewards'].map(
    (part) => final - value(`watched_counted_epoch\\{chain="mainnet",part="${part}"\\}`),
  );
  const shown = seen.slice(measured);
  return [
    `${validators}`,
    `${perSecond}/s`,
    `${digits(mostMiB)} MiB`,
    perHour(after.cpuSeconds - before.cpuSeconds),
    perHour(written * FLUSHES_PER_WRITE),
    perHour((after.writtenBytes - before.writtenBytes) / 1e6),
    `${digits(bytes / 1e6)} MB`,
    shown.length > 0 ? `${digits(summary(shown.map(({ turnMs }) => turnMs)).most)} ms` : '',
    lags.map((lag) => `${lag}`).join(' and '),
  ];
}
