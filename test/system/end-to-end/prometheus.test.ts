import { describe, expect, it } from 'vitest';
import { ask } from '../../support/ask.ts';
import type { Respond } from '../../support/fault-server.ts';
import { machinesPage, nodeRecord, systemRecord } from '../../support/machine-records.ts';
import { portOf, startExporter, startServe, waitFor } from '../../support/program.ts';
import { type Prometheus, startPrometheus } from '../../support/prometheus.ts';
import { startService } from '../../support/service.ts';
import { areMissing, PROMETHEUS, PROMTOOL, runTool } from '../../support/tools.ts';

const CHAINS = ['mainnet', 'hoodi'] as const;

/** One family of each source that is there once the source was read. */
const SHOWN = [
  'beaconchain_machine_peers',
  'beaconchain_daily_return_combined_apr_ratio',
  'beaconchain_head_slot',
  'beaconchain_finalized_epoch',
  'beaconchain_sync_committee_end_epoch',
];

const ODD_NAMES = [
  'rack "7"',
  'C:\\nodes\\1',
  'two\nlines',
  'Zürich 机器 \u{1f980}',
  '{x="y"} # EOF',
  'x'.repeat(1_000),
];

/** Machines with odd names that all pushed just now, five peers each. */
const oddMachines: Respond = ({ path }) => {
  if (!path.endsWith('/machine-metrics')) return undefined;
  const record = (machine: string, i: number) => ({ machine, timestamp: Date.now() - i });
  const page = machinesPage({
    system: ODD_NAMES.map((name, i) => systemRecord(record(name, i))),
    node: ODD_NAMES.map((name, i) => nodeRecord({ ...record(name, i), network_peers_connected: 5 })),
  });
  return { status: 200, headers: { 'content-type': 'application/json' }, body: JSON.stringify(page) };
};

async function expectAllSources(prometheus: Prometheus): Promise<void> {
  for (const name of SHOWN) {
    for (const chain of CHAINS) {
      const series = await prometheus.query(`${name}{job="demo",chain="${chain}"}`);
      expect(series.length, `${name} of ${chain}`).toBeGreaterThan(0);
      expect(Number(series[0]?.value[1]), `${name} of ${chain}`).toBeGreaterThan(0);
    }
  }
  const up = await prometheus.query('beaconchain_source_up{job="demo"} == 1');
  expect(up.map(({ metric }) => `${metric['source']} ${metric['chain'] ?? ''}`).toSorted()).toEqual([
    'daily_returns hoodi',
    'daily_returns mainnet',
    'machines ',
    'slashings hoodi',
    'slashings mainnet',
    'sync_committee hoodi',
    'sync_committee mainnet',
  ]);
}

describe.skipIf(areMissing(PROMETHEUS, PROMTOOL))('system/end-to-end/prometheus', () => {
  it('a real Prometheus reads every source of both chains from the demo, and odd names as they were given', async () => {
    const demo = startExporter(['demo', '--web.listen-address=127.0.0.1:0']);
    const api = await startService('key', { request: oddMachines });
    const odd = startServe(`api: {base_url: "${api.url}"}\nchains: {mainnet: {v1_base_url: "${api.url}"}}\n`, 'key');
    const ports = { demo: await portOf(demo), odd: await portOf(odd) };
    // A scrape may take as long.
    const prometheus = await startPrometheus(ports, { scrapeInterval: '2s' });

    // Its first scrape comes five seconds after its start.
    await waitFor(() => expectAllSources(prometheus));
    await waitFor(async () => {
      const machines = await prometheus.query('beaconchain_machine_peers{job="odd"} == 5');
      expect(machines.map(({ metric }) => metric['machine']).toSorted()).toEqual(ODD_NAMES.toSorted());
    });

    for (const { labels, health, lastError } of await prometheus.targets()) {
      expect({ health, lastError }, labels['job']).toEqual({ health: 'up', lastError: '' });
    }
    const bad = await prometheus.query('min_over_time(up[1m]) < 1');
    expect(bad, 'no scrape failed').toEqual([]);
    expect(prometheus.program.output).not.toMatch(
      /level=(warn|error).*(scrape|append|exemplar|out.of.order|duplicate)/i,
    );
    // Types and help come with OpenMetrics, which is what Prometheus asked for.
    const { body } = await ask(ports.demo, '/metrics', { headers: { accept: 'text/plain;version=0.0.4' } });
    expect(runTool(PROMTOOL, ['check', 'metrics'], body.toString())).toEqual({ status: 0, stdout: '', stderr: '' });
  });
});
