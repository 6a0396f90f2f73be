import { describe, expect, it } from 'vitest';
import { isReady, whyUnhealthy } from '../../src/exporter/health.ts';
import { emptyEntry } from '../../src/scheduler/entry.ts';
import type { SourceView } from '../../src/scheduler/schedules.ts';
import { fakeSource } from '../support/runs/fake-source.ts';
import { MINUTE, NOW, timing } from '../support/time/timing.ts';

function view(overrides: Partial<SourceView> = {}): SourceView {
  const source = fakeSource();
  const pace = { intervalMs: MINUTE, requestsPerDay: 1_440, coverage: 'full' } as const;
  return {
    source,
    bucket: 'default',
    entry: emptyEntry(source),
    pace,
    timing: timing(),
    nextAttemptAt: NOW,
    running: false,
    ...overrides,
  };
}

describe('health', () => {
  describe('whyUnhealthy', () => {
    const late = (ms: number) => ({ source: fakeSource(), ms });

    it.each([
      ['all is well', 15_000, undefined, undefined],
      ['the loop has not turned for a minute', 60_001, undefined, 'the scheduler has stopped'],
      ['the loop turned a minute ago', 60_000, undefined, undefined],
      ['an attempt is five minutes overdue', 0, late(300_001), 'machines is overdue'],
      ['an attempt is just not overdue', 0, late(300_000), undefined],
    ] as const)('where %s', (_name, sinceHeartbeatMs, overdue, problem) => {
      expect(whyUnhealthy(sinceHeartbeatMs, overdue)).toBe(problem);
    });
  });

  describe('isReady', () => {
    const tried = { ...emptyEntry(fakeSource()), failuresInARow: 1, lastAttemptAt: NOW };

    it.each([
      ['nothing was tried', {}, false],
      ['a first poll runs', { running: true, nextAttemptAt: NOW + MINUTE }, false],
      ['a first attempt was made, however it went', { entry: tried }, true],
      ['a first attempt may not be made yet', { nextAttemptAt: NOW + 1 }, true],
      ['access is revoked', { nextAttemptAt: Number.POSITIVE_INFINITY }, true],
    ] as const)('where %s', (_name, overrides, ready) => {
      expect(isReady({ views: [view({ entry: tried }), view(overrides)], now: NOW })).toBe(ready);
    });

    it('is true without any source', () => {
      expect(isReady({ views: [], now: NOW })).toBe(true);
    });
  });
});
