// biome-ignore-all lint/suspicious/noTemplateCurlyInString: Grafana's variables.
import { readFileSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import type { ValueMapping } from '@grafana/grafana-foundation-sdk/dashboard';
import { describe, expect, it } from 'vitest';
import { stringify } from 'yaml';
import * as limits from '../deploy/grafana/src/limits.ts';
import { STATE, STATES } from '../deploy/grafana/src/machine-state.ts';
import { RULE_FILES, rules } from '../deploy/grafana/src/rules.ts';
import { DUE_IN, SOURCE_STATE, SOURCE_STATES } from '../deploy/grafana/src/source-state.ts';
import { dashboardFiles } from '../scripts/dashboards.ts';
import { MACHINE_CONDITIONS } from '../src/sources/conditions.ts';
import { thresholdsIn } from './support/contract/alert-rules.ts';
import { DASHBOARDS, interpolate } from './support/contract/grafana.ts';
import { temporaryFolder } from './support/files/files.ts';
import { areMissing, PROMTOOL, runTool } from './support/tools/tools.ts';

const MINUTES = 60;
const NOW = MINUTES * 60;
/** Seconds between scrapes that the dashboards are made for. */
const SCRAPES = [15, 30, 60];
/** The scrape interval that Grafana assumes until its data source says another. */
const ASSUMED = 15;
const SECONDS: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3600 };

interface Check {
  readonly expr: string;
  /** An hour, unless given. */
  readonly at?: string;
  /** The value of each series, by its labels. */
  readonly gives: Readonly<Record<string, number>>;
}

interface Case {
  /** Values by series, without the prefix. A number is held for the hour. */
  readonly series: Readonly<Record<string, number | string>>;
  readonly checks: readonly Check[];
  readonly scrape?: number;
}

/** Expects the values of each check, with only these rules. */
function expectValues(cases: readonly Case[], ruleFiles: readonly string[] = []): void {
  const tests = cases.map(({ series, checks, scrape = 60 }) => ({
    interval: `${scrape}s`,
    input_series: Object.entries(series).map(([name, value]) => ({
      series: `beaconchain_${name}`,
      values: typeof value === 'string' ? value : `${value}x${MINUTES}`,
    })),
    promql_expr_test: checks.map(({ expr, at = `${MINUTES}m`, gives }) => ({
      expr,
      eval_time: at,
      exp_samples: Object.entries(gives).map(([labels, value]) => ({ labels: `{${labels}}`, value })),
    })),
  }));
  const file = join(temporaryFolder(), 'queries.test.yaml');
  writeFileSync(file, stringify({ rule_files: ruleFiles, evaluation_interval: '1m', tests }));
  expect(runTool(PROMTOOL, ['test', 'rules', file], '')).toMatchObject({ status: 0, stderr: '' });
}

/** The query of a panel with this legend, or else this letter. */
function queryOf(dashboard: string, panel: string, legend: string): string {
  const { targets = [] } =
    DASHBOARDS.find(({ title }) => title === dashboard)?.panels.find(({ title }) => title === panel) ?? {};
  const found = targets.find(({ legendFormat, refId }) => legendFormat === legend || refId === legend);
  if (found === undefined) throw new TypeError(`${dashboard}, ${panel} has no query ${legend}`);
  return found.expr;
}

describe('ranges of the dashboards', () => {
  const panels = DASHBOARDS.flatMap(({ title: dashboard, panels }) =>
    panels.map(({ title, interval, targets }) => ({
      name: `${dashboard}, ${title}`,
      step: stepOf(interval),
      exprs: targets.map(({ expr }) => expr),
    })),
  );
  const rated = panels.filter(({ exprs }) => exprs.some((expr) => expr.includes('$__rate_interval')));

  /** The shortest step of a panel in seconds. */
  function stepOf(interval: string | undefined): number {
    const [, count, unit = ''] = /^(\d+)([smh])$/.exec(interval ?? '') ?? [];
    return count === undefined ? 0 : Number(count) * (SECONDS[unit] ?? Number.NaN);
  }

  /** Grafana's $__rate_interval, in seconds. */
  function rateWindow(step: number, scrape: number): number {
    return Math.max(Math.max(step, scrape) + scrape, 4 * scrape);
  }

  /** Samples inside a window, wherever it begins and a scrape being a little late. Those at its edges may not count. */
  function fewestSamples(window: number, scrape: number): number {
    return Math.ceil(window / scrape) - 1;
  }

  it.each(rated)('$name: every rate has two samples, at any scrape interval', ({ step }) => {
    for (const scrape of SCRAPES) {
      expect(fewestSamples(rateWindow(step, scrape), scrape)).toBeGreaterThanOrEqual(2);
      expect(fewestSamples(rateWindow(step, ASSUMED), scrape)).toBeGreaterThanOrEqual(2);
    }
  });

  it('no range is a single step, which would miss a change before its first sample', () => {
    const bare = panels.filter(({ exprs }) => exprs.some((expr) => expr.includes('[$__interval]')));
    expect(bare.map(({ name }) => name)).toEqual([]);
  });

  // The samples lie half a scrape off the edges of the windows, so all versions of Prometheus give the same.
  it.skipIf(areMissing(PROMTOOL))('a slashing is in exactly one bar, whenever Prometheus scrapes it', () => {
    const panel = panels.find(({ name }) => name === 'Chain and slashings, Attester slashings');
    const [expr = ''] = panel?.exprs ?? [];
    const step = panel?.step ?? 0;
    const of = 'chain="mainnet", kind="double_vote"';
    expectValues(
      SCRAPES.map((scrape) => {
        const windowed = expr
          .replaceAll('$__rate_interval', `${rateWindow(step, scrape)}s`)
          .replaceAll('$__interval', `${step}s`);
        const samples = step / scrape;
        return {
          scrape,
          series: { [`attester_slashings_total{job="a", instance="a:1", ${of}}`]: `0x${samples} 1x${3 * samples}` },
          checks: [0, 1, 0].map((value, i) => ({
            expr: `round(${interpolate(windowed)})`,
            at: `${(i + 1) * step * 1000 + scrape * 500}ms`,
            gives: { [of]: value },
          })),
        };
      }),
    );
  });

  it.skipIf(areMissing(PROMTOOL))('an outage is a gap in rates of machines, not a dip', () => {
    const expr = interpolate(queryOf('Staking machine', 'Network', 'received'));
    const labels = 'job="a", instance="a:1", chain="mainnet", machine="node-a"';
    const minutes = Array.from({ length: 60 }, (_, i) => `${30 + i}m`);
    const gives = { 'chain="mainnet", machine="node-a"': 10 };
    const checks = [
      ...['25m', '80m'].map((at) => ({ expr: `round(${expr})`, at, gives })),
      ...minutes.map((at) => ({ expr: `abs(${expr} - 10) > 0.1`, at, gives: {} })),
    ];
    // Nothing new from minute 30 on. The counter is withdrawn at minute 40, and both are back at minute 56.
    const series = {
      [`machine_network_receive_bytes_total{${labels}}`]: '0+600x30 18000x9 stale _x14 33600+600x40',
      [`machine_last_seen_timestamp_seconds{${labels}, process="system"}`]: '1000+60x30 2800x24 4360+60x40',
    };
    expectValues([{ series, checks }]);
  });
});

describe('states of the dashboards', () => {
  /** The number that a state has, by its word. */
  function codeOf(mappings: readonly ValueMapping[], word: string): number {
    const found = mappings.flatMap(({ options }) => Object.entries(options)).find(([, { text }]) => text === word);
    return Number(found?.[0] ?? expect.fail(`no state ${word}`));
  }

  function expectStates(series: Case['series'], expr: string, gives: Check['gives']): void {
    expectValues([{ series, checks: [{ expr: interpolate(expr), gives }] }]);
  }

  it('machines have the states of the status page, the worst first', () => {
    const words = STATES.flatMap(({ options }) =>
      Object.entries(options).map(([code, { text }]) => [text, code] as const),
    );
    const codes = Object.values(MACHINE_CONDITIONS).map(({ badge }) => Number(new Map(words).get(badge)));
    expect(codes).toEqual(codes.toSorted((a, b) => b - a));
    expect(Math.min(...codes)).toBeGreaterThan(0);
  });

  it.skipIf(areMissing(PROMTOOL))(
    'the state of a machine follows the interval of its exporter, and is the worse of two exporters',
    () => {
      const exporter = (job: string, interval: number): Case['series'] => ({
        [`source_last_success_timestamp_seconds{job="${job}", instance="${job}:1", source="machines"}`]: NOW,
        [`source_interval_seconds{job="${job}", instance="${job}:1", source="machines"}`]: interval,
      });
      const machine = (job: string, name: string, seen: number, values: Case['series'] = {}): Case['series'] => {
        const labels = `job="${job}", instance="${job}:1", chain="mainnet", machine="${name}"`;
        const shown = Object.entries(values).map(([metric, value]) => [`machine_${metric}{${labels}}`, value]);
        return {
          [`machine_last_seen_timestamp_seconds{${labels}, process="system"}`]: seen,
          ...Object.fromEntries(shown),
        };
      };
      const unsynced = (name: string, values: Case['series']): Case['series'] => ({
        ...machine('quick', name, NOW, { info: 1, synced: 0, chain_known: 1, ...values }),
        [`machine_last_seen_timestamp_seconds{job="quick", instance="quick:1", chain="mainnet", machine="${name}", process="node"}`]:
          NOW,
      });
      const disk = (free: number): Case['series'] => ({ info: 1, disk_total_bytes: 100, disk_free_bytes: free });
      const state = (name: string, word: string) =>
        [`chain="mainnet", machine="${name}"`, codeOf(STATES, word)] as const;
      expectStates(
        {
          ...exporter('quick', 60),
          ...exporter('rare', 7_680),
          ...machine('quick', 'node-a', NOW - 1_800),
          ...machine('rare', 'node-b', NOW - 1_800, { info: 1 }),
          ...machine('quick', 'node-c', NOW - 30, disk(1)),
          ...machine('rare', 'node-c', NOW - 30, disk(90)),
          ...machine('quick', 'node-d', NOW - 30),
          ...machine('quick', 'node-e', 0),
          'genesis_timestamp_seconds{chain="mainnet"}': 0,
          ...unsynced('near', { head_slot: NOW / 12 - 16 }),
          ...unsynced('behind', { head_slot: NOW / 12 - 17 }),
          ...unsynced('headless', {}),
          ...unsynced('assumed', { chain_known: 0 }),
        },
        STATE,
        Object.fromEntries([
          state('node-a', 'silent'),
          state('node-b', 'healthy'),
          state('node-c', 'disk almost full'),
          state('node-d', 'out of date'),
          state('node-e', 'never seen'),
          state('near', 'healthy'),
          state('behind', 'not synced'),
          state('headless', 'not synced'),
          state('assumed', 'healthy'),
        ]),
      );
    },
  );

  const OF_SOURCE = 'job="a", instance="a:1", source="machines"';
  const own = (metric: string): string => `${metric}{job="a", instance="a:1"}`;
  const is = (word: string): Check['gives'] => ({ 'source="machines"': codeOf(SOURCE_STATES, word) });

  it.skipIf(areMissing(PROMTOOL)).each([
    ['overdue', { [own('exporter_leader')]: 1 }],
    ['works', { [own('exporter_leader')]: 0 }],
    ['stopped: access revoked', { [own('api_access_revoked')]: 1 }],
    ['stopped: key refused', { [own('api_key_valid')]: 0, [own('api_access_revoked')]: 0 }],
  ])('the state of a source whose poll is an hour overdue: %s', (word, more) => {
    const polled = { [`source_up{${OF_SOURCE}}`]: 1, [`source_next_attempt_timestamp_seconds{${OF_SOURCE}}`]: 10 };
    expectStates({ ...polled, ...more }, SOURCE_STATE, is(word));
  });

  it.skipIf(areMissing(PROMTOOL))('a source that is never polled again has failed, and no next poll', () => {
    const stopped = {
      [`source_up{${OF_SOURCE}}`]: 0,
      [`source_next_attempt_timestamp_seconds{${OF_SOURCE}}`]: 'Inf '.repeat(MINUTES + 1).trim(),
    };
    expectStates(stopped, SOURCE_STATE, is('failed'));
    expectStates(stopped, DUE_IN, {});
  });
});

describe.skipIf(areMissing(PROMTOOL))('groups of the dashboards', () => {
  const VALIDATORS = "Validators' health";

  /** The values of two replicas. */
  function replicated(series: Readonly<Record<string, number | string>>): Case['series'] {
    const of = (instance: string) =>
      Object.entries(series).map(([name, value]) => [name.replace('{', `{instance="${instance}", `), value] as const);
    return Object.fromEntries([...of('a:1'), ...of('b:1')]);
  }

  /** What ten validators did in 24 hours. They made this many of 1,000 attestations. */
  function validators(group: string, done: number): Record<string, number> {
    const own = `{chain="mainnet"${group}`;
    const duties = ['attestation', 'proposal', 'sync_committee'].flatMap((duty, i) => [
      [`watched_validators_rewards_ether${own}, duty="${duty}"}`, 0.25 * i] as const,
      [`watched_validators_missed_rewards_ether${own}, duty="${duty}"}`, 0.5] as const,
    ]);
    return {
      [`watched_validators${own}}`]: 10,
      [`watched_validators_duties${own}, duty="attestation", status="assigned"}`]: 1_000,
      [`watched_validators_duties${own}, duty="attestation", status="done"}`]: done,
      [`watched_validators_votes${own}, vote="head"}`]: done - 250,
      [`watched_validators_effective_balance_ether${own}}`]: 320,
      [`watched_validators_execution_rewards_ether${own}}`]: 0.25,
      ...Object.fromEntries(duties),
    };
  }

  const REST: Readonly<Record<string, number>> = {
    ...validators('', 750),
    'network_duties{chain="mainnet", duty="attestation", status="assigned"}': 1_000,
    'network_duties{chain="mainnet", duty="attestation", status="done"}': 500,
    'network_votes{chain="mainnet", vote="head"}': 250,
  };
  const ALL = { ...validators(', group="home"', 500), ...REST };
  const HOME = 'chain="mainnet", group="home", whose="mainnet/home"';
  const NONE = 'chain="mainnet", whose="mainnet"';

  /** All groups, one group, no groups: the series, the choice, and the lines that are then missing. */
  const SELECTIONS = [
    [ALL, {}, /never/],
    [ALL, { group: 'home' }, /whose="mainnet"/],
    [REST, {}, /group/],
  ] as const;

  it.each([
    ['Attestations included', '{{whose}}, yours', { [HOME]: 0.5, [NONE]: 0.75 }],
    ['Attestations included', '{{chain}}, network', { 'chain="mainnet"': 0.5 }],
    ['Correct votes', '{{whose}}, yours, {{vote}}', { [`${HOME}, vote="head"`]: 0.25, [`${NONE}, vote="head"`]: 0.5 }],
    ['Correct votes', '{{chain}}, network, {{vote}}', { 'chain="mainnet", vote="head"': 0.25 }],
    ['Earned and missed in 24 hours', '{{whose}}, earned', { [HOME]: 1, [NONE]: 1 }],
    ['Earned and missed in 24 hours', '{{whose}}, missed', { [HOME]: 1.5, [NONE]: 1.5 }],
    ['Return', '{{whose}}, yours', { [HOME]: 365 / 320, [NONE]: 365 / 320 }],
  ])('%s, %s: a line for each chosen group, and for validators without one', (panel, legend, gives) => {
    const expr = queryOf(VALIDATORS, panel, legend);
    const cases = SELECTIONS.map(([series, chosen, missing]) => {
      const shown = Object.entries<number>(gives).filter(([labels]) => !missing.test(labels));
      return {
        series: replicated(series),
        checks: [{ expr: interpolate(expr, chosen), gives: Object.fromEntries(shown) }],
      };
    });
    expectValues(cases);
  });

  it('totals sum all chosen groups, and an incomplete sum is not shown', () => {
    const { 'watched_validators_rewards_ether{chain="mainnet", duty="proposal"}': _, ...series } = REST;
    const of = (panel: string, legend: string): string => interpolate(queryOf(VALIDATORS, panel, legend));
    const unknown = [of('Return', '{{whose}}, yours'), of('Earned and missed in 24 hours', '{{whose}}, earned')];
    expectValues([
      { series: replicated(ALL), checks: [{ expr: of('Watched', 'A'), gives: { '': 20 } }] },
      { series: replicated(series), checks: unknown.map((expr) => ({ expr, gives: {} })) },
    ]);
  });
});

describe('thresholds of the dashboards', () => {
  it.each(Object.values(limits).filter((one) => typeof one === 'object'))(
    'the limit of a panel is that of $alert',
    ({ alert, than }) => {
      const rule = rules.find((one) => one.alert === alert);
      expect(thresholdsIn(rule?.expr ?? '')).toEqual(expect.arrayContaining(thresholdsIn(than)));
      expect(thresholdsIn(than)).toHaveLength(1);
    },
  );

  it('no panel has a limit of its own, except for counts of problems', () => {
    for (const [name, text] of dashboardFiles()) {
      const steps = [...text.matchAll(/"value": (-?[\d.e]+),\s+"color"/g)].map(([, value]) => Number(value));
      for (const step of steps) expect([0, 0.5, 1], name).toContain(step);
    }
  });

  it.skipIf(areMissing(PROMTOOL))('a changed threshold moves the alert, the line and the colour', () => {
    const folder = temporaryFolder();
    const threshold = /(record: beaconchain:threshold:disk_free_ratio\s+expr: .* vector\()0.10/;
    const changed = RULE_FILES.map((file) => {
      const copy = join(folder, basename(file));
      writeFileSync(copy, readFileSync(file, 'utf8').replace(threshold, '$10.50'));
      return copy;
    });
    const query = (dashboard: string, panel: string, legend: string): string =>
      interpolate(queryOf(dashboard, panel, legend));
    const firing = query('Staking fleet', 'Firing alerts', 'A');
    const named = 'severity="critical", alertname="DiskAlmostFull", chain="mainnet"';
    const labels = 'job="a", instance="a:1", chain="mainnet", machine="node-b"';
    const series = { [`machine_disk_total_bytes{${labels}}`]: 100, [`machine_disk_free_bytes{${labels}}`]: 40 };
    const checks = [
      { expr: `count by (severity, alertname, chain) (${firing})`, gives: { [named]: 1 } },
      { expr: query('Staking fleet', 'Disk free', 'alert BeaconchainDiskAlmostFull'), gives: { '': 0.5 } },
      { expr: query('Staking machine', 'Disk free', 'A'), gives: {} },
      { expr: query('Staking machine', 'Disk free', 'B'), gives: { 'chain="mainnet", machine="node-b"': 0.4 } },
    ];
    expectValues([{ series, checks }], changed);
  });
});
