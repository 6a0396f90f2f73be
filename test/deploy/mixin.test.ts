import { mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { temporaryFolder } from '../support/files/files.ts';
import { areMissing, JSONNET, outputOf } from '../support/tools/tools.ts';

const DASHBOARDS = 'deploy/grafana/dashboards';
const FILES = ['rules', 'rules-extra'] as const;
const RULES = FILES.map((name) => parse(readFileSync(`deploy/prometheus/${name}.yaml`, 'utf8')));

/** The mixin with the rules as JSON: the jsonnet of Debian cannot parse YAML with texts of several lines. */
function mixin(): { dashboards: object; alerts: { groups: unknown[] }; rules: { groups: unknown[] } } {
  const folder = temporaryFolder();
  const text = readFileSync('deploy/mixin.libsonnet', 'utf8');
  const asJson = text.replace(/std\.parseYaml\(importstr '([\w/-]+)\.yaml'\)/g, "(import '$1.json')");
  expect(asJson).not.toBe(text);
  writeFileSync(join(folder, 'mixin.libsonnet'), asJson);
  symlinkSync(resolve('deploy/grafana'), join(folder, 'grafana'));
  mkdirSync(join(folder, 'prometheus'));
  for (const [i, name] of FILES.entries()) {
    writeFileSync(join(folder, `prometheus/${name}.json`), JSON.stringify(RULES[i]));
  }
  const fields = '{dashboards: m.grafanaDashboards, alerts: m.prometheusAlerts, rules: m.prometheusRules}';
  const code = `local m = import '${join(folder, 'mixin.libsonnet')}'; ${fields}`;
  return JSON.parse(outputOf(JSONNET, ['--exec', code]));
}

describe.skipIf(areMissing(JSONNET))('deploy/mixin', () => {
  it('has all dashboards unchanged', () => {
    const files = readdirSync(DASHBOARDS).map((name) => [
      name,
      JSON.parse(readFileSync(join(DASHBOARDS, name), 'utf8')),
    ]);
    expect(mixin().dashboards).toEqual(Object.fromEntries(files));
  });

  it('has every group of rules once and unchanged, alerts apart', () => {
    const { alerts, rules } = mixin();
    const groups = [...rules.groups, ...alerts.groups];
    expect(groups).toHaveLength(new Set(groups.map((group) => JSON.stringify(group))).size);
    expect(new Set(groups)).toEqual(new Set(RULES.flatMap((file) => file.groups)));
    expect(rules.groups.length).toBeGreaterThan(0);
    expect(JSON.stringify(rules.groups)).not.toContain('"alert":');
    expect(alerts.groups.filter((group) => !JSON.stringify(group).includes('"alert":'))).toEqual([]);
  });
});
