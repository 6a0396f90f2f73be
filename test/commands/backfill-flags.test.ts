import { describe, expect, it } from 'vitest';
import { type BackfillOptions, backfillOptions, OWN_LABELS, outputOf } from '../../src/commands/backfill-flags.ts';
import { parseCommand, UsageError } from '../../src/commands/flags.ts';
import { defaultConfig } from '../support/default-config.ts';
import { ALL_FAMILIES } from '../support/metric-contract.ts';
import { NOW } from '../support/timing.ts';

const SECONDS = NOW / 1000;
const DAYS = ['--source=daily-returns', '--output=a'] as const;
const MACHINES = ['--source=machines', '--output=a'] as const;

function options(...argv: readonly string[]): BackfillOptions {
  const command = parseCommand(['backfill', ...argv], {});
  if (!('flags' in command)) throw new Error('expected a command that runs');
  return backfillOptions(command.flags, defaultConfig(), NOW);
}

describe('commands/backfill-flags', () => {
  it('reads every day there is, or the last 31 days of machines, where nothing else is asked for', () => {
    expect(options(...DAYS)).toMatchObject({
      source: 'daily_returns',
      range: { window: 'all_time' },
      chains: ['mainnet'],
    });
    expect(options(...MACHINES).range).toEqual({ start: SECONDS - 31 * 86_400, end: SECONDS });
  });

  it('takes times as Unix seconds, RFC 3339, now, or a duration ago', () => {
    const range = { start: 1790769600, end: 1790769660 };
    expect(options(...MACHINES, '--start=1790769600', '--end=1790769660').range).toEqual(range);
    const text = ['--start=2026-09-30T12:00:00Z', '--end=2026-09-30T14:01:00.5+02:00'];
    expect(options(...DAYS, ...text).range).toEqual(range);
    expect(options(...MACHINES, '--start=-6h', '--end=now').range).toEqual({ start: SECONDS - 21_600, end: SECONDS });
    expect(options(...MACHINES, '--start=-1d12h', '--end=-90s').range).toEqual({
      start: SECONDS - 129_600,
      end: SECONDS - 90,
    });
    expect(options(...MACHINES, '--start=2026-09-29').range).toMatchObject({ start: 1790640000 });
    expect(options(...DAYS, '--start=-1w', '--end=2099-01-01T00:00:00Z').range).toEqual({
      start: SECONDS - 604_800,
      end: SECONDS,
    });
  });

  it.each([
    [[], '--source is required'],
    [['--source=slashings', '--output=a'], '--source: expected daily-returns or machines'],
    [[...DAYS, '--full-resolution'], '--full-resolution requires'],
    [[...DAYS, '--window=1y'], '--window: expected 24h, 7d, 30d, 90d, all_time, got "1y"'],
    [[...DAYS, '--window=7d', '--start=1'], '--window cannot be combined'],
    [[...DAYS, '--step=2d'], '--step: expected'],
    [[...DAYS, '--chain=hoodi'], '--chain: expected a configured chain (mainnet), got "hoodi"'],
    [[...DAYS, '--max-samples=0'], '--max-samples: expected'],
    [[...DAYS, '--label=job'], '--label: expected NAME=VALUE'],
    [[...DAYS, '--label=0job=x'], '--label: "0job" is not a valid label name'],
    [[...DAYS, '--label=__name__=x'], '--label: "__name__" is not a valid label name'],
    [[...DAYS, '--label=job=x', '--label=job=y'], '--label: job is given twice'],
    [[...DAYS, '--label=job='], '--label: job is empty'],
    [[...MACHINES, '--step=1h'], '--step requires'],
    [[...MACHINES, '--window=7d'], '--window requires'],
    [
      [...MACHINES, '--start=yesterday'],
      '--start: expected now, -6h, 2026-11-01, 2026-11-01T18:00:00Z or Unix seconds',
    ],
    [
      [...MACHINES, '--start=2026-09-30T12:00:00'],
      '--start: expected now, -6h, 2026-11-01, 2026-11-01T18:00:00Z or Unix seconds',
    ],
    [[...MACHINES, '--start=6h'], '--start: expected now, -6h'],
    [[...MACHINES, '--start=-'], '--start: expected now, -6h'],
    [[...MACHINES, '--start=--6h'], '--start: expected now, -6h'],
    [[...MACHINES, '--start=-32d'], '--start: the service keeps machine metrics for 31 days'],
    [[...MACHINES, '--start=now'], '--start must be before --end, and before now'],
    [[...MACHINES, '--start=1780000000'], '--start: the service keeps machine metrics for 31 days'],
    [[...MACHINES, '--start=1790769600', '--end=1790769600'], '--start must be before --end'],
  ])('refuses %j in one line', (argv, message) => {
    expect(() => options(...argv)).toThrow(UsageError);
    expect(() => options(...argv)).toThrow(message);
  });

  it('refuses an output that is no file', () => {
    expect(() => outputOf({})).toThrow('--output=FILE is required');
    expect(() => outputOf({ output: 'a/' })).toThrow('--output: expected a file');
    expect(outputOf({ output: 'a/b' })).toBe('a/b');
  });

  it('refuses every label that the series have of their own', () => {
    const used = new Set(
      ALL_FAMILIES.flatMap(([name, , ...lists]) => (/^(machine|daily_return)/.test(name) ? lists.flat() : [])),
    );
    expect([...OWN_LABELS].sort()).toEqual([...used].sort());
    for (const name of used)
      expect(() => options(...DAYS, `--label=${name}=x`)).toThrow('the series already have a label');
  });
});
