import { describe, expect, it } from 'vitest';
import type { Chain } from '../../../src/lib/chain.ts';
import { dailyReturnsSource } from '../../../src/sources/daily-returns/index.ts';
import type { DailyReturns } from '../../../src/sources/daily-returns/schema.ts';
import type { Poll } from '../../../src/sources/source.ts';
import { DAY_2100_END, datapoint, dayAfter, returnsPage } from '../../support/datapoint.ts';
import { type FakeApi, failed, fakeApi } from '../../support/fake-api.ts';
import { HOUR, noSignal, timing } from '../../support/timing.ts';

const SPECIFIED = '/api/v2/ethereum/benchmark-store';
const PUBLIC = '/api/v2/ethereum/eth-store';

function poll(
  api: FakeApi,
  previous: DailyReturns = {},
  path = 'auto',
  chain: Chain = 'mainnet',
): Promise<Poll<DailyReturns>> {
  const source = dailyReturnsSource({ chain, intervalMs: HOUR, weight: 1, path });
  return source.poll(api, previous, timing({ now: DAY_2100_END + 2 * HOUR }), noSignal());
}

async function newestAfter(data: readonly unknown[], previous: DailyReturns = {}): Promise<DailyReturns['newest']> {
  return (
    await poll(
      fakeApi(() => returnsPage(...data)),
      previous,
    )
  ).value.newest;
}

/** Knows only this path. */
function apiAt(path: string): FakeApi {
  return fakeApi((request) => {
    if (request.path !== path) throw failed(request, 'not_found');
    return returnsPage(datapoint());
  });
}

function pathsOf(api: FakeApi): string[] {
  return api.requests.map(({ path }) => path);
}

describe('sources/daily-returns/poll', () => {
  it('asks for the last day of its chain, in the form of the specification', async () => {
    const api = fakeApi(() => returnsPage(datapoint()));
    await poll(api, {}, 'auto', 'hoodi');
    expect(api.requests).toEqual([
      {
        endpoint: 'daily_returns',
        priority: 'daily_returns',
        path: SPECIFIED,
        body: { chain: 'hoodi', range: { evaluation_window: '24h' }, page_size: 10 },
      },
    ]);
  });

  it('refuses a day of an index that its chain has not reached: no later one would ever replace it', async () => {
    const odd = datapoint({ day: 2 ** 40 });
    expect((await newestAfter([odd]))?.day).toBeUndefined();
    expect((await newestAfter([odd, datapoint()]))?.day).toBe(2100);
  });

  it('keeps the newest of the days, in any order', async () => {
    const days = [dayAfter(-1), dayAfter(0), dayAfter(-2)];
    expect((await newestAfter(days))?.day).toBe(2100);
    expect((await newestAfter(days.toReversed()))?.day).toBe(2100);
  });

  it('never lets a smaller day replace a larger one', async () => {
    const { value } = await poll(fakeApi(() => returnsPage(datapoint())));
    expect((await newestAfter([dayAfter(-1)], value))?.day).toBe(2100);
    expect((await newestAfter([], value))?.day).toBe(2100);
  });

  it('takes a day over that was computed anew', async () => {
    const { value } = await poll(fakeApi(() => returnsPage(datapoint())));
    const again = datapoint({ apr: { combined: 0.5, consensus_layer: 0.4, execution_layer: 0.1 } });
    expect((await newestAfter([again], value))?.apr.combined).toBe(0.5);
  });

  it('counts a bad day and keeps its neighbours', async () => {
    const bad = [dayAfter(0, { start_balance: 3.5e25 }), dayAfter(0, { day: -1 }), dayAfter(0, { rewards: null }), 'x'];
    const api = fakeApi(() => returnsPage(...bad, dayAfter(-1)));
    expect((await poll(api)).value.newest?.day).toBe(2099);
    expect(api.invalidRecords()).toBe(4);
  });

  it('refuses a day that has not begun', async () => {
    const api = fakeApi(() => returnsPage(dayAfter(2), dayAfter(0)));
    expect((await poll(api)).value.newest?.day).toBe(2100);
    expect(api.invalidRecords()).toBe(1);
  });

  it('lets extra fields pass, and paging and range be absent', async () => {
    const { value } = await poll(fakeApi(() => ({ data: [{ ...datapoint(), validators: 7 }] })));
    expect(value.newest).toEqual(datapoint());
  });

  it('takes an answer without data for a failure', async () => {
    for (const body of [{}, { data: null }, { data: datapoint() }]) {
      await expect(poll(fakeApi(() => body))).rejects.toMatchObject({ reason: 'invalid_body' });
    }
  });

  describe('the path auto', () => {
    it('falls back to the publicly documented path on 404, and remembers it', async () => {
      const first = apiAt(PUBLIC);
      const { value } = await poll(first);
      expect(pathsOf(first)).toEqual([SPECIFIED, PUBLIC]);
      expect(value.newest?.day).toBe(2100);
      const second = apiAt(PUBLIC);
      await poll(second, value);
      expect(pathsOf(second)).toEqual([PUBLIC]);
    });

    it('falls back the other way when the remembered path is gone', async () => {
      const api = apiAt(SPECIFIED);
      const { value } = await poll(api, { path: PUBLIC });
      expect(pathsOf(api)).toEqual([PUBLIC, SPECIFIED]);
      expect(value.path).toBe(SPECIFIED);
    });

    it('begins with the specified path after another was configured for a while', async () => {
      const api = apiAt(SPECIFIED);
      await poll(api, { path: '/custom' });
      expect(pathsOf(api)).toEqual([SPECIFIED]);
    });

    it('fails when neither is found', async () => {
      const api = apiAt('/elsewhere');
      await expect(poll(api)).rejects.toMatchObject({ reason: 'not_found' });
      expect(pathsOf(api)).toEqual([SPECIFIED, PUBLIC]);
    });

    it('falls back on nothing but 404', async () => {
      const api = fakeApi((request) => {
        throw failed(request, 'server_error');
      });
      await expect(poll(api)).rejects.toMatchObject({ reason: 'server_error' });
      expect(api.requests).toHaveLength(1);
    });
  });

  it('asks a configured path alone', async () => {
    const api = apiAt(PUBLIC);
    await expect(poll(api, { path: PUBLIC }, '/custom')).rejects.toMatchObject({ reason: 'not_found' });
    expect(pathsOf(api)).toEqual(['/custom']);
  });
});
