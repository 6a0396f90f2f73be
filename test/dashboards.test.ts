import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, it } from 'vitest';
import { parse } from 'yaml';
import { dashboardFiles, FOLDER } from '../scripts/dashboards.ts';
import { RECORDED_THRESHOLDS } from './support/contract/alert-rules.ts';
import { ALL_LABELS, unknownNames } from './support/contract/exposed.ts';
import { DASHBOARDS, interpolate, QUERIES } from './support/contract/grafana.ts';
import { typeMistakes } from './support/contract/grafana-types.ts';
import { mistakesIn, namesIn, ratedGauges } from './support/contract/promql.ts';

const panels = DASHBOARDS.flatMap((one) => one.panels.map((panel) => ({ ...panel, dashboard: one.title })));
const shown = panels.filter(({ type }) => type !== 'row' && type !== 'text');

it('match their sources (else: node scripts/dashboards.ts)', () => {
  const files = dashboardFiles();
  expect(readdirSync(FOLDER).sort()).toEqual([...files.keys()].sort());
  for (const [name, text] of files) expect(readFileSync(join(FOLDER, name), 'utf8'), name).toBe(text);
});

it("match Grafana's types, also where the builders accept anything", () => {
  expect(typeMistakes([...dashboardFiles().values()])).toBe('');
  const [text = expect.fail()] = dashboardFiles().values();
  for (const good of ['"graphMode": "none"', '"type": "color-text"', '"id": "custom.width"', '"format": "table"']) {
    expect(typeMistakes([text.replace(good, good.replace(/"$/, 's"'))])).toContain('error TS');
  }
});

it('are where the provisioning looks for them, in one folder of Grafana', () => {
  const file = 'deploy/grafana/provisioning/dashboards/beaconchain.yaml';
  const { folder, options } = parse(readFileSync(file, 'utf8')).providers[0];
  for (const [place, part] of [
    ['deploy/grafana/kustomization.yaml', `grafana_folder: ${folder}\n`],
    ['deploy/compose/compose.yaml', `../grafana/dashboards:${options.path}:ro\n`],
    ['docs/dashboards.md', `folder\n\`${folder}\``],
    ['docs/dashboards.md', `cp -r grafana/dashboards ${dirname(options.path)}/\n`],
  ] as const) {
    expect(readFileSync(place, 'utf8')).toContain(part);
  }
});

it.each(QUERIES)(
  '$name: parses, names only what is exposed, rates only counters, leaves no variable open',
  ({ expr }) => {
    const sent = interpolate(expr);
    expect(sent).not.toMatch(/\$(?!\d)[\w{]/);
    expect(mistakesIn(sent)).toEqual([]);
    expect(unknownNames(sent, RECORDED_THRESHOLDS)).toEqual([]);
    expect(ratedGauges(sent)).toEqual([]);
  },
);

it('the checks find a mistake, a rated gauge, and unknown metrics, labels and values', () => {
  expect(mistakesIn('sum(up')).not.toEqual([]);
  expect(mistakesIn('up{job=~"a}')).not.toEqual([]);
  expect(ratedGauges('rate(a_total[5m]) / increase(\n  b_seconds{c="d"}[5m])')).toEqual(['b_seconds']);
  const expr =
    'sum by (rack) (beaconchain_machine_peers{chain=~`.*`, pod=~`a"|b}`} + beaconchain_gone{source=~"machines|c"})';
  expect(unknownNames(expr)).toEqual([
    'beaconchain_gone',
    'beaconchain_machine_peers{pod}',
    'beaconchain_gone{source}',
    'c',
    'rack',
  ]);
});

it('the menus query existing metrics and labels', () => {
  const asked = DASHBOARDS.flatMap(({ templating }) => templating.list.flatMap(({ definition }) => definition ?? []));
  expect(asked.length).toBeGreaterThan(DASHBOARDS.length);
  for (const definition of asked) {
    const [, selector = '', label = ''] = /^label_values\((.*), (\w+)\)$/.exec(interpolate(definition)) ?? [];
    const named = namesIn(selector.replace(/^\{__name__=~"([\w|]+)", /, (_, names) => `${names}{`));
    expect(named.metrics.flatMap((name) => unknownNames(name))).toEqual([]);
    expect([label, ...named.selected.map(([, one]) => one)].filter((one) => !ALL_LABELS.has(one))).toEqual([]);
  }
});

it.each(DASHBOARDS)('$title has a description, and its panels do not overlap', ({ uid, description, panels }) => {
  expect(uid).toMatch(/^beaconchain-[a-z]+$/);
  expect(description.length).toBeGreaterThan(20);
  const taken = new Set<string>();
  for (const { title, gridPos } of panels) {
    expect(gridPos.x + gridPos.w, title).toBeLessThanOrEqual(24);
    for (let x = gridPos.x; x < gridPos.x + gridPos.w; x += 1) {
      for (let y = gridPos.y; y < gridPos.y + gridPos.h; y += 1) {
        expect(taken.has(`${x} ${y}`), `${title} at ${x} ${y}`).toBe(false);
        taken.add(`${x} ${y}`);
      }
    }
  }
});

it.each(shown)('$dashboard, $title: is explained and asks the chosen Prometheus', ({ description, datasource }) => {
  expect(description?.length).toBeGreaterThan(5);
  // biome-ignore lint/suspicious/noTemplateCurlyInString: Grafana's variable.
  expect(datasource?.uid).toBe('${datasource}');
});

it.each(shown.filter(({ type }) => type === 'stat' || type === 'timeseries'))(
  '$dashboard, $title: has a unit, and lines have their last, mean and worst value',
  ({ type, fieldConfig, options }) => {
    expect(fieldConfig?.defaults.unit).toBeDefined();
    if (type !== 'timeseries' || fieldConfig?.defaults.custom?.drawStyle === 'bars') return;
    expect(['max', 'min']).toContain(options?.legend?.calcs.at(-1));
    expect(options?.legend?.calcs.slice(0, -1)).toEqual(['lastNotNull', 'mean']);
  },
);

it('the dashboard of the returns shows the terms of use', () => {
  const text = panels.filter(({ dashboard }) => dashboard === 'Network returns').map(({ options }) => options?.content);
  expect(text.join(' ')).toContain('Not a financial benchmark');
});
