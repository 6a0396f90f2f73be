import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { expect, it } from 'vitest';
import { parse, stringify } from 'yaml';
import { z } from 'zod';
import { RULE_FILES, rules, shippedIn } from '../deploy/grafana/src/rules.ts';
import { parseDuration } from '../src/toolkit/lib/duration.ts';
import { complaintsOf, joined } from './rules/cases.ts';
import { ALL_LABELS, unknownNames } from './support/contract/exposed.ts';
import { namesIn, ratedGauges } from './support/contract/promql.ts';
import { temporaryFolder } from './support/files/files.ts';
import { MINUTE } from './support/time/timing.ts';
import { areMissing, PROMTOOL, runTool } from './support/tools/tools.ts';

const FOLDER = 'deploy/prometheus';
const TESTS = readdirSync(FOLDER)
  .filter((name) => name.endsWith('.test.yaml'))
  .map((name) => join(FOLDER, name));
const RUNBOOK = readFileSync('docs/alerts.md', 'utf8');

const alerts = rules.flatMap(({ alert, ...rule }) => (alert ? [{ alert, ...rule }] : []));
const names = alerts.map(({ alert }) => alert);
const WATCHDOG = 'BeaconchainWatchdog';
/** The exporter that the link of an alert about no running one leads to, and the address if there is none. */
const OF_JOB = [
  'printf "beaconchain_exporter_external_url_info{job=%q} or sort_desc(beaconchain:exporter_url:running{job=%[1]q})" $labels.job',
] as const;
const ADDRESSES: Readonly<Record<string, readonly [urls: string, otherwise?: string]>> = {
  BeaconchainExporterDown: OF_JOB,
  BeaconchainReplicaDown: OF_JOB,
  BeaconchainNoLeader: OF_JOB,
  [WATCHDOG]: [
    '"beaconchain_exporter_external_url_info or sort_desc(beaconchain:exporter_url:running)"',
    'http://localhost:10032',
  ],
};
/** Alerts about one process, not about what replicas share. */
const OF_PROCESS = [
  ...Object.keys(ADDRESSES),
  'BeaconchainSourceStale',
  'BeaconchainClockWrong',
  'BeaconchainStateWriteFailing',
  'BeaconchainConfigReloadFailed',
];
/** The name of the job for replicas, else the instance. */
const INSTANCE =
  '{{ with printf "beaconchain:replicas{job=%q}" $labels.job | query }}{{ $labels.job }}{{ else }}{{ $labels.instance }}{{ end }}';
const recorded = rules.flatMap(({ record }) => record ?? []);
/** The records of a user's own file of thresholds. */
const own = recorded.map((name) => name.replace(':threshold:', ':own_threshold:'));

const Groups = z.object({
  groups: z.array(z.object({ rules: z.array(z.object({ record: z.string().optional(), expr: z.string() })) })),
});
const Check = z.object({ exp_samples: z.array(z.object({ labels: z.string() })) });
const Cases = z.object({ tests: z.array(z.object({ name: z.string(), promql_expr_test: z.array(Check) })) });
const files = TESTS.map((file) => Cases.parse(parse(readFileSync(file, 'utf8'), { maxAliasCount: -1 })));
/** The alerts that the name of a case begins with, "A, B: silent when ...", and its checks. */
const cases = files
  .flatMap(({ tests }) => tests)
  .map((one) => ({
    subjects: one.name.split(':')[0]?.split(', ') ?? [],
    checks: one.promql_expr_test,
  }));

it.skipIf(areMissing(PROMTOOL)).each(TESTS)(
  'each alert fires in its cases and is silent in the others: %s',
  async (file) => {
    expect(await complaintsOf(file, joined)).toBe('');
  },
);

it.each(names.filter((name) => name !== WATCHDOG))(
  '%s has a case in which it fires and one in which it is silent',
  (name) => {
    const fires = ({ labels }: { labels: string }): boolean => labels.includes(`"${name}"`);
    const checks = cases.filter(({ subjects }) => subjects.includes(name)).flatMap((one) => one.checks);
    expect(checks.some((check) => check.exp_samples.some(fires))).toBe(true);
    expect(checks.some((check) => !check.exp_samples.some(fires))).toBe(true);
  },
);

it('no case is about an alert that does not exist', () => {
  expect(cases.flatMap(({ subjects }) => subjects).filter((name) => !names.includes(name))).toEqual([]);
});

it.skipIf(areMissing(PROMTOOL))('the text of an alert names its threshold, also if a user changed it', () => {
  const folder = temporaryFolder();
  for (const file of RULE_FILES) {
    const changed = readFileSync(file, 'utf8')
      .replace('vector(4 * 86400)', 'vector(86400 / 2)')
      .replace('vector(7 * 86400)', 'vector(86400)');
    writeFileSync(join(folder, basename(file)), changed);
  }
  const labels = 'job="j", instance="a:1", chain="mainnet", machine="m1"';
  const lastSeen = `beaconchain_machine_last_seen_timestamp_seconds{${labels}, process=`;
  const input = {
    'beaconchain_source_last_success_timestamp_seconds{job="j", instance="a:1", source="machines"}': '0+60x600',
    'beaconchain_source_interval_seconds{job="j", instance="a:1", source="machines"}': '60x600',
    [`${lastSeen}"system"}`]: '0+60x600',
    [`${lastSeen}"node"}`]: '0+60x60 3600x600',
    [`beaconchain_machine_disk_total_bytes{${labels}}`]: '100000x600',
    [`beaconchain_machine_disk_free_bytes{${labels}}`]: '30000-40x600',
  };
  const expected = [
    ['BeaconchainDiskFullSoon', 'the disk will be full within 12h 0m 0s.'],
    ['BeaconchainProcessSilent', 'the alert resolves after 1d 0h 0m 0s.'],
  ] as const;
  const test = {
    interval: '1m',
    input_series: Object.entries(input).map(([series, values]) => ({ series, values })),
    // An empty list: promtool prints what fires instead.
    alert_rule_test: expected.map(([alertname]) => ({ eval_time: '9h', alertname, exp_alerts: [] })),
  };
  writeFileSync(
    join(folder, 'test.yaml'),
    stringify({ rule_files: ['rules.yaml'], evaluation_interval: '4m', tests: [test] }),
  );
  const { stdout, stderr } = runTool(PROMTOOL, ['test', 'rules', join(folder, 'test.yaml')], '');
  for (const [, words] of expected) expect(`${stdout}${stderr}`).toContain(words);
});

it.each(rules.filter(({ record }) => !record?.startsWith('beaconchain:threshold:')))(
  '$alert $record compares with the recorded threshold, or else with the shipped one',
  ({ expr }) => {
    const compared = [...expr.matchAll(/scalar\(max\((beaconchain:threshold:\w+)\) or vector\(([^)]+)\)\)/g)];
    expect(compared.length).toBe(expr.split('beaconchain:threshold:').length - 1);
    const shipped = (name = ''): string => shippedIn(name, rules.find(({ record }) => record === name)?.expr ?? '');
    expect(compared.filter(([, name, otherwise]) => shipped(name) !== otherwise)).toEqual([]);
  },
);

it('a rule reads only records of its own group, because Prometheus evaluates other groups at other times', () => {
  const { groups } = Groups.parse(parse(readFileSync(String(RULE_FILES[0]), 'utf8'), { maxAliasCount: -1 }));
  const outside = groups.flatMap((group) => {
    const others = groups.filter((other) => other !== group).flatMap((other) => other.rules);
    const theirs = others.flatMap(({ record = '' }) =>
      record.startsWith('beaconchain:threshold:') ? [] : record || [],
    );
    return group.rules.flatMap(({ expr }) => theirs.filter((name) => namesIn(expr).metrics.includes(name)));
  });
  expect(outside).toEqual([]);
});

it.each(rules)(
  '$alert $record works if Prometheus has renamed labels of the exporter',
  ({ expr, annotations = {} }) => {
    const ofTargets = ['machine', 'process', 'source', 'chain', 'validator', 'group'];
    for (const [, labels = ''] of expr.matchAll(/\b(?:on|by|without|ignoring) \(([^)]*)\)/g)) {
      const names = labels.split(', ');
      expect(names.filter((name) => ofTargets.includes(name) && !names.includes(`exported_${name}`))).toEqual([]);
    }
    const words = Object.values(annotations)
      .join(' ')
      .replaceAll(/or \$labels\.exported_(\w+) \$labels\.\1/g, '');
    const queried = words.replaceAll(/printf "[^"]*exported_[^"]*"(?: \$?[.\w]+)+/g, '');
    expect(ofTargets.filter((name) => queried.includes(`$labels.${name}`))).toEqual([]);
  },
);

it('every range is longer than two minutes, and a range over a recorded series takes its maximum', () => {
  // Whether there are replicas is asked once a minute. A threshold of one's own is its last value.
  const ranging = rules.filter(({ record }) => record !== 'beaconchain:replicas' && !record?.includes(':threshold:'));
  const ranges = ranging.flatMap(({ expr }) => [...expr.matchAll(/(\w[\w:]*)(?:\{[^}]*\})?\[([^\]]+)\]/g)]);
  expect(ranges.length).toBe(ranging.flatMap(({ expr }) => [...expr.matchAll(/\[/g)]).length);
  expect(ranges.filter(([, , range]) => !((parseDuration(range ?? '') ?? 0) > 2 * MINUTE))).toEqual([]);
  // Those have a sample at each evaluation, so at both edges of a range that is a multiple of the interval. A highest value
  // may be one evaluation older.
  const highest = rules.flatMap(({ expr }) => [...expr.matchAll(/max_over_time\(([\w:]+)\[/g)].map(([, name]) => name));
  expect(ranges.filter(([, name]) => name?.includes(':') && !highest.includes(name))).toEqual([]);
});

it.each(rules.map((rule) => [rule.alert ?? rule.record, rule.expr]))(
  '%s names only what is exposed, and rates only counters',
  (_, expr) => {
    expect(unknownNames(expr ?? '', [...recorded, ...own])).toEqual([]);
    expect(ratedGauges(expr ?? '')).toEqual([]);
  },
);

it('every recorded series is used, and rules.yaml uses none of the other file', () => {
  const used = new Set(rules.flatMap(({ expr }) => namesIn(expr).metrics));
  const links = alerts.map(({ annotations = {} }) => annotations['runbook_url']).join();
  expect(recorded.filter((name) => !used.has(name) && !links.includes(name))).toEqual([]);
  const [own, others] = RULE_FILES.map((file) => readFileSync(file, 'utf8'));
  const ofOthers = recorded.filter((name) => others?.includes(`record: ${name}\n`));
  expect(ofOthers.length).toBeGreaterThan(0);
  expect(ofOthers.filter((name) => own?.includes(name))).toEqual([]);
});

it('the runbook has exactly one section for each alert', () => {
  const sections = [...RUNBOOK.matchAll(/^### (\S+)$/gm)].map(([, name]) => name);
  // An alert with two severities has two rules.
  expect(sections.toSorted()).toEqual([...new Set(names)].sort());
});

it.each(alerts)('$alert has severity, subject, known labels in its text, and a link to its runbook section', (rule) => {
  const { alert, expr, labels, annotations = {} } = rule;
  expect(alert).toMatch(/^Beaconchain([A-Z][a-z]*)+$/);
  const ofTrouble = {
    severity: expect.stringMatching(/^(critical|warning|info)$/),
    subject: expect.stringMatching(/^(machine|chain|returns|exporter)$/),
  };
  const ofShared = OF_PROCESS.includes(alert) ? ofTrouble : { ...ofTrouble, instance: INSTANCE };
  expect(labels).toEqual(alert === WATCHDOG ? { severity: 'none', subject: 'delivery' } : ofShared);
  expect(expr.includes('unless on (job, instance) beaconchain:replica:quiet')).toBe(labels?.instance !== undefined);
  const { explorer_url: explorer, ...words } = annotations;
  expect(Object.keys(words)).toEqual(['summary', 'description', 'runbook_url']);
  const [urls, otherwise] = ADDRESSES[alert] ?? [
    'printf "beaconchain_exporter_external_url_info{job=%q, instance=%q} or beaconchain:exporter_url:running{job=%[1]q, instance=%[2]q}" $labels.job $labels.instance',
  ];
  const address = `{{ with ${urls} | query }}{{ . | first | label "url" }}{{ else }}${otherwise ?? 'http://{{ $labels.instance }}'}{{ end }}`;
  expect(words['runbook_url']).toBe(`${address}/docs/alerts#${alert.toLowerCase()}`);
  const used = [
    ...Object.values(annotations)
      .join(' ')
      .matchAll(/\$labels\.(\w+)/g),
  ].map(([, label = '']) => label);
  expect(used.filter((label) => !ALL_LABELS.has(label))).toEqual([]);
  if (words['summary']?.includes('$labels.validator'))
    expect(explorer).toContain('validator/{{ or $labels.exported_validator $labels.validator }}');
});

it('the alert that always fires depends on no series', () => {
  expect(rules.find(({ alert }) => alert === WATCHDOG)?.expr).toBe('vector(1)');
});
