import { describe, expect, it } from 'vitest';
import { pacesOf } from '../../src/scheduler/paces.ts';
import { countEmptyPoll, isDataOverdue } from '../../src/scheduler/plan.ts';
import { nextTick, oncePer } from '../../src/sources/source.ts';
import { type Entry, emptyEntry } from '../../src/state/entry.ts';
import { fakeSource } from '../support/fake-source.ts';
import { DAY, HOUR, MINUTE, NOW, timing } from '../support/timing.ts';

/** Work of once a day that is tried every hour; a value of 1 is what it looks for. */
const daily = fakeSource({
  name: 'daily_returns',
  intervalMs: HOUR,
  isDaily: true,
  due: (value, attempts, { intervalMs }) => (value === 1 ? NOW + DAY : nextTick(attempts, intervalMs)),
  pace: (requestsPerDay) => oncePer(DAY, HOUR, requestsPerDay),
});

function polled(entry: Entry, value: number, reason?: string): Entry {
  const failed = { failuresInARow: 1, lastError: { at: NOW, reason: reason ?? '', message: 'made up' } };
  const after = { ...entry, value, lastAttemptAt: NOW, ...(reason === undefined ? { failuresInARow: 0 } : failed) };
  return countEmptyPoll(daily, after, timing({ intervalMs: 6 * HOUR }));
}

function polls(count: number, value: number, reason?: string): Entry {
  let entry = emptyEntry(daily) as Entry;
  for (let i = 0; i < count; i += 1) entry = polled(entry, value, reason);
  return entry;
}

describe('scheduler/overdue-data', () => {
  it('is work of once a day that was looked for more than six times in a row', () => {
    expect([6, 7].map((count) => isDataOverdue(polls(count, 0)))).toEqual([false, true]);
    expect(isDataOverdue(polls(100, 1))).toBe(false);
    expect(isDataOverdue(emptyEntry(daily))).toBe(false);
  });

  it('ends with the first poll that finds it', () => {
    expect(isDataOverdue(polled(polls(100, 0), 1))).toBe(false);
  });

  it.each(['forbidden', 'not_found', 'bad_request', 'method_not_allowed', 'invalid_body', 'unexpected_status'])(
    'is also what fails with %s again and again',
    (reason) => {
      expect(isDataOverdue(polls(7, 0, reason))).toBe(true);
    },
  );

  it.each(['network', 'timeout', 'server_error', 'rate_limited', 'revoked', 'unauthorized', 'BudgetClosed'])(
    'is not what fails with %s: that costs nothing of the quota',
    (reason) => {
      expect(isDataOverdue(polls(100, 0, reason))).toBe(false);
    },
  );

  it('is never a source that asks at every interval anyway', () => {
    const entry = { ...emptyEntry(fakeSource()), lastAttemptAt: NOW };
    expect(countEmptyPoll(fakeSource(), entry, timing())).toBe(entry);
  });

  it('shares a scarce budget with the others by weight, at what it costs then', () => {
    const steady = fakeSource({ weight: 3, intervalMs: MINUTE });
    const allowance = { bucketOf: () => 'one', allowedPerDay: () => 32 };
    const asking = (isVain: boolean) => [
      { source: daily, requestsPerPoll: 1, isDataOverdue: isVain },
      { source: steady, requestsPerPoll: 1 },
    ];
    const perDay = (paces: ReturnType<typeof pacesOf>): number => Math.round(paces.get(steady)?.requestsPerDay ?? 0);
    const usual = pacesOf(asking(false), allowance);
    expect([usual.get(daily)?.intervalMs, perDay(usual)]).toEqual([HOUR, 31]);
    const late = pacesOf(asking(true), allowance);
    expect([late.get(daily)?.intervalMs, perDay(late)]).toEqual([3 * HOUR, 24]);
    const rich = pacesOf(asking(true), { ...allowance, allowedPerDay: () => 10_000 });
    expect(rich.get(daily)?.intervalMs).toBe(HOUR);
  });
});
