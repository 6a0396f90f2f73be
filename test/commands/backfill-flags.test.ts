import { expect, it } from 'vitest';
import type { PastRange } from '../../src/api/endpoints.ts';
import {
  type BackfillOptions,
  backfillOptions,
  decidingFlags,
  OWN_LABELS,
  outputOf,
  rangeOf,
} from '../../src/commands/backfill-flags.ts';
import { type Flags, parseCommand } from '../../src/commands/flag-table.ts';
import { epochFamilies } from '../../src/sources/validators/epoch-metrics.ts';
import { NO_VALIDATORS } from '../../src/sources/validators/state.ts';
import { UsageError } from '../../src/toolkit/flags/flags.ts';
import { validatorsOptions } from '../support/answers/validators.ts';
import { ALL_FAMILIES } from '../support/contract/metric-contract.ts';
import { defaultConfig } from '../support/runs/default-config.ts';
import { NOW } from '../support/time/timing.ts';

const SECONDS = NOW / 1000;
const DAYS = ['--source=daily-returns', '--output=a'] as const;
const MACHINES = ['--source=machines', '--output=a'] as const;

function options(...argv: readonly string[]): BackfillOptions {
  const command = parseCommand(['backfill', ...argv], {});
  if (!('flags' in command)) throw new Error('expected a command that runs');
  return backfillOptions(command.flags, defaultConfig(), NOW);
}

/** The parsed flags, if no exporter has started yet. */
function range(...argv: readonly string[]): PastRange {
  const wanted = options(...argv);
  return rangeOf(wanted, wanted.end ?? SECONDS, SECONDS);
}

function isOfThePast(name: string): boolean {
  const isCounted = epochFamilies(validatorsOptions(), NO_VALIDATORS, NOW).some((one) => one.name.endsWith(`_${name}`));
  return isCounted || /^(machine|daily_return)/.test(name);
}

it('reads all days, or the last 31 days of machines, by default', () => {
  expect(options(...DAYS)).toMatchObject({ source: 'daily_returns', chain: undefined, end: undefined });
  expect(range(...DAYS)).toEqual({ window: 'all_time' });
  expect(range(...MACHINES)).toEqual({ start: SECONDS - 31 * 86_400, end: SECONDS });
});

it('takes times as Unix seconds, RFC 3339, now, or a duration ago', () => {
  const minute = { start: 1790769600, end: 1790769660 };
  expect(range(...MACHINES, '--start=1790769600', '--end=1790769660')).toEqual(minute);
  const text = ['--start=2026-09-30T12:00:00Z', '--end=2026-09-30T14:01:00.5+02:00'];
  expect(range(...DAYS, ...text)).toEqual(minute);
  expect(range(...MACHINES, '--start=-6h', '--end=now')).toEqual({ start: SECONDS - 21_600, end: SECONDS });
  expect(range(...MACHINES, '--start=-1d12h', '--end=-90s')).toEqual({ start: SECONDS - 129_600, end: SECONDS - 90 });
  expect(range(...MACHINES, '--start=2026-09-29')).toMatchObject({ start: 1790640000 });
  const untilNow = { start: SECONDS - 604_800, end: SECONDS };
  expect(range(...DAYS, '--start=-1w', '--end=2099-01-01T00:00:00Z')).toEqual(untilNow);
});

it.each([
  [[], '--source is required'],
  [['--source=slashings', '--output=a'], '--source: expected daily-returns, machines, validators'],
  [['--source=validators', '--output=a'], '--start is required with --source=validators'],
  [['--source=validators', '--output=a', '--start=-1d', '--step=5m'], '--step requires --source=daily-returns'],
  [['--source=validators', '--output=a', '--full-resolution'], '--full-resolution requires --source=machines'],
  [[...DAYS, '--full-resolution'], '--full-resolution requires'],
  [[...DAYS, '--window=1y'], '--window: expected 24h, 7d, 30d, 90d, all_time, got "1y"'],
  [[...DAYS, '--window=7d', '--start=1'], '--window cannot be combined'],
  [[...DAYS, '--step=2d'], '--step: expected'],
  [[...DAYS, '--chain=hoodi'], '--chain: expected mainnet, got "hoodi"'],
  [[...DAYS, '--label=job'], '--label: expected NAME=VALUE'],
  [[...DAYS, '--label=job=x', '--label=job=y'], '--label: job is given twice'],
  [[...MACHINES, '--window=7d'], '--window requires'],
  [
    [...MACHINES, '--start=2026-09-30T12:00:00'],
    '--start: expected now, -6h, 2026-11-01, 2026-11-01T18:00:00Z or Unix seconds',
  ],
  [[...MACHINES, '--start=6h'], '--start: expected now, -6h'],
  [[...MACHINES, '--start=-32d'], '--start: the service keeps machine metrics for 31 days'],
  [[...MACHINES, '--start=1790769600', '--end=1790769600'], '--start must be before --end'],
])('refuses %j in one line', (argv, message) => {
  expect(() => options(...argv)).toThrow(UsageError);
  expect(() => options(...argv)).toThrow(message);
});

it('requires a file as output', () => {
  expect(() => outputOf({})).toThrow('--output=FILE is required');
  expect(() => outputOf({ output: 'a/' })).toThrow('--output: expected a file');
  expect(outputOf({ output: 'a/b' })).toBe('a/b');
});

it('refuses a label that the series already have, and group if groups are configured', () => {
  const used = new Set(ALL_FAMILIES.flatMap(([name, , ...lists]) => (isOfThePast(name) ? lists.flat() : [])));
  expect([...OWN_LABELS].sort()).toEqual([...used].sort());
  for (const name of used)
    expect(() => options(...DAYS, `--label=${name}=x`)).toThrow('the series already have a label');
  expect(options(...DAYS, '--label=group=x').labels).toEqual({ group: 'x' });
  const groups = [{ name: 'home', machines: ['a'], watch: { mainnet: [], hoodi: [] } }];
  const given = { source: 'machines', output: 'a', label: ['group=x'] };
  expect(() => backfillOptions(given, { ...defaultConfig(), groups }, NOW)).toThrow('already have a label group');
});

it('resumes a run with the flags that it began with', () => {
  const earlier: Flags = { source: 'machines', start: '-6h', label: ['job=a', 'instance=b'] };
  expect(decidingFlags({ ...earlier, output: 'x', yes: true })).toEqual(earlier);
});
