import { describe, expect, it } from 'vitest';
import { Datapoint } from '../../../src/api/answers/daily-returns.ts';
import { FAILURE_REASONS, type FailureReason } from '../../../src/api/errors.ts';
import { type DailyReturns, dailyReturnsSource } from '../../../src/sources/daily-returns/index.ts';
import { DAY_2100_END, datapoint, dayAfter, returnsPage } from '../../support/answers/datapoint.ts';
import { answering, type FakeApi, failed, fakeApi } from '../../support/answers/fake-api.ts';
import { entryWith, round, scheduleAt } from '../../support/runs/round.ts';
import { DAY, HOUR, MINUTE } from '../../support/time/timing.ts';

const SPECIFIED = '/api/v2/ethereum/benchmark-store';
const PUBLIC = '/api/v2/ethereum/eth-store';

const NOW = DAY_2100_END + 2 * HOUR;
const SOURCE = dailyReturnsSource('mainnet', HOUR);

function poll(api: FakeApi, before: DailyReturns = {}, source = SOURCE) {
  return round(source, api, entryWith(source, before), { now: NOW });
}

async function newestAfter(data: readonly unknown[], previous: DailyReturns = {}): Promise<DailyReturns['newest']> {
  return (await poll(answering(returnsPage(...data)), previous)).value.newest;
}

/** A service that knows only this path, and refuses others with this reason. */
function apiAt(path: string, reason: FailureReason = 'not_found'): FakeApi {
  return fakeApi((request) => {
    if (request.path !== path) throw failed(request, reason);
    return returnsPage(datapoint());
  });
}

function pathsOf(api: FakeApi): string[] {
  return api.requests.map(({ path }) => path);
}

describe('sources/daily-returns', () => {
  it('requests the last day of its chain in the specified form', async () => {
    const api = answering(returnsPage(datapoint()));
    await poll(api, {}, dailyReturnsSource('hoodi', HOUR));
    const body = { chain: 'hoodi', range: { evaluation_window: '24h' }, page_size: 10 };
    expect(api.requests).toEqual([{ endpoint: 'daily_returns', priority: 'once_a_day', path: SPECIFIED, body }]);
  });

  // No later day would ever replace the first, and none would be requested before the end of the last.
  it.each([
    ['of an index that its chain has not reached', datapoint({ day: 2 ** 40 })],
    ['that has not begun', dayAfter(2)],
    ['whose end is far in the future', datapoint({ day_end: 4e9 })],
  ])('refuses a day %s, and keeps its neighbours', async (_, odd) => {
    const api = answering(returnsPage(odd, dayAfter(0)));
    expect((await poll(api)).value.newest?.day).toBe(2100);
    expect(api.invalidRecords()).toBe(1);
  });

  it('never replaces a day by an earlier one, but by a new answer about the same day', async () => {
    const { value } = await poll(answering(returnsPage(datapoint())));
    expect((await newestAfter([dayAfter(-1)], value))?.day).toBe(2100);
    expect((await newestAfter([], value))?.day).toBe(2100);
    const again = datapoint({ apr: { combined: 0.5, consensus_layer: 0.4, execution_layer: 0.1 } });
    expect((await newestAfter([again], value))?.apr?.combined).toBe(0.5);
  });

  it('fails if no day has begun', async () => {
    const { failure, value } = await poll(answering(returnsPage(dayAfter(30), dayAfter(31))));
    expect(failure).toMatchObject({ reason: 'invalid_body' });
    expect(value.newest).toBeUndefined();
  });

  describe('the path', () => {
    /** What an answer to an unknown path may be. */
    const UNKNOWN = ['bad_request', 'forbidden', 'not_found', 'method_not_allowed', 'unexpected_status'] as const;

    it.each(UNKNOWN)('is the public one, and stays so, if the specified one gets %s', async (reason) => {
      const first = apiAt(PUBLIC, reason);
      const { value, failure } = await poll(first);
      expect(failure).toBeUndefined();
      expect(pathsOf(first)).toEqual([SPECIFIED, PUBLIC]);
      expect(value.newest?.day).toBe(2100);
      const second = apiAt(PUBLIC);
      await poll(second, value, dailyReturnsSource('mainnet', HOUR));
      expect(pathsOf(second)).toEqual([PUBLIC]);
      const third = apiAt(SPECIFIED);
      expect((await poll(third, value)).value.path).toBe(SPECIFIED);
      expect(pathsOf(third)).toEqual([PUBLIC, SPECIFIED]);
    });

    it.each(UNKNOWN)('that never worked fails with %s if the other is not found either', async (reason) => {
      const api = fakeApi((request) => {
        throw failed(request, request.path === SPECIFIED ? reason : 'not_found');
      });
      expect((await poll(api)).failure).toMatchObject({ reason });
    });

    it('does not change after other failures, and a working one only if it is gone', async () => {
      const works = (await poll(apiAt(SPECIFIED))).value;
      for (const reason of FAILURE_REASONS) {
        const isOther = !UNKNOWN.some((one) => one === reason);
        for (const before of [...(isOther ? [{}] : []), ...(reason === 'not_found' ? [] : [works])]) {
          const api = apiAt(PUBLIC, reason);
          expect((await poll(api, before)).failure).toMatchObject({ reason });
          expect(pathsOf(api)).toEqual([SPECIFIED]);
        }
      }
    });
  });

  describe('is due', () => {
    const DAY_2100 = { newest: Datapoint.parse(datapoint()) };
    const NEXT = DAY_2100_END + DAY + 30 * MINUTE;
    // The service may give any end.
    const EARLY = DAY_2100_END - 3 * DAY;

    it.each<[string, DailyReturns, lastAttemptAt: number, expected: number]>([
      ['every interval until the first day is known', {}, DAY_2100_END, DAY_2100_END + HOUR],
      ['30 minutes after the end of the next day', DAY_2100, NEXT - MINUTE, NEXT],
      ['then every interval until the day is there', DAY_2100, NEXT, NEXT + HOUR],
      ['at the latest a day and an interval after the last poll', DAY_2100, EARLY, EARLY + DAY + HOUR],
    ])('%s', (_, value, lastAttemptAt, expected) => {
      const reads = { days: { failuresInARow: 0, durationMs: 0, lastAttemptAt } };
      const { first } = scheduleAt(SOURCE, { ...entryWith(SOURCE, value), reads }, lastAttemptAt);
      expect(first.nextAttemptAt).toBe(expected);
    });
  });
});
