import { execFile } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { beforeAll, describe, expect, it } from 'vitest';
import { RULE_FILES, rules } from '../../../deploy/grafana/src/rules.ts';
import { MACHINE_ALERTS } from '../../../src/sources/conditions.ts';
import { temporaryFolder } from '../../support/files/files.ts';
import { areMissing, PROMTOOL } from '../../support/tools/tools.ts';
import { type Played, type Pusher, play, type Setup } from './played.ts';
import { GRANDINE, LIGHTHOUSE, LODESTAR, PRYSM, type Pushed, TEKU } from './pushed.ts';

/** Not an alert of the project: a Gbit/s, a hundred times what a machine uses, is of counters that are mixed up. */
const TOO_FAST = { alert: 'NetworkTooFast', expr: 'rate(beaconchain_machine_network_receive_bytes_total[5m]) > 125e6' };

const VALIDATOR: Pusher = { body: LODESTAR.validator, at: 33, every: 60.2 };
const ON_MAINNET: readonly Pusher[] = [{ body: LODESTAR.node, at: 30, every: 60.2 }, VALIDATOR];
const ON_HOODI: readonly Pusher[] = [{ body: LODESTAR.hoodi, at: 30, every: 60.2 }, VALIDATOR];

/** The same body from a container, in which a process sees only the network of the container. */
function contained(body: readonly Pushed[]): Pushed[] {
  const own = { network_node_bytes_total_receive: 3_221_225_472, network_node_bytes_total_transmit: 2_881_484_800 };
  return body.map((record) => (record['process'] === 'system' ? { ...record, ...own } : record));
}

/** The node pushes at the turn of the minute: the service keeps sometimes its system record, sometimes the other. */
function inContainers(node: readonly Pushed[], validator: readonly Pushed[]): Pusher[] {
  return [
    { body: node, at: 59.6, jitter: 1 },
    { body: contained(validator), at: 20 },
  ];
}

type Change = (record: Pushed, since: number) => Pushed | undefined;

/** These fields of the records of a process, instead of what was pushed. */
function fields(process: string, changed: (record: Record<string, number>, since: number) => Pushed): Change {
  return (record, since) =>
    record['process'] === process ? { ...record, ...changed(record as Record<string, number>, since) } : record;
}

const HEALTHY: Readonly<Record<string, Setup>> = {
  Lighthouse: {
    pushers: [
      { body: LIGHTHOUSE.node, at: 12 },
      { body: LIGHTHOUSE.validator, at: 41 },
    ],
  },
  Lodestar: { pushers: ON_MAINNET },
  Teku: { pushers: [{ body: TEKU.both, at: 25 }] },
  'Teku that is updated': {
    pushers: [{ body: TEKU.before, at: 25 }],
    change: fields('beaconnode', () => ({ client_version: '26.7.1', sync_eth1_connected: false })),
  },
  'Grandine without --metrics and without keys': { pushers: [{ body: GRANDINE.unmeasured, at: 3 }] },
  Prysm: { pushers: [{ body: PRYSM, at: 50, every: 62 }] },
  'eth-docker: Teku in two containers with one name': { pushers: inContainers(TEKU.node, TEKU.validator) },
  'hoodi, on an account of mainnet': { pushers: ON_HOODI },
};

/** A machine that breaks in the middle of the run: nothing but the alert that is its name fires, on this chain. */
const BROKEN: Readonly<Record<string, Partial<Setup>>> = {
  'BeaconchainMachineOffline mainnet': { change: () => undefined },
  'BeaconchainProcessSilent mainnet': { change: (record) => (record['process'] === 'validator' ? undefined : record) },
  'BeaconchainMachineNeverSeen mainnet': { expected: ['misspelled'] },
  'BeaconchainMachineNameShared mainnet': {
    change: fields('system', ({ misc_node_boot_ts_seconds: boot = 0 }, since) => ({
      misc_node_boot_ts_seconds: boot - (Math.floor(since / 60) % 2) * 86_400,
    })),
  },
  'BeaconchainDiskAlmostFull mainnet': { change: fields('system', () => ({ disk_node_bytes_free: 200e9 })) },
  'BeaconchainDiskFullSoon mainnet': {
    hours: 8,
    change: fields('system', (_, since) => ({ disk_node_bytes_free: 1.5e12 - 20e6 * since })),
  },
  'BeaconchainCPUBusy mainnet': {
    change: fields('system', ({ cpu_node_idle_seconds_total: idle = 0 }, since) => ({
      cpu_node_idle_seconds_total: idle - 5 * Math.floor(since),
    })),
  },
  'BeaconchainMemoryAlmostFull mainnet': { change: fields('system', () => ({ memory_node_bytes_cached: 3e9 })) },
  'BeaconchainMachineRebooted mainnet': {
    change: fields('system', ({ misc_node_boot_ts_seconds: boot = 0 }) => ({
      misc_node_boot_ts_seconds: boot + 86_400,
    })),
  },
  'BeaconchainBeaconNodeNotSynced mainnet': { change: fields('beaconnode', () => ({ sync_eth2_synced: false })) },
  'BeaconchainBeaconNodeLagging mainnet': { change: fields('beaconnode', standing) },
  'BeaconchainBeaconNodeLagging hoodi': { change: fields('beaconnode', standing), pushers: ON_HOODI },
  'BeaconchainExecutionClientDisconnected mainnet': {
    pushers: [{ body: GRANDINE.both, at: 3 }],
    change: fields('beaconnode', () => ({ sync_eth1_connected: false })),
  },
  'BeaconchainFewPeers mainnet': { change: fields('beaconnode', () => ({ network_peers_connected: 3 })) },
  'BeaconchainValidatorsInactive mainnet': { change: fields('validator', () => ({ validator_active: 3 })) },
};

function standing({ sync_beacon_head_slot: slot = 0 }: Record<string, number>, since: number): Pushed {
  return { sync_beacon_head_slot: slot - Math.floor(since / 12) };
}

/** What fires at any time, by instance: `ALERT CHAIN`. Chains, returns and the exporter have no series, so no alerts. */
async function firing(all: ReadonlyMap<string, Played>): Promise<Map<string, string[]>> {
  const test = {
    interval: '1m',
    input_series: [...all.values()].flatMap(({ series }) =>
      [...series].map(([name, values]) => ({ series: name, values: values.join(' ') })),
    ),
    // An empty list: promtool prints what fires instead, and the BeaconchainWatchdog always does.
    promql_expr_test: [
      {
        expr: 'max by (instance, alertname, chain) (max_over_time(ALERTS{alertstate="firing"}[1d]))',
        eval_time: '9h',
        exp_samples: [],
      },
    ],
  };
  const folder = temporaryFolder();
  const write = (name: string, value: object): string => {
    writeFileSync(join(folder, name), JSON.stringify(value));
    return join(folder, name);
  };
  const own = write('own.yaml', { groups: [{ name: 'own', rules: [TOO_FAST] }] });
  const file = write('test.yaml', { rule_files: [...RULE_FILES, own], evaluation_interval: '2m', tests: [test] });
  const printed = await promisify(execFile)(PROMTOOL.command, ['test', 'rules', file]).then(
    ({ stdout }) => stdout,
    ({ stdout, stderr }) => `${stdout}${stderr}`,
  );
  const found = [...printed.matchAll(/\{(alertname="[^}]*)\}/g)].map(([, labels = '']) =>
    Object.fromEntries([...labels.matchAll(/(\w+)="([^"]*)"/g)].map(([, label, value]) => [label, value])),
  );
  if (!found.some(({ alertname }) => alertname === 'BeaconchainWatchdog')) throw new Error(printed);
  const groups = Map.groupBy(found, ({ instance = '' }) => instance);
  return new Map([...groups].map(([name, list]) => [name, list.map((one) => `${one.alertname} ${one.chain ?? ''}`)]));
}

describe.skipIf(areMissing(PROMTOOL))('machines as clients push them', () => {
  const WITHOUT_ZEROS = ', zeros left out';
  const healthy = Object.keys(HEALTHY).flatMap((name) => [name, `${name}${WITHOUT_ZEROS}`]);
  const played = new Map<string, Played>();
  let fired: ReadonlyMap<string, readonly string[]>;
  const seen = (name: string): object => ({
    fires: fired.get(name) ?? [],
    page: [...(played.get(name)?.notices ?? [])],
  });

  beforeAll(async () => {
    for (const name of healthy) {
      const { [name.replace(WITHOUT_ZEROS, '')]: setup = { pushers: [] } } = HEALTHY;
      played.set(name, await play(name, setup, name.endsWith(WITHOUT_ZEROS)));
    }
    for (const [name, setup] of Object.entries(BROKEN)) {
      played.set(name, await play(name, { pushers: ON_MAINNET, ...setup }));
    }
    fired = await firing(played);
  });

  it.each(healthy)('nothing fires for a healthy one: %s', (name) => {
    expect(seen(name)).toEqual({ fires: [], page: [] });
  });

  it.each(Object.keys(BROKEN))('one alert fires for a broken one: %s', (name) => {
    expect(seen(name)).toEqual({ fires: [name], page: MACHINE_ALERTS.filter((alert) => name.startsWith(`${alert} `)) });
  });

  it('each alert about a single machine has a broken one', () => {
    const alerts = rules.filter(({ labels }) => labels?.subject === 'machine').map(({ alert }) => alert);
    const ofAll = ['BeaconchainAllMachinesSilent', 'BeaconchainGroupSilent'];
    expect(new Set([...Object.keys(BROKEN).map((name) => name.split(' ')[0]), ...ofAll])).toEqual(new Set(alerts));
  });
});
