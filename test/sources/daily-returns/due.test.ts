import { describe, expect, it } from 'vitest';
import { dailyReturnsSource } from '../../../src/sources/daily-returns/index.ts';
import type { DailyReturns } from '../../../src/sources/daily-returns/schema.ts';
import { DAY_2100_END, dayAfter, returnsPage } from '../../support/datapoint.ts';
import { fakeApi } from '../../support/fake-api.ts';
import { attempts, DAY, HOUR, MINUTE, noSignal, timing } from '../../support/timing.ts';

const SOURCE = dailyReturnsSource({ chain: 'mainnet', intervalMs: HOUR, weight: 1, path: 'auto' });

/** Polls at `now`, when the newest day is 2100 + `newest`. */
async function poll(previous: DailyReturns, now: number, newest: number, intervalMs = HOUR): Promise<DailyReturns> {
  const api = fakeApi(() => returnsPage(dayAfter(newest)));
  const { value } = await SOURCE.poll(api, previous, timing({ now, intervalMs }), noSignal());
  return SOURCE.state.parse(JSON.parse(JSON.stringify(value)));
}

function due(state: DailyReturns, lastAttemptAt: number | undefined): number {
  return SOURCE.due(state, attempts(lastAttemptAt), timing({ intervalMs: HOUR }));
}

interface Life {
  state: DailyReturns;
  now: number;
  requests: number;
}

/** Polls whenever it is due until 2100 + `last` is known; each day appears `delays[day]` after its end. */
async function live(last: number, delayOf: (day: number) => number): Promise<Life> {
  let now = DAY_2100_END + delayOf(0);
  let state = await poll({}, now, 0);
  let requests = 0;
  while (state.newest && state.newest.day < 2100 + last) {
    now = due(state, now);
    let newest = state.newest.day - 2100;
    while (now >= DAY_2100_END + (newest + 1) * DAY + delayOf(newest + 1)) newest += 1;
    state = await poll(state, now, newest);
    requests += 1;
  }
  return { state, now, requests };
}

describe('sources/daily-returns/due', () => {
  it('is at once before the first attempt, and every interval until the first day is known', () => {
    expect(due({}, undefined)).toBe(0);
    expect(due({}, DAY_2100_END)).toBe(DAY_2100_END + HOUR);
  });

  it('is twenty minutes after the end of the next day where nothing was learned', async () => {
    const now = DAY_2100_END + 3 * HOUR;
    expect(due(await poll({}, now, 0), now)).toBe(DAY_2100_END + DAY + 20 * MINUTE);
  });

  it('is every interval once the next day was asked for in vain', async () => {
    const first = await poll({}, DAY_2100_END + 3 * HOUR, 0);
    const now = DAY_2100_END + DAY + 20 * MINUTE;
    expect(due(await poll(first, now, 0), now)).toBe(now + HOUR);
  });

  it('is ten minutes before the delay that was last observed', async () => {
    const first = await poll({}, DAY_2100_END + 3 * HOUR, 0);
    const vain = await poll(first, DAY_2100_END + DAY + 2 * HOUR, 0);
    const now = DAY_2100_END + DAY + 3 * HOUR;
    expect(due(await poll(vain, now, 1), now)).toBe(DAY_2100_END + 2 * DAY + 3 * HOUR - 10 * MINUTE);
  });

  it('costs about one request a day, however late the days appear', async () => {
    for (const delay of [15 * MINUTE, 90 * MINUTE, 5 * HOUR]) {
      const { requests } = await live(30, () => delay);
      expect(requests).toBeGreaterThanOrEqual(30);
      expect(requests).toBeLessThanOrEqual(30 + 10);
    }
  });

  it('finds a shorter delay again', async () => {
    const { state, now } = await live(60, (day) => (day < 10 ? 6 * HOUR : 15 * MINUTE));
    expect(state.newest?.day).toBe(2160);
    expect(now).toBe(DAY_2100_END + 60 * DAY + 20 * MINUTE);
  });

  it('looks once a day whatever was learned', () => {
    const newest = SOURCE.state.parse({ newest: dayAfter(0) }).newest;
    const state = { ...(newest ? { newest } : {}), delaySeconds: 10 * 86_400 };
    expect(due(state, DAY_2100_END + HOUR)).toBe(DAY_2100_END + HOUR + DAY);
  });

  describe('a stop of many hours', () => {
    it('teaches nothing where nobody had asked for the day', async () => {
      const first = await poll({}, DAY_2100_END + 25 * MINUTE, 0);
      const late = DAY_2100_END + DAY + 11 * HOUR;
      const second = await poll(first, late, 1);
      expect(due(second, late)).toBe(DAY_2100_END + 2 * DAY + 20 * MINUTE);
    });

    it('teaches nothing after the day was asked for in vain', async () => {
      const first = await poll({}, DAY_2100_END + 25 * MINUTE, 0);
      const vain = await poll(first, DAY_2100_END + DAY + 20 * MINUTE, 0);
      const late = DAY_2100_END + DAY + 11 * HOUR;
      expect(due(await poll(vain, late, 1), late)).toBe(DAY_2100_END + 2 * DAY + 20 * MINUTE);
    });

    it('keeps what was known', async () => {
      const first = await poll({}, DAY_2100_END + 25 * MINUTE, 0);
      const vain = await poll(first, DAY_2100_END + DAY + HOUR, 0);
      const learned = await poll(vain, DAY_2100_END + DAY + 2 * HOUR, 1);
      const vainAgain = await poll(learned, DAY_2100_END + 2 * DAY + 110 * MINUTE, 1);
      const late = DAY_2100_END + 2 * DAY + 11 * HOUR;
      expect(due(await poll(vainAgain, late, 2), late)).toBe(DAY_2100_END + 3 * DAY + 110 * MINUTE);
    });
  });

  it('takes a long interval for what it is, not for a stop', async () => {
    const first = await poll({}, DAY_2100_END + 25 * MINUTE, 0);
    const vain = await poll(first, DAY_2100_END + DAY + HOUR, 0, 6 * HOUR);
    const now = DAY_2100_END + DAY + 7 * HOUR;
    expect(due(await poll(vain, now, 1, 6 * HOUR), now)).toBe(DAY_2100_END + 2 * DAY + 7 * HOUR - 10 * MINUTE);
  });

  it('learns nothing from a day that nobody had waited for, because two came at once', async () => {
    const first = await poll({}, DAY_2100_END + 25 * MINUTE, 0);
    const vain = await poll(first, DAY_2100_END + DAY + 3 * HOUR, 0, DAY);
    const now = DAY_2100_END + 2 * DAY + 3 * HOUR;
    expect(due(await poll(vain, now, 2, DAY), now)).toBe(DAY_2100_END + 3 * DAY + 20 * MINUTE);
  });

  it('plans one request a day whatever the interval, and says nothing else without a poll', () => {
    expect(SOURCE.pace(Number.POSITIVE_INFINITY, 1).requestsPerDay).toBe(1);
    expect(SOURCE.nextChange({}, timing())).toBe(Number.POSITIVE_INFINITY);
  });
});
