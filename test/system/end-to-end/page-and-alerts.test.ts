import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { RULE_FILES } from '../../../deploy/grafana/src/rules.ts';
import { ownFamilies } from '../../../src/exporter/metrics.ts';
import { CONDITIONS } from '../../../src/sources/conditions.ts';
import { machinesSource } from '../../../src/sources/machines/index.ts';
import { type Machine, Machines } from '../../../src/sources/machines/state.ts';
import type { StatusInput } from '../../../src/status-page/headline.ts';
import { statusOf } from '../../../src/status-page/status.ts';
import type { Family } from '../../../src/toolkit/exposition/family.ts';
import { machinesOptions } from '../../support/answers/machine-records.ts';
import { temporaryFolder } from '../../support/files/files.ts';
import { HOUR, MINUTE, NOW } from '../../support/time/timing.ts';
import { areMissing, PROMTOOL, runTool } from '../../support/tools/tools.ts';
import { changed, knownIn, withFirst, withKey } from '../../support/web/status-states.ts';

/** Longer than any alert waits, but the one that waits for half a day. */
const MINUTES = 90;

function withMachine(change: (machine: Machine) => Machine, isAll = false): StatusInput {
  return changed(knownIn('healthy'), ({ source, entry }) => {
    if (source.name !== 'machines') return {};
    const machines = (entry.value as Machines).machines.map((one) =>
      isAll || one.name === 'node-a' ? change(one) : one,
    );
    return { entry: { ...entry, value: Machines.parse({ machines, dropped: 0 }) } };
  });
}

function withFields(part: 'system' | 'node', fields: object): StatusInput {
  return withMachine((one) => ({ ...one, [part]: { ...one[part], ...fields } }));
}

function withAge(age: number, isAll = false): StatusInput {
  const aged = (one: Machine): Machine =>
    Object.fromEntries(
      Object.entries(one).map(([key, value]) => [
        key,
        typeof value === 'object' ? { ...value, timestamp: (NOW - age) / 1000 } : value,
      ]),
    ) as Machine;
  return withMachine(aged, isAll);
}

/** node-a and node-b are a group, and the rest is in none. */
function inGroups(known: StatusInput): StatusInput {
  const groups = [{ name: 'home', machines: ['node-a', 'node-b'] }];
  const source = machinesSource(machinesOptions({ groups, chainRules: [{ match: 'hoodi-*', chain: 'hoodi' }] }));
  return changed(known, (view) => (view.source.name === 'machines' ? { source } : {}));
}

function everyInterval(intervalMs: number, known: StatusInput): StatusInput {
  return changed(known, (view) => withFirst(view, { pace: { ...view.first.pace, intervalMs } }));
}

const disk = (free: number) => withFields('system', { disk_node_bytes_total: 1e12, disk_node_bytes_free: free * 1e12 });

const SHARED = { from: 1, returnedAt: 1, isShared: true, until: (NOW + HOUR) / 1000 };

const CASES: readonly (readonly [string, () => StatusInput])[] = [
  ...(['healthy', 'stretched', 'silent'] as const).map((state) => [state, () => knownIn(state)] as const),
  ['disk below', () => disk(0.099)],
  ['disk not given', () => withFields('system', { disk_node_bytes_total: 0, disk_node_bytes_free: 0 })],
  ['disk full', () => withFields('system', { disk_node_bytes_free: undefined })],
  ['no execution client', () => withFields('node', { sync_eth1_connected: false })],
  ['execution client not given', () => withFields('node', { sync_eth1_connected: null })],
  ['not synced', () => withFields('node', { sync_eth2_synced: undefined })],
  ['behind the clock', () => withFields('node', { sync_beacon_head_slot: 1 })],
  ['name shared', () => withMachine((one) => ({ ...one, learned: { ...one.learned, boots: SHARED } }))],
  ['silent for 10 minutes', () => withAge(9.5 * MINUTE)],
  ['silent for 11 minutes', () => withAge(11 * MINUTE)],
  ['all silent for 11 minutes', () => withAge(11 * MINUTE, true)],
  ['one of a group silent for 11 minutes', () => inGroups(withAge(11 * MINUTE))],
  ['all silent for 11 minutes, in a group or none', () => inGroups(withAge(11 * MINUTE, true))],
  ['silent for 11 minutes, polled rarely', () => everyInterval(HOUR, withAge(11 * MINUTE))],
  ['clock 61 seconds slow', () => ({ ...knownIn('healthy'), clockOffsetMs: 61_000 })],
  ['clock 11 minutes fast', () => ({ ...knownIn('healthy'), clockOffsetMs: -11 * MINUTE })],
  ['clock a minute fast', () => ({ ...knownIn('healthy'), clockOffsetMs: -MINUTE })],
  ['key refused', () => withKey({ standing: 'refused' })],
];

function familiesOf(known: StatusInput): Family[] {
  return [
    ...known.views.flatMap(({ source, entry, timing, inputs }) => source.metrics(entry.value, timing, inputs)),
    { name: 'up', type: 'gauge', help: '', samples: [{ labels: {}, value: 1 }] },
    ...ownFamilies({ ...known, isLeader: true, reloadedAt: NOW, linesDropped: 0, externalUrl: null, now: NOW }),
  ];
}

/** A test of promtool: series that do not change, and which alerts fire on them in the end. */
function promtoolTest(name: string, known: StatusInput): unknown {
  const told = new Set(statusOf(known, NOW).notices.map(({ alert }) => alert));
  const firing = Object.entries(CONDITIONS).flatMap(([alert, { severity }]) =>
    told.has(alert) && severity !== 'info' ? [alert] : [],
  );
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

it.skipIf(areMissing(PROMTOOL))('in every state the page says what fires by rules.yaml', () => {
  const tests = CASES.map(([name, make]) => promtoolTest(name, make()));
  const file = join(temporaryFolder(), 'test.yaml');
  // Once in five minutes, because all series are constant.
  writeFileSync(file, JSON.stringify({ rule_files: RULE_FILES.slice(0, 1), evaluation_interval: '5m', tests }));
  const { status, stdout, stderr } = runTool(PROMTOOL, ['test', 'rules', file]);
  expect(status, `${stdout}${stderr}`).toBe(0);
});
