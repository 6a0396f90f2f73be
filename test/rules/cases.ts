import { execFile } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { parse, stringify } from 'yaml';
import { z } from 'zod';
import { parseDuration } from '../../src/toolkit/lib/duration.ts';
import { temporaryFolder } from '../support/files/files.ts';
import { PROMTOOL } from '../support/tools/tools.ts';

const Series = z.object({ series: z.string(), values: z.string() });
const Labels = z.record(z.string(), z.string());
const Check = z.strictObject({
  expr: z.string(),
  eval_time: z.string(),
  exp_samples: z.array(z.object({ labels: z.string(), value: z.coerce.number() })),
});
const Words = z.strictObject({
  alertname: z.string(),
  eval_time: z.string(),
  exp_alerts: z.array(z.looseObject({ exp_labels: Labels })),
});
const Case = z.strictObject({
  name: z.string(),
  interval: z.string(),
  input_series: z.array(Series).default([]),
  promql_expr_test: z.array(Check),
  alert_rule_test: z.array(Words).default([]),
});
export type Case = z.infer<typeof Case>;
const CaseFile = z.looseObject({ rule_files: z.array(z.string()), tests: z.array(Case) });

/** What promtool finds wrong in the cases of a file, changed so. */
export async function complaintsOf(file: string, change: (cases: readonly Case[]) => Case[]): Promise<string> {
  // All of it is text: 0x60 is not a number here.
  const text = parse(readFileSync(file, 'utf8'), { maxAliasCount: -1, schema: 'failsafe', merge: true });
  const { rule_files, tests, ...settings } = CaseFile.parse(text);
  const rules = rule_files.map((one) => resolve(dirname(file), one));
  const path = join(temporaryFolder(), basename(file));
  const changed = { ...settings, rule_files: rules, tests: change(tests) };
  writeFileSync(path, stringify(changed, { aliasDuplicateObjects: false, lineWidth: 0 }));
  // Not runTool: it takes longer than a worker may be silent towards vitest.
  const ended = await promisify(execFile)(PROMTOOL.command, ['test', 'rules', path]).catch((error) => error);
  return ended.stderr;
}

/** About a whole job or about none. */
const OF_JOB = ['BeaconchainExporterDown', 'BeaconchainReplicaDown', 'BeaconchainNoLeader', 'BeaconchainWatchdog'];

/**
 * The same cases, of which many stand beside each other in one, each with jobs of its own. No rule mixes jobs, and the time
 * of promtool goes into rules, not into series: this takes a third of it.
 */
export function joined(cases: readonly Case[]): Case[] {
  const groups: Case[][] = [];
  for (const one of cases.toSorted((a, b) => endOf(b) - endOf(a))) {
    const group = groups.find((others) => others.every((other) => goTogether(one, other)));
    if (group) group.push(one);
    else groups.push([one]);
  }
  return groups.map((group) => {
    const [first, ...others] = group.map((one, i) => (group.length > 1 ? withOwnJobs(one, `case${i}-`) : one));
    return others.reduce(
      (all, one) => ({
        name: `${all.name}\n${one.name}`,
        interval: all.interval,
        input_series: [...all.input_series, ...one.input_series],
        promql_expr_test: [...all.promql_expr_test, ...one.promql_expr_test],
        alert_rule_test: [...all.alert_rule_test, ...one.alert_rule_test],
      }),
      first as Case,
    );
  });
}

function endOf({ promql_expr_test: checks, alert_rule_test: words }: Case): number {
  return Math.max(...[...checks, ...words].map(({ eval_time: time }) => parseDuration(time) ?? 0));
}

/** Whether both can stand in one case. Words are those of all alerts of a name. */
function goTogether(a: Case, b: Case): boolean {
  const isSaid = (one: Case, other: Case): boolean =>
    one.alert_rule_test.some(({ alertname }) => JSON.stringify(other).includes(alertname));
  return a.interval === b.interval && [a, b].every(canBeJoined) && !isSaid(a, b) && !isSaid(b, a);
}

function canBeJoined({ name, input_series: series, promql_expr_test: checks }: Case): boolean {
  return (
    !OF_JOB.some((alert) => name.includes(alert)) &&
    series.every((one) => one.series.includes('{job="')) &&
    checks.every(({ expr }) => expr.split('{').length === 2 && expr.includes('ALERTS{') && !expr.includes('job'))
  );
}

function withOwnJobs(one: Case, prefix: string): Case {
  return {
    ...one,
    input_series: one.input_series.map(({ series, values }) => ({
      series: series.replace('{job="', `{job="${prefix}`),
      values,
    })),
    promql_expr_test: one.promql_expr_test.map(({ expr, ...check }) => ({
      ...check,
      expr: expr.replace('ALERTS{', `ALERTS{job=~"${prefix}.*", `),
    })),
    alert_rule_test: one.alert_rule_test.map(({ exp_alerts, ...words }) => ({
      ...words,
      exp_alerts: exp_alerts.map(({ exp_labels, ...alert }) => {
        const job = `${prefix}${exp_labels['job']}`;
        // Replicas are named by their job.
        const isOfReplicas = exp_labels['instance'] === exp_labels['job'];
        return { ...alert, exp_labels: { ...exp_labels, job, ...(isOfReplicas && { instance: job }) } };
      }),
    })),
  };
}
