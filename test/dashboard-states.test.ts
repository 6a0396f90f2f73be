import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { ValueMapping } from '@grafana/grafana-foundation-sdk/dashboard';
import { describe, expect, it } from 'vitest';
import { stringify } from 'yaml';
import { STATE, STATES } from '../deploy/grafana/src/machine-state.ts';
import { DUE_IN, SOURCE_STATE, SOURCE_STATES } from '../deploy/grafana/src/source-state.ts';
import { temporaryFolder } from './support/files.ts';
import { interpolate } from './support/grafana.ts';
import { areMissing, PROMTOOL, runTool } from './support/tools.ts';

const MINUTES = 60;
const NOW = MINUTES * 60;

/** Series that have these values for an hour, by their names and labels without the prefix. */
type World = Readonly<Record<string, number | string>>;

/** The number that a state has, by its word. */
function codeOf(mappings: readonly ValueMapping[], word: string): number {
  const found = mappings.flatMap(({ options }) => Object.entries(options)).find(([, { text }]) => text === word);
  return Number(found?.[0] ?? expect.fail(`no state ${word}`));
}

function expectStates(world: World, expr: string, expected: Readonly<Record<string, number>>): void {
  const test = {
    interval: '1m',
    input_series: Object.entries(world).map(([series, value]) => ({
      series: `beaconchain_${series}`,
      values: typeof value === 'string' ? value : `${value}x${MINUTES}`,
    })),
    promql_expr_test: [
      {
        expr: interpolate(expr),
        eval_time: `${MINUTES}m`,
        exp_samples: Object.entries(expected).map(([labels, value]) => ({ labels: `{${labels}}`, value })),
      },
    ],
  };
  const file = join(temporaryFolder(), 'states.yaml');
  writeFileSync(file, stringify({ evaluation_interval: '1m', tests: [test] }));
  expect(runTool(PROMTOOL, ['test', 'rules', file], '')).toMatchObject({ status: 0, stderr: '' });
}

/** An exporter that has just swept, every so many seconds. */
function exporter(job: string, interval: number): World {
  const labels = `{job="${job}", instance="${job}:1", source="machines"}`;
  return {
    [`source_last_success_timestamp_seconds${labels}`]: NOW,
    [`source_interval_seconds${labels}`]: interval,
  };
}

function machine(job: string, name: string, values: World): World {
  const labels = `job="${job}", instance="${job}:1", chain="mainnet", machine="${name}"`;
  return Object.fromEntries(
    Object.entries(values).map(([metric, value]) => [
      `machine_${metric}{${labels}${metric.startsWith('last_seen') ? ', process="system"' : ''}}`,
      value,
    ]),
  );
}

const FRESH = { last_seen_timestamp_seconds: NOW - 30, info: 1 };
const state = (word: string): number => codeOf(STATES, word);

describe.skipIf(areMissing(PROMTOOL))('states of machines', () => {
  it('a machine is silent by the interval of its own exporter, whatever others have', () => {
    expectStates(
      {
        ...exporter('quick', 60),
        ...exporter('rare', 7_680),
        ...machine('quick', 'node-a', { last_seen_timestamp_seconds: NOW - 1_800 }),
        ...machine('rare', 'node-b', { ...FRESH, last_seen_timestamp_seconds: NOW - 1_800 }),
      },
      STATE,
      {
        'chain="mainnet", machine="node-a"': state('silent'),
        'chain="mainnet", machine="node-b"': state('healthy'),
      },
    );
  });

  it('of two exporters with a machine of one name the worse counts', () => {
    const disk = (free: number): World => ({ ...FRESH, disk_total_bytes: 100, disk_free_bytes: free });
    expectStates(
      {
        ...exporter('one', 60),
        ...exporter('two', 60),
        ...machine('one', 'node-a', disk(1)),
        ...machine('two', 'node-a', disk(90)),
      },
      STATE,
      { 'chain="mainnet", machine="node-a"': state('disk almost full') },
    );
  });

  it('a machine whose values were withdrawn is not healthy', () => {
    expectStates(
      { ...exporter('one', 60), ...machine('one', 'node-a', { last_seen_timestamp_seconds: NOW - 30 }) },
      STATE,
      { 'chain="mainnet", machine="node-a"': state('no current data') },
    );
  });

  it('one that was never seen has a state of its own', () => {
    expectStates({ ...exporter('one', 60), ...machine('one', 'node-a', { last_seen_timestamp_seconds: 0 }) }, STATE, {
      'chain="mainnet", machine="node-a"': state('never seen'),
    });
  });
});

describe.skipIf(areMissing(PROMTOOL))('states of sources', () => {
  const OF_SOURCE = 'job="a", instance="a:1", source="machines"';
  const POLLED = {
    [`source_up{${OF_SOURCE}}`]: 1,
    [`source_next_attempt_timestamp_seconds{${OF_SOURCE}}`]: 10,
  };
  const own = (metric: string): string => `${metric}{job="a", instance="a:1"}`;
  const is = (word: string): Record<string, number> => ({ 'source="machines"': codeOf(SOURCE_STATES, word) });

  it.each([
    ['overdue', { [own('exporter_leader')]: 1 }],
    ['works', { [own('exporter_leader')]: 0 }],
    ['stopped: access revoked', { [own('api_access_revoked')]: 1 }],
    ['stopped: key refused', { [own('api_key_valid')]: 0, [own('api_access_revoked')]: 0 }],
  ])('a source that was to be polled an hour ago is: %s', (word, more) => {
    expectStates({ ...POLLED, ...more }, SOURCE_STATE, is(word));
  });

  it('failed, and no time until a poll that will not come', () => {
    const stopped = {
      [`source_up{${OF_SOURCE}}`]: 0,
      [`source_next_attempt_timestamp_seconds{${OF_SOURCE}}`]: Array.from({ length: MINUTES + 1 }, () => 'Inf').join(
        ' ',
      ),
    };
    expectStates(stopped, SOURCE_STATE, is('failed'));
    expectStates(stopped, DUE_IN, {});
  });
});
