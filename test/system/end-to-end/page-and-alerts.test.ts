import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { RULE_FILES } from '../../../deploy/grafana/src/rules.ts';
import { ownFamilies } from '../../../src/exporter/metrics.ts';
import { type Fleet, silence } from '../../../src/sandbox/machines.ts';
import type { Process } from '../../../src/sandbox/machines-records.ts';
import { CONDITIONS } from '../../../src/sources/conditions.ts';
import { machinesSource } from '../../../src/sources/machines/index.ts';
import type { StatusInput } from '../../../src/status-page/headline.ts';
import { statusOf } from '../../../src/status-page/status.ts';
import type { Family } from '../../../src/toolkit/exposition/family.ts';
import { changeRecords } from '../../simulation/service/fleet.ts';
import { machinesOptions } from '../../support/answers/machine-records.ts';
import { temporaryFolder } from '../../support/files/files.ts';
import { learn } from '../../support/runs/learn.ts';
import { DAY, HOUR, MINUTE, NOW } from '../../support/time/timing.ts';
import { areMissing, PROMTOOL, runTool } from '../../support/tools/tools.ts';
import { changed, knownIn, statusWorld, TIMES, withFirst, withKey } from '../../support/web/status-states.ts';

/** Longer than the `for` of every alert except the one of half a day. */
const MINUTES = 90;

const HEALTHY = await knownIn('healthy');

/** The input after another story of the machines. */
async function withMachines(story: (fleet: Fleet) => void, times = TIMES): Promise<StatusInput> {
  const sandbox = statusWorld(4);
  story(sandbox.fleet);
  const sources = HEALTHY.views.map(({ source }) => source).filter(({ name }) => name === 'machines');
  const entry = (await learn(sources, sandbox, times)).get('machines');
  return changed(HEALTHY, ({ source }) => (source.name === 'machines' && entry ? { entry } : {}));
}

/** node-a sends these fields in its newest records. */
function withFields(fields: object): Promise<StatusInput> {
  const since = NOW - 10 * MINUTE;
  return withMachines((fleet) => changeRecords(fleet, 'node-a', (_, time) => (time < since ? {} : fields)));
}

function silentFor(age: number, isAll = false): Promise<StatusInput> {
  return withMachines(({ machines }) => {
    for (const machine of machines.values()) if (isAll || machine.name === 'node-a') silence(machine, NOW - age);
  });
}

/** Two hosts with other boot times take turns. */
function sharedName(): Promise<StatusInput> {
  const boots = (_: Process, time: number) => ({
    misc_node_boot_ts_seconds: 1.7e9 + (Math.floor(time / MINUTE) % 2) * DAY,
  });
  const times = Array.from({ length: 9 }, (_, i) => NOW - 20_000 - (8 - i) * MINUTE);
  return withMachines((fleet) => changeRecords(fleet, 'node-a', boots), times);
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

const disk = (free: number) => withFields({ disk_node_bytes_total: 1e12, disk_node_bytes_free: free * 1e12 });

const CASES: readonly (readonly [string, () => StatusInput | Promise<StatusInput>])[] = [
  ...(['healthy', 'stretched', 'silent'] as const).map((state) => [state, () => knownIn(state)] as const),
  ['disk below', () => disk(0.099)],
  ['disk not given', () => withFields({ disk_node_bytes_total: 0, disk_node_bytes_free: 0 })],
  ['disk full', () => withFields({ disk_node_bytes_free: undefined })],
  ['no execution client', () => withFields({ sync_eth1_connected: false })],
  ['execution client not given', () => withFields({ sync_eth1_connected: null })],
  ['not synced', () => withFields({ sync_eth2_synced: undefined, sync_beacon_head_slot: undefined })],
  ['head near the clock, flag not', () => withFields({ sync_eth2_synced: undefined })],
  ['behind the clock', () => withFields({ sync_beacon_head_slot: 1 })],
  ['name shared', sharedName],
  [
    'clock of a machine fast',
    () => withMachines((fleet) => changeRecords(fleet, 'node-a', (_, time) => ({ timestamp: time + HOUR }))),
  ],
  ['silent for 10 minutes', () => silentFor(9.5 * MINUTE)],
  ['silent for 11 minutes', () => silentFor(11 * MINUTE)],
  ['all silent for 11 minutes', () => silentFor(11 * MINUTE, true)],
  ['one of a group silent for 11 minutes', async () => inGroups(await silentFor(11 * MINUTE))],
  ['all silent for 11 minutes, in a group or none', async () => inGroups(await silentFor(11 * MINUTE, true))],
  ['silent for 11 minutes, polled rarely', async () => everyInterval(HOUR, await silentFor(11 * MINUTE))],
  ['clock 61 seconds slow', () => ({ ...HEALTHY, clockOffsetMs: 61_000 })],
  ['clock 11 minutes fast', () => ({ ...HEALTHY, clockOffsetMs: -11 * MINUTE })],
  ['clock a minute fast', () => ({ ...HEALTHY, clockOffsetMs: -MINUTE })],
  ['key refused', () => withKey(HEALTHY, { standing: 'refused' })],
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

it.skipIf(areMissing(PROMTOOL))('the page names the alerts that rules.yaml fires, in every state', async () => {
  const tests = await Promise.all(CASES.map(async ([name, make]) => promtoolTest(name, await make())));
  const file = join(temporaryFolder(), 'test.yaml');
  // Once in five minutes, because all series are constant.
  writeFileSync(file, JSON.stringify({ rule_files: RULE_FILES.slice(0, 1), evaluation_interval: '5m', tests }));
  const { status, stdout, stderr } = runTool(PROMTOOL, ['test', 'rules', file]);
  expect(status, `${stdout}${stderr}`).toBe(0);
});
