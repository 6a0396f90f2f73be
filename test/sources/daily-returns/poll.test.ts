import { describe, expect, it } from 'vitest';
import type { FailureReason } from '../../../src/api/errors.ts';
import type { Chain } from '../../../src/lib/chain.ts';
import { dailyReturnsSource } from '../../../src/sources/daily-returns/index.ts';
import type { DailyReturns } from '../../../src/sources/daily-returns/schema.ts';
import type { Poll } from '../../../src/sources/source.ts';
import { DAY_2100_END, datapoint, dayAfter, returnsPage } from '../../support/datapoint.ts';
import { type FakeApi, failed, fakeApi } from '../../support/fake-api.ts';
import { DAY, HOUR, noSignal, timing } from '../../support/timing.ts';

const SPECIFIED = '/api/v2/ethereum/benchmark-store';
const PUBLIC = '/api/v2/ethereum/eth-store';

const NOW = DAY_2100_END + 2 * HOUR;

/** The state passes through JSON, as over a restart. */
async function poll(
  api: FakeApi,
  previous: DailyReturns = {},
  path = 'auto',
  chain: Chain = 'mainnet',
  now = NOW,
): Promise<Poll<DailyReturns>> {
  const source = dailyReturnsSource({ chain, intervalMs: HOUR, weight: 1, path });
  const result = await source.poll(api, previous, timing({ now }), noSignal());
  return { ...result, value: source.state.parse(JSON.parse(JSON.stringify(result.value))) };
}

async function newestAfter(data: readonly unknown[], previous: DailyReturns = {}): Promise<DailyReturns['newest']> {
  return (
    await poll(
      fakeApi(() => returnsPage(...data)),
      previous,
    )
  ).value.newest;
}

/** Knows only this path, and refuses any other for this reason. */
function apiAt(path: string, reason: FailureReason = 'not_found'): FakeApi {
  return fakeApi((request) => {
    if (request.path !== path) throw failed(request, reason);
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
      const { value, failure } = await poll(fakeApi(() => body));
      expect(failure).toMatchObject({ reason: 'invalid_body' });
      expect(value.newest).toBeUndefined();
    }
  });

  describe('the path auto', () => {
    it('falls back to the publicly documented path on 404, and remembers it', async () => {
      const first = apiAt(PUBLIC);
      const { value, oneTimeRequests } = await poll(first);
      expect(pathsOf(first)).toEqual([SPECIFIED, PUBLIC]);
      expect(oneTimeRequests).toBe(1);
      expect(value.newest?.day).toBe(2100);
      const second = apiAt(PUBLIC);
      await poll(second, value);
      expect(pathsOf(second)).toEqual([PUBLIC]);
    });

    it.for<FailureReason>([
      'bad_request',
      'forbidden',
      'not_found',
      'method_not_allowed',
      'unexpected_status',
      'invalid_body',
    ])('tries the other where none has answered yet: a gateway may answer an unknown path with %s', async (reason) => {
      const api = apiAt(PUBLIC, reason);
      const { value, failure } = await poll(api);
      expect(pathsOf(api)).toEqual([SPECIFIED, PUBLIC]);
      expect(failure).toBeUndefined();
      expect(value.newest?.day).toBe(2100);
    });

    it.for<FailureReason>(['server_error', 'timeout', 'network', 'rate_limited', 'revoked', 'unauthorized'])(
      'does not try the other after %s, which says nothing about the path',
      async (reason) => {
        const api = apiAt(PUBLIC, reason);
        expect((await poll(api)).failure).toMatchObject({ reason });
        expect(pathsOf(api)).toEqual([SPECIFIED]);
      },
    );

    it('goes back at once when the path that answered is not found any more', async () => {
      const { value } = await poll(apiAt(PUBLIC));
      const api = apiAt(SPECIFIED);
      expect((await poll(api, value)).failure).toBeUndefined();
      expect(pathsOf(api)).toEqual([PUBLIC, SPECIFIED]);
    });

    it('keeps the path that answered through other refusals, until it has not answered for a day', async () => {
      const { value } = await poll(apiAt(SPECIFIED));
      const api = apiAt(PUBLIC, 'forbidden');
      const { value: refused, failure } = await poll(api, value, 'auto', 'mainnet', NOW + DAY - 1);
      expect(failure).toMatchObject({ reason: 'forbidden' });
      expect(pathsOf(api)).toEqual([SPECIFIED]);
      expect((await poll(api, refused, 'auto', 'mainnet', NOW + DAY)).failure).toBeUndefined();
      expect(pathsOf(api)).toEqual([SPECIFIED, SPECIFIED, PUBLIC]);
    });

    it('tries the other once a day while both are refused, also over restarts', async () => {
      const api = apiAt('/elsewhere', 'forbidden');
      let state: DailyReturns = {};
      for (const hours of [0, 1, 2, 23, 24, 25]) {
        ({ value: state } = await poll(api, state, 'auto', 'mainnet', NOW + hours * HOUR));
      }
      expect(pathsOf(api).filter((path) => path === SPECIFIED)).toHaveLength(6);
      expect(pathsOf(api).filter((path) => path === PUBLIC)).toHaveLength(2);
    });

    it('begins with the specified path after another was configured for a while', async () => {
      const api = apiAt(SPECIFIED);
      await poll(api, (await poll(apiAt('/custom'), {}, '/custom')).value);
      expect(pathsOf(api)).toEqual([SPECIFIED]);
    });

    it('fails when neither is found', async () => {
      const api = apiAt('/elsewhere');
      expect((await poll(api)).failure).toMatchObject({ reason: 'not_found' });
      expect(pathsOf(api)).toEqual([SPECIFIED, PUBLIC]);
    });

    it.for([SPECIFIED, PUBLIC])(
      'tells what %s says, and asks it from then on, where the other is not found',
      async (path) => {
        const api = fakeApi((request) => {
          throw failed(request, request.path === path ? 'forbidden' : 'not_found');
        });
        const { value, failure } = await poll(api);
        expect(failure).toMatchObject({ reason: 'forbidden' });
        expect((await poll(api, value)).failure).toMatchObject({ reason: 'forbidden' });
        expect(pathsOf(api)).toEqual([SPECIFIED, PUBLIC, path]);
      },
    );

    it('is not misled by a bad moment: a path that was refused for another reason is left at its first 404', async () => {
      const { value } = await poll(apiAt('/elsewhere', 'invalid_body'));
      const api = apiAt(PUBLIC);
      expect((await poll(api, value)).failure).toBeUndefined();
      expect(pathsOf(api)).toEqual([SPECIFIED, PUBLIC]);
    });
  });

  it('asks a configured path alone', async () => {
    const api = apiAt(PUBLIC);
    expect((await poll(api, { paths: { first: PUBLIC } }, '/custom')).failure).toMatchObject({ reason: 'not_found' });
    expect(pathsOf(api)).toEqual(['/custom']);
  });

  it('the past is read by the same rules: the other path is tried once in a run, and what has answered is kept', async () => {
    const read = async (api: FakeApi, pages: number): Promise<unknown[]> => {
      const history = dailyReturnsSource({ chain: 'mainnet', intervalMs: HOUR, weight: 1, path: 'auto' }).history?.();
      const results: unknown[] = [];
      for (let page = 0; page < pages; page += 1) {
        const reading = history?.readPage(api, { window: '7d' }, undefined, noSignal());
        results.push(
          await reading?.then(
            ({ count }) => count,
            (error: unknown) => error,
          ),
        );
      }
      return results;
    };
    const api = apiAt(PUBLIC, 'forbidden');
    expect(await read(api, 2)).toEqual([1, 1]);
    expect(pathsOf(api)).toEqual([SPECIFIED, PUBLIC, PUBLIC]);
    const refused = apiAt('/elsewhere', 'forbidden');
    expect(await read(refused, 2)).toMatchObject([{ reason: 'forbidden' }, { reason: 'forbidden' }]);
    expect(pathsOf(refused)).toEqual([SPECIFIED, PUBLIC, SPECIFIED]);
  });
});
