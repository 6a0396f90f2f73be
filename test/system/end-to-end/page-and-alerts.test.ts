import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { RULE_FILES } from '../../../deploy/grafana/src/rules.ts';
import { ownFamilies } from '../../../src/exporter/metrics.ts';
import type { Family } from '../../../src/metrics/family.ts';
import { CONDITIONS, NOT_ON_PAGE } from '../../../src/sources/conditions.ts';
import type { Machine } from '../../../src/sources/machines/schema.ts';
import { Machines } from '../../../src/sources/machines/schema.ts';
import type { Slashings } from '../../../src/sources/slashings/schema.ts';
import { statusOf } from '../../../src/web/status.ts';
import type { StatusInput } from '../../../src/web/status-input.ts';
import { temporaryFolder } from '../../support/files.ts';
import { knownIn } from '../../support/status-states.ts';
import { DAY, HOUR, MINUTE, NOW } from '../../support/timing.ts';
import { areMissing, PROMTOOL, runTool } from '../../support/tools.ts';

/** Longer than any alert waits, but the one that waits for half a day. */
const MINUTES = 90;

/** The input with the value of a source changed. */
function withValue<T>(known: StatusInput, name: string, change: (value: T) => T): StatusInput {
  const views = known.views.map((view) =>
    view.source.name === name ? { ...view, entry: { ...view.entry, value: change(view.entry.value as T) } } : view,
  );
  return { ...known, views };
}

function withMachine(change: (machine: Machine) => Machine): StatusInput {
  return withValue<Machines>(knownIn('healthy'), 'machines', ({ machines }) =>
    Machines.parse({ machines: machines.map((one) => (one.name === 'node-a' ? change(one) : one)), dropped: 0 }),
  );
}

function withSystem(fields: object): StatusInput {
  return withMachine((one) => ({ ...one, system: { ...one.system, ...fields } as Machine['system'] }));
}

function withNode(fields: object): StatusInput {
  return withMachine((one) => ({ ...one, node: { ...one.node, ...fields } as Machine['node'] }));
}

function withChain(change: (state: Slashings) => Partial<Slashings>): StatusInput {
  return withValue<Slashings>(knownIn('healthy'), 'slashings', (state) => ({ ...state, ...change(state) }));
}

function withAge(age: number): StatusInput {
  return withMachine((one) => {
    const aged = Object.entries(one).map(([key, value]) => [
      key,
      typeof value === 'object' ? { ...value, timestamp: (NOW - age) / 1000 } : value,
    ]);
    return Object.fromEntries(aged) as Machine;
  });
}

function everyInterval(intervalMs: number, known: StatusInput): StatusInput {
  return { ...known, views: known.views.map((view) => ({ ...view, pace: { ...view.pace, intervalMs } })) };
}

const disk = (free: number) => withSystem({ disk_node_bytes_total: 1e12, disk_node_bytes_free: free * 1e12 });
const memory = (free: number, cached: number | null = 0) =>
  withSystem({
    memory_node_bytes_total: 1e9,
    memory_node_bytes_free: free * 1e9,
    memory_node_bytes_cached: cached,
    memory_node_bytes_buffers: null,
  });

const CASES: readonly (readonly [string, () => StatusInput])[] = [
  ...(['healthy', 'stretched', 'silent'] as const).map((state) => [state, () => knownIn(state)] as const),
  ['disk below', () => disk(0.099)],
  ['disk not given', () => withSystem({ disk_node_bytes_total: 0, disk_node_bytes_free: 0 })],
  ['disk full', () => withSystem({ disk_node_bytes_free: undefined })],
  ['memory below', () => memory(0.21)],
  ['memory cached', () => memory(0.1, 5e8)],
  ['memory not given', () => memory(0)],
  ['no execution client', () => withNode({ sync_eth1_connected: false })],
  ['execution client not given', () => withNode({ sync_eth1_connected: null })],
  ['not synced', () => withNode({ sync_eth2_synced: undefined })],
  ['few peers', () => withNode({ network_peers_connected: 9 })],
  ['peers not given', () => withNode({ network_peers_connected: null })],
  ['behind the clock', () => withNode({ sync_beacon_head_slot: 1 })],
  ['on a fallback', () => withNode({ sync_eth2_fallback_connected: true })],
  ['silent for 10 minutes', () => withAge(9.5 * MINUTE)],
  ['silent for 11 minutes', () => withAge(11 * MINUTE)],
  ['silent for 11 minutes, polled rarely', () => everyInterval(HOUR, withAge(11 * MINUTE))],
  ['finality behind', () => withChain(({ headEpoch = 0 }) => ({ finalizedEpoch: headEpoch - 7 }))],
  [
    'finality behind, no head',
    () => withChain(({ headEpoch = 0 }) => ({ head: undefined, finalizedEpoch: headEpoch - 9 })),
  ],
  ['low participation', () => withChain(({ head }) => ({ head: head && { ...head, participation: 0.79 } }))],
  ['scan behind', () => withChain(({ finalizedEpoch = 0 }) => ({ scannedEpoch: finalizedEpoch - 13 }))],
  [
    'key refused',
    () => {
      const known = knownIn('healthy');
      return { ...known, ledger: { ...known.ledger, key: { ...known.ledger.key, standing: 'refused' as const } } };
    },
  ],
  [
    'a late day',
    () =>
      withValue<{ newest: { day_end: number } }>(knownIn('healthy'), 'daily_returns', ({ newest }) => ({
        newest: { ...newest, day_end: (NOW - DAY - 7 * HOUR) / 1000 },
      })),
  ],
];

function familiesOf({ views, ledger, budgetOptions }: StatusInput): Family[] {
  const lastReload = { isSuccessful: true, successAt: NOW };
  return [
    ...views.flatMap(({ source, entry, timing }) => source.families(entry.value, timing)),
    { name: 'up', type: 'gauge', help: '', samples: [{ labels: {}, value: 1 }] },
    ...ownFamilies(views, { ledger, budgetOptions, lastReload, isLeader: true }, NOW),
  ];
}

/** A test of promtool: series that do not change, and which alerts fire on them in the end. */
function promtoolTest(name: string, known: StatusInput): unknown {
  const told = new Set(statusOf(known, NOW).notices.map(({ alert }) => alert));
  const firing = Object.entries(CONDITIONS).flatMap(([alert, { severity }]) =>
    told.has(alert) && severity !== 'info' ? [alert] : [],
  );
  for (const alert of firing) expect(Object.keys(NOT_ON_PAGE)).not.toContain(alert);
  const series = familiesOf(known).flatMap(({ name, samples }) =>
    [...samples].map(({ labels, value, suffix = '' }) => {
      const all = Object.entries({ job: 'beaconchain', instance: 'a', ...labels });
      const text = all.map(([label, of]) => `${label}=${JSON.stringify(of)}`).join(',');
      return { series: `${name}${suffix}{${text}}`, values: `${value}+0x${MINUTES}` };
    }),
  );
  return {
    name,
    interval: '1m',
    input_series: series,
    promql_expr_test: [
      {
        expr: 'group by (alertname) (ALERTS{alertstate="firing", severity=~"critical|warning"})',
        eval_time: `${MINUTES}m`,
        exp_samples: firing.map((alertname) => ({ labels: `{alertname="${alertname}"}`, value: 1 })),
      },
    ],
  };
}

describe.skipIf(areMissing(PROMTOOL))('system/end-to-end/page-and-alerts', () => {
  it('in every state the page says what Prometheus fires', () => {
    const tests = CASES.map(([name, make]) => promtoolTest(name, make()));
    const file = join(temporaryFolder(), 'test.yaml');
    // Once in five minutes, because all series are constant.
    writeFileSync(file, JSON.stringify({ rule_files: RULE_FILES, evaluation_interval: '5m', tests }));
    const { status, stdout, stderr } = runTool(PROMTOOL, ['test', 'rules', file], '');
    expect(status, `${stdout}${stderr}`).toBe(0);
  });
});
