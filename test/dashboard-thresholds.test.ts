import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { stringify } from 'yaml';
import * as limits from '../deploy/grafana/src/limits.ts';
import { rules, severityOf, shippedThreshold, threshold } from '../deploy/grafana/src/rules.ts';
import { dashboardFiles } from '../scripts/dashboards.ts';
import { thresholdsIn } from './support/alert-rules.ts';
import { temporaryFolder } from './support/files.ts';
import { DASHBOARDS, interpolate } from './support/grafana.ts';
import { areMissing, PROMTOOL, runTool } from './support/tools.ts';

const RULES = join(import.meta.dirname, '../deploy/prometheus/rules.yaml');
const LIMITS = Object.values(limits).filter((one) => typeof one === 'object');
const OF_NODE_B = 'job="a", instance="a:1", chain="mainnet", machine="node-b"';

/** The query of a panel whose legend this is. */
function queryOf(dashboard: string, panel: string, legend: string): string {
  const { targets = [] } =
    DASHBOARDS.find(({ title }) => title === dashboard)?.panels.find(({ title }) => title === panel) ?? {};
  const found = targets.find(({ legendFormat, refId }) => legendFormat === legend || refId === legend);
  if (found === undefined) throw new TypeError(`${dashboard}, ${panel} has no query ${legend}`);
  return interpolate(found.expr);
}

interface Expected {
  readonly expr: string;
  readonly samples: readonly { readonly labels: string; readonly value: number }[];
}

/** What promtool says of expressions where a machine has 40 % of its disk free. */
function judge(folder: string, ruleFiles: readonly string[], expected: readonly Expected[]): unknown {
  const gauge = (name: string, value: number): object => ({
    series: `beaconchain_machine_${name}{${OF_NODE_B}}`,
    values: `${value}x20`,
  });
  const test = {
    interval: '1m',
    input_series: [gauge('disk_total_bytes', 100), gauge('disk_free_bytes', 40)],
    promql_expr_test: expected.map(({ expr, samples }) => ({ expr, eval_time: '15m', exp_samples: samples })),
  };
  const file = join(folder, 'thresholds.test.yaml');
  writeFileSync(file, stringify({ rule_files: ruleFiles, evaluation_interval: '1m', tests: [test] }));
  return runTool(PROMTOOL, ['test', 'rules', file], '');
}

describe('thresholds of the dashboards', () => {
  it.each(LIMITS)('$alert begins where its alert does', ({ alert, than }) => {
    const rule = rules.find((one) => one.alert === alert);
    expect(thresholdsIn(rule?.expr ?? '')).toEqual(expect.arrayContaining(thresholdsIn(than)));
    expect(thresholdsIn(than)).toHaveLength(1);
  });

  it('no panel has a limit of its own, apart from counts of what is bad', () => {
    for (const [name, text] of dashboardFiles()) {
      const steps = [...text.matchAll(/"value": (-?[\d.e]+),\s+"color"/g)].map(([, value]) => Number(value));
      expect(
        [...new Set(steps)].filter((value) => ![0, 0.5, 1].includes(value)),
        name,
      ).toEqual([]);
    }
  });

  it('a name that the rules do not have is an error', () => {
    expect(shippedThreshold('daily_return_late_seconds')).toBe(6 * 3600);
    expect(() => threshold('gone')).toThrow('no record beaconchain:threshold:gone');
    expect(() => severityOf('Gone')).toThrow('no alert Gone');
  });

  const LINE = queryOf('Staking fleet', 'Disk free', 'alert BeaconchainDiskAlmostFull');
  const GREEN = queryOf('Staking machine', 'Disk free', 'A');
  const RED = queryOf('Staking machine', 'Disk free', 'B');
  const IS_FULL = 'count(ALERTS{alertname="BeaconchainDiskAlmostFull", alertstate="firing"})';
  // The condition holds from the first evaluation on, at 0.
  const FIRING = queryOf('Staking fleet', 'Firing alerts', 'A');
  const NAMED = '{severity="critical", alertname="BeaconchainDiskAlmostFull", chain="mainnet"}';
  const value = { labels: '{chain="mainnet", machine="node-b"}', value: 0.4 };

  it.skipIf(areMissing(PROMTOOL))('a number that is changed in the rules moves alert, line and colour', () => {
    const folder = temporaryFolder();
    const shipped = readFileSync(RULES, 'utf8');
    const changed = shipped.replace(/(record: beaconchain:threshold:disk_free_ratio\s+expr: )"0.10"/, '$1"0.50"');
    expect(changed).not.toBe(shipped);
    writeFileSync(join(folder, 'rules.yaml'), changed);
    expect(
      judge(
        folder,
        ['rules.yaml'],
        [
          { expr: IS_FULL, samples: [{ labels: '{}', value: 1 }] },
          { expr: LINE, samples: [{ labels: '{}', value: 0.5 }] },
          { expr: GREEN, samples: [] },
          { expr: RED, samples: [value] },
          { expr: `count by (severity, alertname, chain) (${FIRING})`, samples: [{ labels: NAMED, value: 1 }] },
        ],
      ),
    ).toMatchObject({ status: 0, stderr: '' });
  });

  it.skipIf(areMissing(PROMTOOL)).each([
    ['as shipped', [RULES]],
    ['without the rules', []],
  ])('%s the shipped number counts', (_, ruleFiles) => {
    expect(
      judge(temporaryFolder(), ruleFiles, [
        { expr: IS_FULL, samples: [] },
        { expr: LINE, samples: [{ labels: '{}', value: 0.1 }] },
        { expr: GREEN, samples: [value] },
        { expr: RED, samples: [] },
      ]),
    ).toMatchObject({ status: 0, stderr: '' });
  });
});
