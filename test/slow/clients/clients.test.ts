import { execFile } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { beforeAll, describe, expect, it } from 'vitest';
import { RULE_FILES } from '../../../deploy/grafana/src/rules.ts';
import { temporaryFolder } from '../../support/files/files.ts';
import { areMissing, PROMTOOL } from '../../support/tools/tools.ts';
import { type Played, type Pusher, play, type Setup } from './played.ts';
import { GRANDINE, LIGHTHOUSE, LODESTAR, PRYSM, type Pushed, TEKU } from './pushed.ts';

/** Not an alert of the project: a Gbit/s, a hundred times what a machine uses, is of counters that are mixed up. */
const TOO_FAST = { alert: 'NetworkTooFast', expr: 'rate(beaconchain_machine_network_receive_bytes_total[5m]) > 125e6' };

const VALIDATOR: Pusher = { body: LODESTAR.validator, at: 33, every: 60.2 };

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

const HEALTHY: Readonly<Record<string, Setup>> = {
  Lighthouse: {
    pushers: [
      { body: LIGHTHOUSE.node, at: 12 },
      { body: LIGHTHOUSE.validator, at: 41 },
    ],
  },
  Lodestar: { pushers: [{ body: LODESTAR.node, at: 30, every: 60.2 }, VALIDATOR] },
  Teku: { pushers: [{ body: TEKU.both, at: 25 }] },
  'Teku that is updated': {
    pushers: [{ body: TEKU.before, at: 25 }],
    change: (record) =>
      record['process'] === 'beaconnode' ? { ...record, client_version: '26.7.1', sync_eth1_connected: false } : record,
  },
  'Grandine without --metrics and without keys': { pushers: [{ body: GRANDINE.unmeasured, at: 3 }] },
  Prysm: { pushers: [{ body: PRYSM, at: 50, every: 62 }] },
  'eth-docker: Teku in two containers with one name': { pushers: inContainers(TEKU.node, TEKU.validator) },
  'hoodi, on an account of mainnet': { pushers: [{ body: LODESTAR.hoodi, at: 30, every: 60.2 }, VALIDATOR] },
};

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
    fired = await firing(played);
  });

  it.each(healthy)('nothing fires for a healthy one: %s', (name) => {
    expect(seen(name)).toEqual({ fires: [], page: [] });
  });
});
