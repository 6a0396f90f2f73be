import { execFile } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { beforeAll, describe, expect, it } from 'vitest';
import { parse, stringify } from 'yaml';
import { temporaryFolder } from '../support/files.ts';
import { areMissing, PROMTOOL } from '../support/tools.ts';

const FOLDER = 'deploy/prometheus';
/** Their link is that of another exporter where the alert has no instance, or its instance is down. */
const OF_NO_INSTANCE = ['BeaconchainExporterDown', 'BeaconchainNoLeader', 'BeaconchainWatchdog'];

interface Case {
  readonly promql_expr_test: readonly {
    readonly eval_time: string;
    readonly exp_samples: readonly { readonly labels: string }[];
  }[];
}

interface Rules {
  readonly groups: readonly { readonly rules: readonly { readonly alert?: string }[] }[];
}

const rules: Rules = parse(readFileSync(join(FOLDER, 'rules.yaml'), 'utf8'));
const names = rules.groups.flatMap((group) => group.rules.flatMap(({ alert }) => alert ?? []));

/** A case of rules.test.yaml in which the alert fires, when it is asked what fires, and no answer is expected. */
function askingFor(alert: string, cases: readonly Case[]): object {
  for (const { promql_expr_test: checks, ...one } of cases) {
    const check = checks.find(({ exp_samples }) => exp_samples.some(({ labels }) => labels.includes(`"${alert}"`)));
    if (!check) continue;
    const asked = [{ eval_time: check.eval_time, alertname: alert, exp_alerts: [] }];
    return { ...one, name: alert, promql_expr_test: [], alert_rule_test: asked };
  }
  throw new Error(`no case in which ${alert} fires`);
}

/** What promtool says of alerts that were not expected: name, instance and link of each. */
function saidOf(output: string): { alert: string; instance: string | undefined; link: string | undefined }[] {
  return [...output.matchAll(/Labels:\{(alertname=.*)\}\n\s*Annotations:\{(.*)\}/g)].map(([, labels, annotations]) => ({
    alert: /alertname="([^"]*)"/.exec(labels ?? '')?.[1] ?? '',
    instance: /instance="([^"]*)"/.exec(labels ?? '')?.[1],
    link: /runbook_url="([^"]*)"/.exec(annotations ?? '')?.[1],
  }));
}

describe.skipIf(areMissing(PROMTOOL))('deploy/runbook-links', () => {
  let said: ReturnType<typeof saidOf>;

  beforeAll(async () => {
    // All values as text: `0x60` is 61 zeros, not a number.
    const text = readFileSync(join(FOLDER, 'rules.test.yaml'), 'utf8');
    const { tests, ...settings }: { tests: Case[] } = parse(text, { schema: 'failsafe' });
    const folder = temporaryFolder();
    writeFileSync(join(folder, 'rules.yaml'), stringify(rules));
    const file = join(folder, 'rules.test.yaml');
    writeFileSync(file, stringify({ ...settings, tests: names.map((name) => askingFor(name, tests)) }));
    const { stdout, stderr } = await promisify(execFile)(PROMTOOL.command, ['test', 'rules', file]).catch(
      (failure: { stdout: string; stderr: string }) => failure,
    );
    said = saidOf(stdout + stderr);
  }, 180_000);

  it('every alert, by its own expression, links its section on the exporter that it is about', () => {
    expect([...new Set(said.map(({ alert }) => alert))].toSorted()).toEqual(names.toSorted());
    for (const { alert, instance, link } of said.filter((one) => !OF_NO_INSTANCE.includes(one.alert))) {
      expect(instance, alert).toMatch(/^[a-z]:1$/);
      expect(link).toBe(`http://${instance}/docs/alerts#${alert.toLowerCase()}`);
    }
  });
});
