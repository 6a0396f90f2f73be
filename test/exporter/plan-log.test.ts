import { pino } from 'pino';
import { describe, expect, it } from 'vitest';
import { logPlan, logWaits } from '../../src/exporter/plan-log.ts';
import { pacesOf } from '../../src/scheduler/paces.ts';
import { BOTH_CHAINS } from '../support/default-config.ts';
import { configured } from '../support/month.ts';

function linesFor(allowedPerDay: number, overrides = {}): Record<string, unknown>[] {
  const lines: Record<string, unknown>[] = [];
  const log = pino({ base: null, timestamp: false }, { write: (line: string) => void lines.push(JSON.parse(line)) });
  const asking = configured(overrides).map((source) => ({ source, requestsPerPoll: 1 }));
  logPlan(log, pacesOf(asking, { bucketOf: () => 'default', allowedPerDay: () => allowedPerDay }));
  return lines;
}

describe('exporter/plan-log', () => {
  it('tells in one line that everything runs as configured, and what that costs', () => {
    expect(linesFor(77_760)).toEqual([
      {
        level: 30,
        intervals: {
          'daily_returns-mainnet': '1h',
          'sync_committee-mainnet': '1h',
          machines: '1m',
          'slashings-mainnet': '1m5s',
        },
        // 1 + 0.9 + 1,440 + 1,779.2.
        requests_per_day: 3_222,
        msg: 'the budget allows the configured intervals',
      },
    ]);
  });

  it('warns in one line of what is stretched, and of what of the chain is not read', () => {
    const [line, ...more] = linesFor(30);
    expect(more).toEqual([]);
    expect(line).toMatchObject({
      level: 40,
      intervals: {
        'daily_returns-mainnet': '1h',
        machines: '2h8m1s',
        'slashings-mainnet': '1h25m21s (newest finalized epoch only, the others are skipped)',
      },
      requests_per_day: 30,
      msg: 'the budget does not allow the configured intervals: intervals are stretched',
    });
  });

  it('names each chain, and tells where head passes have stopped', () => {
    expect(linesFor(1_000, BOTH_CHAINS)[0]).toMatchObject({
      intervals: {
        'slashings-mainnet': '4m49s (no head passes)',
        'slashings-hoodi': '4m49s (no head passes)',
        machines: '3m37s',
      },
    });
  });

  it('warns in one line of all sources that wait: for what, and until when', () => {
    const lines: Record<string, unknown>[] = [];
    const log = pino({ base: null, timestamp: false }, { write: (line: string) => void lines.push(JSON.parse(line)) });
    const until = Date.UTC(2026, 10, 1);
    const limits = ['month', 'hour', '429', 'month'] as const;
    logWaits(log, new Map(configured().map((source, i) => [source, { until, limit: limits[i] ?? 'month' }])));
    expect(lines).toEqual([
      {
        level: 40,
        waits: {
          'daily_returns-mainnet': 'monthly quota, until 2026-11-01T00:00:00.000Z',
          'sync_committee-mainnet': 'hourly quota, until 2026-11-01T00:00:00.000Z',
          machines: 'refused with 429, until 2026-11-01T00:00:00.000Z',
          'slashings-mainnet': 'monthly quota, until 2026-11-01T00:00:00.000Z',
        },
        msg: 'sources wait for the quota',
      },
    ]);
  });
});
