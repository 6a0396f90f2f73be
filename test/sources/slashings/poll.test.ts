import { describe, expect, it } from 'vitest';
import { BudgetClosed } from '../../../src/budget/permit.ts';
import { fakeApi } from '../../support/answers/fake-api.ts';
import { chainAnswer } from '../../support/answers/slot-rows.ts';
import { E, F, Follower, following } from '../../support/runs/follower.ts';
import { HOUR, MINUTE, noSignal } from '../../support/time/timing.ts';

/** Its genesis is more than two years after that of mainnet. */
const HOODI_E = 120_000;
const EPOCH_MS = 384_000;

describe('sources/slashings/poll', () => {
  it('asks v1 for its chain, the head in its turn and slashings first', async () => {
    const follower = new Follower({ chain: 'hoodi' });
    follower.chain.grow(HOODI_E, HOODI_E - 2);
    follower.chain.slash(HOODI_E * 32, [1]);
    const api = fakeApi((request) => chainAnswer(follower.chain, request));
    await follower.source.poll(api, follower.state, follower.timing(), noSignal());
    expect(api.requests).toEqual([
      { endpoint: 'epoch_slots', priority: 'head_pass', chain: 'hoodi', path: '/api/v1/epoch/latest/slots' },
      {
        endpoint: 'attester_slashings',
        priority: 'slashing_details',
        chain: 'hoodi',
        path: `/api/v1/slot/${HOODI_E * 32}/attesterslashings`,
      },
      { endpoint: 'epoch_slots', priority: 'finalized_pass', chain: 'hoodi', path: '/api/v1/epoch/finalized/slots' },
    ]);
  });

  it('lets old epochs wait for everything else', async () => {
    const follower = await following();
    follower.chain.grow(E + 5, F + 5);
    const api = fakeApi((request) => chainAnswer(follower.chain, request));
    await follower.source.poll(api, follower.state, follower.timing({ now: follower.now + HOUR }), noSignal());
    const priorities = api.requests.slice(-4).map(({ priority, path }) => [priority, path.split('/')[4]]);
    expect(priorities).toEqual([
      ['catch_up', `${F + 1}`],
      ['catch_up', `${F + 2}`],
      ['finalized_pass', `${F + 3}`],
      ['finalized_pass', `${F + 4}`],
    ]);
  });

  it('continues with the finalized epochs if only the head cannot be read', async () => {
    const follower = await following();
    follower.fault = (what) => (what === 'latest' ? 'server_error' : undefined);
    for (let i = 1; i <= 3; i += 1) {
      follower.chain.grow(E + i, F + i);
      expect(await follower.poll()).toEqual(['latest', 'finalized']);
      expect(follower.failure).toMatchObject({ reason: 'server_error' });
    }
    expect(follower.state.scannedEpoch).toBe(F + 3);
  });

  it('reports a closed budget and keeps its value', async () => {
    const follower = await following();
    const before = follower.state;
    const api = fakeApi(() => {
      throw new BudgetClosed(0);
    });
    const poll = await follower.source.poll(api, before, follower.timing({ now: follower.now + MINUTE }), noSignal());
    expect(poll.failure).toBeInstanceOf(BudgetClosed);
    // The head pass is due again.
    const { headPassAt: _, ...known } = before;
    expect(poll.value).toEqual(known);
  });

  it.each(['latest', 'slot', 'finalized', `${F + 1}`])('is not a result when it is aborted at %s', async (where) => {
    const follower = await following();
    follower.chain.grow(E + 2, F + 2);
    follower.chain.slash((E + 2) * 32, [1]);
    const stop = new AbortController();
    const api = fakeApi((request) => {
      if (request.path.includes(`/${where}/`)) {
        stop.abort(new Error('stopping'));
        throw new Error('broken off');
      }
      return chainAnswer(follower.chain, request);
    });
    const poll = follower.source.poll(
      api,
      follower.state,
      follower.timing({ now: follower.now + MINUTE }),
      stop.signal,
    );
    await expect(poll).rejects.toThrow();
  });

  describe('where head passes do not fit the budget', () => {
    const coverage = 'finalized';

    it('reads the finalized epochs alone, each interval', async () => {
      const follower = await following();
      follower.chain.grow(E + 3, F + 3);
      expect(await follower.poll(3 * EPOCH_MS, { coverage })).toEqual(['finalized', `${F + 1}`, `${F + 2}`]);
      expect(await follower.poll(MINUTE, { coverage })).toEqual(['finalized']);
      expect(follower.state.totals.slots.proposed).toBe(4 * 32);
    });

    it('is due each interval, and at once while epochs are left', async () => {
      const follower = await following();
      expect(follower.due({ coverage, intervalMs: HOUR })).toBe(follower.now + HOUR);
      follower.chain.grow(E + 20, F + 20);
      await follower.poll(20 * EPOCH_MS, { coverage });
      expect(follower.due({ coverage, intervalMs: HOUR })).toBe(follower.now);
    });
  });

  describe('is due', () => {
    it('an interval after a failure, however much is left to read', async () => {
      const follower = await following();
      follower.chain.grow(E + 20, F + 20);
      follower.fault = (what) => (what === `${F + 3}` ? 'network' : undefined);
      await follower.poll();
      expect(follower.state.scannedEpoch).toBe(F + 2);
      expect(follower.due()).toBe(follower.now + MINUTE);
    });

    it('at once when the last head pass is in the future, because the clock was set back', async () => {
      const follower = await following();
      follower.now -= HOUR;
      expect(follower.due()).toBeLessThanOrEqual(follower.now);
      expect(await follower.poll(0)).toEqual(['latest']);
    });
  });
});
