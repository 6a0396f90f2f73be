import { execFile } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { parse, stringify } from 'yaml';
import { z } from 'zod';
import { slotUrl, validatorUrl } from '../src/lib/chain.ts';
import { ALL_LABELS, unknownNames } from './support/exposed.ts';
import { temporaryFolder } from './support/files.ts';
import { namesIn, ratedGauges } from './support/promql.ts';
import { areMissing, PROMTOOL, runTool } from './support/tools.ts';

const ROOT = join(import.meta.dirname, '..');
const RULES = join(ROOT, 'deploy/prometheus/rules.yaml');
const TESTS = join(ROOT, 'deploy/prometheus/rules.test.yaml');
const RUNBOOK = readFileSync(join(ROOT, 'docs/alerts.md'), 'utf8');

const Rule = z.object({
  record: z.string().optional(),
  alert: z.string().optional(),
  expr: z.string(),
  labels: z.record(z.string(), z.string()).optional(),
  annotations: z.record(z.string(), z.string()).optional(),
});
const rules = z
  .object({ groups: z.array(z.object({ rules: z.array(Rule) })) })
  .parse(parse(readFileSync(RULES, 'utf8')))
  .groups.flatMap((group) => group.rules);
const alerts = rules.flatMap((rule) => (rule.alert ? [{ ...rule, alert: rule.alert }] : []));
const names = alerts.map(({ alert }) => alert);
/** Always fires. */
const WATCHDOG = 'BeaconchainWatchdog';
const recorded = rules.flatMap(({ record }) => record ?? []);

const Sample = z.object({ labels: z.string() });
const Check = z.object({ exp_samples: z.array(Sample) });
const cases = z
  .object({ tests: z.array(z.object({ name: z.string(), promql_expr_test: z.array(Check) })) })
  .parse(parse(readFileSync(TESTS, 'utf8'))).tests;

/** Alerts that a case's name begins with: "A, B: silent when ...". */
function subjectsOf(name: string): string[] {
  return name.split(':')[0]?.split(', ') ?? [];
}

const MINUTE = 60_000;
const UNITS: Readonly<Record<string, number>> = { m: MINUTE, h: 60 * MINUTE, d: 1440 * MINUTE };

function millisecondsOf(range: string): number {
  const [, count, unit = ''] = /^(\d+)([mhd])$/.exec(range) ?? [];
  return Number(count) * (UNITS[unit] ?? Number.NaN);
}

/** Samples are at whole milliseconds: without its first one a closed range holds what an open one does. */
function openRanges(promql: string): string {
  return promql.replace(/\[(\d+[mhd])\]/g, (_, range: string) => `[${millisecondsOf(range) - 1}ms]`);
}

describe('rules', () => {
  it.skipIf(areMissing(PROMTOOL))('promtool accepts the rules', () => {
    expect(runTool(PROMTOOL, ['check', 'rules', RULES], '')).toMatchObject({ status: 0, stderr: '' });
  });

  describe.skipIf(areMissing(PROMTOOL))('their cases', () => {
    it.concurrent.each([
      ['each alert fires on its cases and stays silent on its counter-cases', (text: string) => text],
      ['they do the same where a range leaves out its start, as in Prometheus 3', openRanges],
    ] as const)('%s', async (_, written) => {
      const folder = temporaryFolder();
      for (const file of [RULES, TESTS]) {
        writeFileSync(join(folder, basename(file)), written(readFileSync(file, 'utf8')));
      }
      // Not runTool: it takes longer than a worker may be silent towards vitest.
      const { stdout } = await promisify(execFile)(PROMTOOL.command, ['test', 'rules', join(folder, basename(TESTS))]);
      expect(stdout).toContain('SUCCESS');
    });
  });

  it.skipIf(areMissing(PROMTOOL))(
    'the words of an alert name the threshold that it has, also if a user changed it',
    () => {
      const folder = temporaryFolder();
      const changed = readFileSync(RULES, 'utf8')
        .replace('"4 * 86400"', '"86400 / 2"')
        .replace('"7 * 86400"', '"86400"');
      writeFileSync(join(folder, 'rules.yaml'), changed);
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
      writeFileSync(join(folder, 'test.yaml'), stringify({ rule_files: ['rules.yaml'], tests: [test] }));
      const { stdout, stderr } = runTool(PROMTOOL, ['test', 'rules', join(folder, 'test.yaml')], '');
      for (const [, words] of expected) expect(`${stdout}${stderr}`).toContain(words);
    },
  );

  it('a range leaves out its start: [2m] becomes a millisecond less', () => {
    expect(openRanges('rate(a[2m]) + rate(b{c="d"}[1d] offset 1h)')).toBe(
      'rate(a[119999ms]) + rate(b{c="d"}[86399999ms] offset 1h)',
    );
  });

  it('every range is longer than two scrapes of a minute, and none is over a recorded series or a subquery', () => {
    const ranges = rules.flatMap(({ expr }) => [...expr.matchAll(/(\w[\w:]*)(?:\{[^}]*\})?\[([^\]]+)\]/g)]);
    expect(ranges.length).toBe(rules.flatMap(({ expr }) => [...expr.matchAll(/\[/g)]).length);
    expect(ranges.filter(([, , range]) => !(millisecondsOf(range ?? '') > 2 * MINUTE))).toEqual([]);
    // Those have a sample at each evaluation, so at both edges of a range that is a multiple of the interval.
    expect(ranges.filter(([, name]) => name?.includes(':'))).toEqual([]);
  });

  it.each(rules.map((rule) => [rule.alert ?? rule.record, rule.expr]))(
    '%s names only what is exposed, and rates only counters',
    (_, expr) => {
      expect(unknownNames(expr ?? '', recorded)).toEqual([]);
      expect(ratedGauges(expr ?? '')).toEqual([]);
    },
  );

  it('a metric, a selected label, its value or a grouping label that is not exposed is found', () => {
    const expr =
      'sum by (pod) (beaconchain_nothing) > on (job) beaconchain_source_up{machine="a", source=~"machines|c"}';
    expect(unknownNames(expr, recorded)).toEqual(['beaconchain_nothing', 'beaconchain_source_up{machine}', 'c', 'pod']);
  });

  it('every recorded series is used', () => {
    const used = new Set(rules.flatMap(({ expr }) => namesIn(expr).metrics));
    expect(recorded.filter((name) => !used.has(name))).toEqual([]);
  });

  it.each(names.filter((name) => name !== WATCHDOG))(
    '%s has a case in which it fires and one in which it is silent',
    (name) => {
      const fires = ({ labels }: { labels: string }): boolean => labels.includes(`"${name}"`);
      const checks = cases.filter((one) => subjectsOf(one.name).includes(name)).flatMap((one) => one.promql_expr_test);
      expect(checks.some((check) => check.exp_samples.some(fires))).toBe(true);
      expect(checks.some((check) => !check.exp_samples.some(fires))).toBe(true);
    },
  );

  it('the BeaconchainWatchdog depends on no series, and every case about trouble leaves it out', () => {
    expect(alerts.find(({ alert }) => alert === WATCHDOG)?.expr).toBe('vector(1)');
    const others = cases.filter((one) => !subjectsOf(one.name).includes(WATCHDOG));
    const samples = others.flatMap((one) => one.promql_expr_test.flatMap((check) => check.exp_samples));
    expect(samples.filter(({ labels }) => labels.includes(WATCHDOG))).toEqual([]);
  });

  it('no case is about an alert that does not exist', () => {
    expect(cases.flatMap((one) => subjectsOf(one.name)).filter((name) => !names.includes(name))).toEqual([]);
  });

  it('the runbook has one section for each alert, in the order of the rules, and no others', () => {
    const sections = [...RUNBOOK.matchAll(/^### (\S+)$/gm)].map(([, name]) => name);
    expect(sections).toEqual(names);
  });

  it.each(alerts)('$alert has severity, subject, words and its runbook section', ({ alert, labels, annotations }) => {
    expect(alert).toMatch(/^([A-Z][a-z]*)+$/);
    const ofTrouble = {
      severity: expect.stringMatching(/^(critical|warning|info)$/),
      subject: expect.stringMatching(/^(machine|chain|returns|exporter)$/),
    };
    expect(labels).toEqual(alert === WATCHDOG ? { severity: 'none', subject: 'delivery' } : ofTrouble);
    const { explorer_url: _, ...words } = annotations ?? {};
    expect(Object.keys(words)).toEqual(['summary', 'description', 'runbook_url']);
    expect(annotations?.['runbook_url']).toMatch(new RegExp(`\\}\\}/docs/alerts#${alert.toLowerCase()}$`));
  });

  it('alerts that know a validator or a slot link it in the explorer, each chain on its own host', () => {
    const linked = alerts.filter(({ annotations }) => annotations?.['explorer_url']).map(({ alert }) => alert);
    const naming = alerts.filter(({ annotations }) => annotations?.['summary']?.includes('$labels.validator'));
    expect(linked).toEqual(expect.arrayContaining(naming.map(({ alert }) => alert)));
    expect(linked).toEqual(expect.arrayContaining(['BeaconchainAttesterSlashing', 'BeaconchainProposerSlashing']));
    const rendered = readFileSync(TESTS, 'utf8');
    for (const url of [validatorUrl('mainnet', 7), validatorUrl('hoodi', 8), slotUrl('hoodi', 249)]) {
      expect(rendered).toContain(url);
    }
  });

  it.each(alerts)('the words of $alert use labels that exist', ({ annotations }) => {
    const used = [
      ...Object.values(annotations ?? {})
        .join(' ')
        .matchAll(/\$labels\.(\w+)/g),
    ].map(([, label]) => label);
    expect(used.filter((label) => !ALL_LABELS.has(label ?? ''))).toEqual([]);
  });
});
