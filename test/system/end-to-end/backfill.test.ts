import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { CHAIN_NAMES, CHAINS, type Chain } from '../../../src/facts/chain.ts';
import { datapoint, newestDay } from '../../../src/sandbox/daily-returns.ts';
import { pushesIn } from '../../../src/sandbox/machines.ts';
import { PROCESSES, recordOf } from '../../../src/sandbox/machines-records.ts';
import type { Sandbox } from '../../../src/sandbox/world.ts';
import { startService } from '../../support/faults/service.ts';
import { temporaryFolder } from '../../support/files/files.ts';
import { BackfillRuns, FAST, KEY, promtoolLines } from '../../support/programs/backfill.ts';
import { type Prometheus, startPrometheus } from '../../support/tools/prometheus.ts';
import { areMissing, PROMETHEUS, PROMTOOL, runTool } from '../../support/tools/tools.ts';

const JOIN = ['--label=job=beaconchain', '--label', 'instance=exporter:10032'] as const;
const LABELS = 'job="beaconchain",instance="exporter:10032"';

type Fields = Record<string, unknown>;
type Day = ReturnType<typeof datapoint>;
type Truth = readonly (readonly [time: number, value: number])[];

/** Does what a run printed, with another folder for the blocks. */
function makeBlocks(output: string, data: string): void {
  const lines = promtoolLines(output);
  expect(lines.length).toBeGreaterThan(0);
  for (const words of lines) {
    expect(words.pop()).toBe('"$data"');
    expect(runTool(PROMTOOL, [...words, data])).toMatchObject({ status: 0, stderr: '' });
  }
}

async function expectSeries(prometheus: Prometheus, selector: string, truth: Truth): Promise<void> {
  const [series, ...others] = await prometheus.samples(selector);
  expect(others, selector).toEqual([]);
  expect(
    series?.values.map(([time, value]) => [time, Number(value)]),
    selector,
  ).toEqual(truth);
}

/** The nearest number, by another way than the exporter's. */
function ether(wei: string): number {
  return Number(`${wei}e-18`);
}

const DAILY: readonly (readonly [name: string, labels: string, value: (day: Day) => number])[] = [
  ['day', '', ({ day }) => day],
  ['end_timestamp_seconds', '', ({ day_end }) => day_end],
  ['end_balance_ether', '', ({ end_balance }) => ether(end_balance)],
  ['rewards_ether', ',layer="execution"', ({ rewards }) => ether(rewards.execution_layer)],
  ['combined_apr_ratio', '', ({ apr }) => apr.combined],
  [
    'moving_average_apr_ratio',
    ',window="31d",layer="execution"',
    ({ moving_averages }) => moving_averages.window_31d.apr.execution_layer,
  ],
];

const MACHINE: readonly (readonly [process: 'system' | 'validator' | 'node', name: string, field: string])[] = [
  ['system', 'cpu_user_seconds_total', 'cpu_node_user_seconds_total'],
  ['system', 'memory_free_bytes', 'memory_node_bytes_free'],
  ['system', 'boot_time_seconds', 'misc_node_boot_ts_seconds'],
  ['validator', 'validators_active', 'validator_active'],
  ['node', 'synced', 'sync_eth2_synced'],
  ['node', 'head_slot', 'sync_beacon_head_slot'],
];

describe.skipIf(areMissing(PROMETHEUS, PROMTOOL))('system/end-to-end/backfill', () => {
  let sandbox: Sandbox;
  let prometheus: Prometheus;
  // Across a midnight, so that there are two files, and over, whenever the test runs.
  const midnight = (Math.floor(Date.now() / 86_400_000) - 1) * 86_400;
  const [start, end] = [midnight - 2 * 3_600, midnight + 2 * 3_600];

  beforeAll(async () => {
    const api = await startService(KEY, FAST);
    ({ sandbox } = api);
    const data = join(temporaryFolder(), 'data');
    mkdirSync(data);
    const daily = new BackfillRuns(api);
    makeBlocks((await daily.run('--source=daily-returns', '--window=90d', ...JOIN)).stdout, data);
    const span = ['--full-resolution', `--start=${start}`, `--end=${end}`];
    makeBlocks((await new BackfillRuns(api).run('--source=machines', ...span, ...JOIN)).stdout, data);
    prometheus = await startPrometheus({}, { data });
  });

  it('a query returns each of 90 days on both chains, to the last bit', async () => {
    for (const chain of CHAIN_NAMES) {
      const newest = newestDay(sandbox, chain, Date.now());
      const first = newest - 89;
      const days = Array.from({ length: 90 }, (_, i) => datapoint(sandbox, chain, first + i));
      for (const [name, labels, value] of DAILY) {
        const truth = days.map((day, i): Truth[number] => [
          CHAINS[chain].genesis + 86_400 * (first + i + 1),
          value(day),
        ]);
        await expectSeries(prometheus, `beaconchain_daily_return_${name}{chain="${chain}"${labels},${LABELS}}`, truth);
      }
    }
    const series = await prometheus.query('count(last_over_time({__name__=~"beaconchain_daily_return_.+"}[20y]))');
    expect(series[0]?.value[1]).toBe('46');
  });

  it('a query returns the records of a machine at their own times, to the last bit', async () => {
    for (const [name, chain] of [
      ['node-a', 'mainnet'],
      ['hoodi-1', 'hoodi'],
    ] as const satisfies [string, Chain][]) {
      const machine = sandbox.fleet.machines.get(name);
      if (!machine) throw new Error(`no machine ${name}`);
      for (const process of PROCESSES) {
        const span = { oldest: start * 1_000, newest: end * 1_000 };
        const pushes = [...pushesIn(sandbox.fleet, { ...span, machines: [machine], processes: [process] }, Date.now())];
        expect(pushes.length).toBeGreaterThan(230);
        const records = pushes.reverse().map((push) => recordOf(push) as Fields);
        const labels = `chain="${chain}",machine="${name}",${LABELS}`;
        for (const [, family, field] of MACHINE.filter(([one]) => one === process)) {
          const truth = records.map((record): Truth[number] => [
            Number(record['timestamp']) / 1_000,
            Number(record[field] ?? 0),
          ]);
          await expectSeries(prometheus, `beaconchain_machine_${family}{${labels}}`, truth);
        }
        const seen = `beaconchain_machine_last_seen_timestamp_seconds{${labels},process="${process}"}`;
        const times = records.map(({ timestamp }) => Number(timestamp) / 1_000);
        await expectSeries(
          prometheus,
          seen,
          times.map((time): Truth[number] => [time, time]),
        );
      }
    }
  });
});
