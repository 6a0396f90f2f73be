import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { RULE_FILES, rules, shippedThreshold } from '../../deploy/grafana/src/rules.ts';
import { CONDITIONS, MACHINE_CONDITIONS, THRESHOLDS } from '../../src/sources/conditions.ts';
import { FOR_MS } from '../../src/sources/lateness.ts';
import { parseDuration } from '../../src/toolkit/lib/duration.ts';
import { configured, defaultConfig } from '../support/runs/default-config.ts';
import { timing } from '../support/time/timing.ts';

const ROOT = join(import.meta.dirname, '../..');
const TABLE = 'src/sources/conditions.ts';

/** Why the page has no notices for the other alerts of rules.yaml. */
const NOT_ON_PAGE = {
  BeaconchainExporterDown: 'is about the scrape: an exporter that is down serves no page',
  BeaconchainReplicaDown: 'is about the scrape of another replica',
  BeaconchainNoLeader: 'is about all replicas, and the page shows only one',
  BeaconchainDiskFullSoon: 'needs twelve hours of history',
  BeaconchainSyncCommitteeMissed: 'needs the values of an hour ago',
  BeaconchainBelowNetwork: 'needs the values of two hours ago',
  BeaconchainInvalidRecords: 'needs the records of six hours',
};

const alerts = rules.flatMap(({ alert, expr, labels }) =>
  alert ? [{ alert, expr, severity: labels?.severity ?? '' }] : [],
);
const forEverybody = readFileSync(RULE_FILES[0] ?? '', 'utf8');
const serious = alerts.filter(
  ({ alert, severity }) =>
    (severity === 'critical' || severity === 'warning') && forEverybody.includes(`- alert: ${alert}\n`),
);
const conditions = Object.entries(CONDITIONS);
const watch = { mainnet: [{ first: 1, last: 1 }], hoodi: [] };
const detected = configured({ validators: { ...defaultConfig().validators, watch } }).flatMap(
  ({ more }) => more?.detects?.(timing()) ?? [],
);

it.each(serious)('$alert has a notice on the page, or a reason why not', ({ alert, severity }) => {
  const condition = conditions.find(([name]) => name === alert)?.[1];
  const reason = Object.entries(NOT_ON_PAGE).find(([name]) => name === alert)?.[1];
  expect(
    condition === undefined ? reason : condition.severity,
    `${alert} is ${severity} in deploy/prometheus/rules.yaml: give it a row in CONDITIONS of ${TABLE} with this severity, or a reason in NOT_ON_PAGE of this test`,
  ).toEqual(condition === undefined ? expect.stringMatching(/\w+ \w+/) : severity);
  expect(condition && reason, `${alert} is in CONDITIONS and in NOT_ON_PAGE`).toBeUndefined();
});

it.each(conditions)('%s is an alert with this severity and a section in the runbook', (name, { severity }) => {
  const alert = alerts.find((one) => one.alert === name);
  expect(alert?.severity, `${name} in CONDITIONS of ${TABLE}: not so in deploy/prometheus/rules.yaml`).toBe(severity);
  expect(readFileSync(join(ROOT, 'docs/alerts.md'), 'utf8')).toContain(`### ${name}\n`);
});

it('gives reasons only for existing alerts', () => {
  for (const name of Object.keys(NOT_ON_PAGE)) expect(alerts.map(({ alert }) => alert)).toContain(name);
});

it.each(Object.entries(THRESHOLDS))('%s is the threshold of the rules', (name, value) => {
  expect(
    value,
    `beaconchain:threshold:${name} is ${shippedThreshold(name)} in deploy/prometheus/rules.yaml: change THRESHOLDS.${name} in ${TABLE} too`,
  ).toBe(shippedThreshold(name));
});

it.each(detected)('%s: `check` adds the `for` of the rule', (name) => {
  expect(parseDuration(rules.find(({ alert }) => alert === name)?.for ?? '0')).toBe(FOR_MS[name] ?? 0);
});

it.each(Object.entries(MACHINE_CONDITIONS))('%s: the rule makes the same comparison', (name, { is, than }) => {
  // The recorded limit includes the interval of rare sweeps.
  const offline = 'on (job, instance) group_left () beaconchain:machine_offline_after_seconds';
  const recorded = than === 'machine_offline_seconds' ? offline : `scalar(max(beaconchain:threshold:${than})`;
  const limit = typeof than === 'number' ? `${than}\n` : recorded;
  const alert = alerts.find((one) => one.alert === name)?.expr ?? '';
  // A condition that is held while its values are unknown is recorded.
  const condition = rules.find(({ record }) => record && alert.startsWith(`${record}\n`))?.expr;
  expect(`${alert}${condition}`).toContain(` ${is} ${limit}`);
});
