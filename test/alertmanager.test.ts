import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { z } from 'zod';
import { rules } from '../deploy/grafana/src/rules.ts';
import { composeConfiguration, DEMO_RECEIVER } from '../scripts/alertmanager-demo.ts';
import { ALERTS_PATH, sandboxAddress } from '../src/commands/demo.ts';
import { parseDuration } from '../src/toolkit/lib/duration.ts';
import { unknownNames } from './support/contract/exposed.ts';
import { waitFor } from './support/programs/program.ts';
import { startAlertmanager } from './support/tools/alertmanager.ts';
import { ALERTMANAGER, AMTOOL, areMissing, runTool } from './support/tools/tools.ts';

const DEPLOY = join(import.meta.dirname, '../deploy');
const FILE = join(DEPLOY, 'alertmanager/alertmanager.yml');
const TEXT = readFileSync(FILE, 'utf8');

const Inhibition = z.object({
  source_matchers: z.array(z.string()),
  target_matchers: z.array(z.string()),
  equal: z.array(z.string()),
});
/** The default of `--data.retention`: how long Alertmanager knows what it has sent. */
const RETENTION = '120h';

const Route = z.object({
  matchers: z.array(z.string()).default([]),
  receiver: z.string(),
  group_interval: z.string().optional(),
  repeat_interval: z.string(),
});
const { route, receivers } = z
  .object({ route: Route.extend({ routes: z.array(Route) }), receivers: z.array(z.object({ name: z.string() })) })
  .parse(parse(TEXT));
const alerts = rules.flatMap(({ alert, labels }) =>
  alert && labels ? [new Map(Object.entries({ ...labels, alertname: alert }))] : [],
);
const inhibitions = z.object({ inhibit_rules: z.array(Inhibition) }).parse(parse(TEXT)).inhibit_rules;

describe.skipIf(areMissing(AMTOOL))('amtool', () => {
  it.each(globSync('*.yml', { cwd: join(DEPLOY, 'alertmanager') }))('accepts %s', (file) => {
    expect(runTool(AMTOOL, ['check-config', join(DEPLOY, 'alertmanager', file)], '')).toMatchObject({ status: 0 });
  });

  it.each([
    [
      "the BeaconchainWatchdog to the dead man's switch",
      ['alertname=BeaconchainWatchdog', 'severity=none'],
      'watchdog',
    ],
    ['critical alerts to the pager', ['alertname=BeaconchainMachineOffline', 'severity=critical'], 'pager'],
    ['critical alerts of a test network to the log', ['severity=critical', 'chain=hoodi'], 'log'],
    ['warnings to the chat', ['alertname=BeaconchainCPUBusy', 'severity=warning'], 'chat'],
    ['information to the log', ['alertname=BeaconchainAttesterSlashing', 'severity=info'], 'log'],
  ])('routes %s', (_, labels, receiver) => {
    const args = ['config', 'routes', 'test', `--config.file=${FILE}`, `--verify.receivers=${receiver}`, ...labels];
    expect(runTool(AMTOOL, args, '')).toMatchObject({ status: 0 });
  });
});

/** Alerts of one exporter that fire together, with their labels. The others inhibit those after `|`. */
const TOGETHER: readonly string[] = [
  'MachineOffline machine=a chain=mainnet | DiskAlmostFull machine=a chain=mainnet',
  'MachineOffline machine=a chain=mainnet & DiskAlmostFull machine=b chain=mainnet',
  'MachineOffline machine=a chain=mainnet & ManyMissedSlots chain=mainnet',
  'MachineOffline machine=a & DiskAlmostFull machine=a instance=other:1',
  'MachineOffline machine=a exported_chain=x & DiskAlmostFull machine=a exported_chain=y',
  'MachineOffline exported_machine=a & DiskAlmostFull exported_machine=b | CPUBusy exported_machine=a',
  'GroupSilent group=home | MachineOffline machine=a group=home',
  'GroupSilent exported_group=home & MachineOffline machine=a exported_group=office | CPUBusy machine=b exported_group=home',
  'GroupSilent group=home & MachineOffline machine=a group=office',
  'GroupSilent group=home | ValidatorMissesAttestations validator=1 group=home',
  'AllMachinesSilent | MachineOffline machine=a',
  'ValidatorOffline validator=1 chain=hoodi | ValidatorMissesAttestations validator=1 chain=hoodi',
  'ValidatorOffline validator=1 chain=hoodi & ValidatorMissesAttestations validator=2 chain=hoodi',
  'ExporterDown | MachineOffline machine=a, ValidatorOffline validator=1, DailyReturnLate chain=mainnet, SourceFailing source=machines',
  'ExporterDown instance= | MachineOffline machine=a, NoLeader instance=',
  'AccessRevoked | DiskAlmostFull machine=a, SourceStale source=slashings',
  'ApiKeyInvalid | DiskAlmostFull machine=a, SourceFailing source=slashings',
  'ApiKeyInvalid & AttesterSlashing chain=mainnet, WatchedValidatorSlashed validator=1',
  'SourceWaitsForQuota source=machines | CPUBusy machine=a, SourceFailing source=machines',
  'SourceWaitsForQuota source=machines & MachineOffline machine=a, SourceFailing source=slashings',
];

describe.skipIf(areMissing(ALERTMANAGER))('Alertmanager', () => {
  it('inhibits an alert only if another alert about the same thing explains it', async () => {
    const { known, send } = await startAlertmanager(TEXT);
    const all = TOGETHER.flatMap((together, job) => {
      const [active = '', silenced = ''] = together.split(' | ');
      const stateOf = (list: string, state: string) =>
        list.split(/, | & /).flatMap((one) => (one === '' ? [] : { labels: labelsOf(one, `${job}`), state }));
      return [...stateOf(active, 'active'), ...stateOf(silenced, 'suppressed')];
    });
    await send(all.map(({ labels }) => ({ labels })));
    const named = (labels: object, state: string): string =>
      `${JSON.stringify(Object.entries(labels).sort())} ${state}`;
    const expected = all.map(({ labels, state }) => named(labels, state)).sort();
    await waitFor(async () =>
      expect((await known()).map(({ labels, status }) => named(labels, status.state)).sort()).toEqual(expected),
    );
  });

  /** The labels that the rule gives an alert of one exporter of this job. */
  function labelsOf(text: string, job: string): Record<string, string> {
    const [name = '', ...given] = text.split(' ');
    const rule = rules.find(({ alert }) => alert === `Beaconchain${name}`) ?? expect.fail(name);
    const { severity = '', subject = '' } = rule.labels ?? {};
    const own = { alertname: `Beaconchain${name}`, job, instance: 'exporter:1', severity, subject };
    const labels: Record<string, string> = { ...own, ...Object.fromEntries(given.map((one) => one.split('='))) };
    // An empty label is no label.
    return Object.fromEntries(Object.entries(labels).filter(([, value]) => value !== ''));
  }
});

it('sends a second critical alert of one name as soon as the first', () => {
  const { group_wait: wait } = z.object({ group_wait: z.string() }).parse(parse(TEXT).route);
  const critical = route.routes.find(({ matchers }) => matchers.includes('severity="critical"'));
  // The message of the first alert starts a group_interval.
  expect(critical?.group_interval).toBe(wait);
});

it('has empty receivers, so that nothing fails before they are filled in', () => {
  for (const receiver of receivers) expect(Object.keys(receiver)).toEqual(['name']);
});

it('demo-compose.yml is generated from it, with the demo as receiver', () => {
  expect(readFileSync(join(DEPLOY, 'alertmanager/demo-compose.yml'), 'utf8')).toBe(composeConfiguration(TEXT));
  expect(new URL(DEMO_RECEIVER)).toMatchObject({ pathname: ALERTS_PATH, port: String(sandboxAddress().port) });
});

it('repeats messages before Alertmanager forgets that it sent them', () => {
  const longest = (parseDuration(RETENTION) ?? 0) - (parseDuration('12h') ?? 0);
  for (const { repeat_interval: repeat } of [route, ...route.routes]) {
    expect(parseDuration(repeat), repeat).toBeLessThanOrEqual(longest);
  }
  expect(readFileSync(join(DEPLOY, 'compose/compose.yaml'), 'utf8')).not.toContain('--data.retention');
});

it('names only alerts and subjects that exist', () => {
  const matchers = inhibitions.flatMap((rule) => [...rule.source_matchers, ...rule.target_matchers]);
  const named = matchers.flatMap((matcher) => {
    const [, label = '', values = ''] = /^(\w+)!?=~?"(.*)"$/.exec(matcher) ?? [];
    return values.split('|').map((value) => [label, value] as const);
  });
  const unknown = named.filter(([label, value]) => {
    if (['alertname', 'subject', 'severity'].includes(label)) return !alerts.some((one) => one.get(label) === value);
    if (label === 'source') return unknownNames(`beaconchain_source_up{source="${value}"}`).length > 0;
    return label !== 'instance';
  });
  expect(unknown).toEqual([]);
});

it('never lets an alert of one job inhibit those of another', () => {
  for (const { equal } of inhibitions) expect(equal).toContain('job');
});

it('groups by alert name, so that no slashing hides in the message about a disk', () => {
  const { group_by: labels } = z.object({ group_by: z.array(z.string()) }).parse(parse(TEXT).route);
  expect(labels).toContain('alertname');
  expect(JSON.stringify(parse(TEXT).route.routes)).not.toContain('group_by');
});

it('never lets an alert inhibit a more severe one', () => {
  const order = ['info', 'warning', 'critical'];
  /** The severities of the alerts that these matchers can match. Labels that a rule does not set can have any value. */
  const severities = (matchers: readonly string[]): number[] => {
    const matching = alerts.filter((labels) =>
      matchers.every((matcher) => {
        const [, label = '', pattern = ''] = /^(\w+)!?=~?"(.*)"$/.exec(matcher) ?? [];
        const value = labels.get(label);
        return value === undefined || new RegExp(`^(?:${pattern})$`).test(value);
      }),
    );
    return matching.map((labels) => order.indexOf(labels.get('severity') ?? ''));
  };
  for (const { source_matchers: source, target_matchers: target } of inhibitions) {
    expect(Math.max(...severities(target)), target.join()).toBeLessThanOrEqual(Math.min(...severities(source)));
  }
});
