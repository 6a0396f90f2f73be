import { describe, expect, it } from 'vitest';
import { type BackfillOptions, backfillOptions, OWN_LABELS } from '../../src/commands/backfill-flags.ts';
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

  it('takes times as Unix seconds or RFC 3339', () => {
    const range = { start: 1790769600, end: 1790769660 };
    expect(options(...MACHINES, '--start=1790769600', '--end=1790769660').range).toEqual(range);
    const text = ['--start=2026-09-30T12:00:00Z', '--end=2026-09-30T14:01:00.5+02:00'];
    expect(options(...DAYS, ...text).range).toEqual(range);
  });

  it('knows the same question again, whatever the time is', () => {
    const later = { ...parseCommand(['backfill', ...MACHINES], {}) } as { flags: object };
    expect(backfillOptions(later.flags, defaultConfig(), NOW + 3_600_000).request).toEqual(
      options(...MACHINES).request,
    );
    expect(options(...MACHINES, '--label=job=x').request).not.toEqual(options(...MACHINES).request);
  });

  it.each([
    [[], '--source is needed'],
    [['--source=slashings', '--output=a'], '--source: expected daily-returns or machines'],
    [['--source=machines'], '--output=FILE is needed'],
    [['--source=machines', '--output=a/'], '--output: expected a file'],
    [[...DAYS, '--full-resolution'], '--full-resolution belongs to'],
    [[...DAYS, '--window=1y'], '--window: expected 24h, 7d, 30d, 90d, all_time, got "1y"'],
    [[...DAYS, '--window=7d', '--start=1'], '--window ends now'],
    [[...DAYS, '--step=2d'], '--step: expected'],
    [[...DAYS, '--chain=hoodi'], '--chain: expected a configured chain (mainnet), got "hoodi"'],
    [[...DAYS, '--max-samples=0'], '--max-samples: expected'],
    [[...DAYS, '--label=job'], '--label: expected NAME=VALUE'],
    [[...DAYS, '--label=0job=x'], '--label: "0job" is no name'],
    [[...DAYS, '--label=__name__=x'], '--label: "__name__" is no name'],
    [[...DAYS, '--label=job=x', '--label=job=y'], '--label: job is given twice'],
    [[...DAYS, '--label=job='], '--label: job is empty'],
    [[...MACHINES, '--step=1h'], '--step belongs to'],
    [[...MACHINES, '--window=7d'], '--window belongs to'],
    [[...MACHINES, '--start=yesterday'], '--start: expected Unix seconds or a time such as'],
    [[...MACHINES, '--start=2026-09-30T12:00:00'], '--start: expected Unix seconds or a time such as'],
    [[...MACHINES, '--start=1780000000'], '--start: the service keeps machine metrics for 31 days'],
    [[...MACHINES, '--start=1790769600', '--end=1790769600'], '--start must be before --end'],
  ])('refuses %j in one line', (argv, message) => {
    expect(() => options(...argv)).toThrow(UsageError);
    expect(() => options(...argv)).toThrow(message);
  });

  it('refuses every label that the series have of their own', () => {
    const used = new Set(
      ALL_FAMILIES.flatMap(([name, , ...lists]) => (/^(machine|daily_return)/.test(name) ? lists.flat() : [])),
    );
    expect([...OWN_LABELS].sort()).toEqual([...used].sort());
    for (const name of used) expect(() => options(...DAYS, `--label=${name}=x`)).toThrow('of their own');
  });
});
