import { beforeEach, describe, expect, it } from 'vitest';
import { BudgetClosed } from '../../../src/budget/permit.ts';
import { emptyEntry } from '../../../src/scheduler/entry.ts';
import { requestsPerDay } from '../../../src/scheduler/schedules.ts';
import { slashingsSource } from '../../../src/sources/slashings/index.ts';
import { defaultConfig } from '../../support/runs/default-config.ts';
import { E, F, Follower, following } from '../../support/runs/follower.ts';
import { scheduleAt } from '../../support/runs/round.ts';
import { slashingsOptions } from '../../support/runs/slashings-options.ts';
import { DAY, HOUR, MINUTE, NOW } from '../../support/time/timing.ts';

/** A recent epoch of hoodi. */
const HOODI_E = 120_000;
/** 225 epochs a day. */
const EPOCH_MS = 384_000;
const { intervalMs: BY_DEFAULT } = defaultConfig().slashings;

describe('sources/slashings', () => {
  let follower: Follower;
  beforeEach(async () => {
    follower = await following();
  });

  it('requests v1 for its chain, and gives slashings the highest priority', async () => {
    follower = new Follower({ chain: 'hoodi' });
    follower.chain.grow(HOODI_E, HOODI_E - 2);
    follower.chain.slash(HOODI_E * 32, [1]);
    await follower.poll();
    expect(follower.requests.map(({ priority, chain, path }) => [priority, chain, path])).toEqual([
      ['head_pass', 'hoodi', '/api/v1/epoch/latest/slots'],
      ['slashing_details', 'hoodi', `/api/v1/slot/${HOODI_E * 32}/attesterslashings`],
      ['finalized_pass', 'hoodi', '/api/v1/epoch/finalized/slots'],
    ]);
  });

  it('gives old epochs the lowest priority', async () => {
    follower.chain.grow(E + 5, F + 5);
    await follower.poll(HOUR);
    expect(follower.requests.slice(-4).map(({ priority, path }) => [priority, path.split('/')[4]])).toEqual([
      ['catch_up', `${F + 1}`],
      ['catch_up', `${F + 2}`],
      ['finalized_pass', `${F + 3}`],
      ['finalized_pass', `${F + 4}`],
    ]);
  });

  it('reports a closed budget, and keeps its value', async () => {
    follower = await following({ watch: [{ first: 7, last: 7 }] });
    const { state } = follower;
    follower.inputs = { slashedByStatus: [{ validator: 7 }] };
    follower.fault = () => {
      throw new BudgetClosed(0);
    };
    await follower.poll();
    expect(follower.failure).toBeInstanceOf(BudgetClosed);
    expect(follower.state).toEqual({ ...state, slashedByStatus: [{ validator: 7 }] });
  });

  it.each(['latest', 'slot', 'finalized', `${F + 1}`])('has no result if it is aborted at %s', async (where) => {
    follower.chain.grow(E + 2, F + 2);
    follower.chain.slash((E + 2) * 32, [1]);
    const stop = new AbortController();
    follower.signal = stop.signal;
    follower.fault = (what) => {
      if (what.split('/')[0] !== where) return undefined;
      stop.abort(new Error('stopping'));
      return 'network';
    };
    const { reads } = follower.entry;
    await follower.poll();
    const aborted = where === 'latest' || where === 'slot' ? 'head' : 'finalized';
    expect(follower.entry.reads[aborted]).toEqual(reads[aborted]);
    expect(follower.state.scannedEpoch).toBe(F);
    expect(follower.sightings).toHaveLength(aborted === 'head' ? 0 : 1);
  });

  it('reads only finalized epochs, each interval, if head passes do not fit the budget', async () => {
    const scarce = { allowedPerDay: 300 };
    expect(follower.due(scarce)).toBe(follower.now + DAY / 300);
    follower.chain.grow(E + 3, F + 3);
    expect(await follower.poll(3 * EPOCH_MS, scarce)).toEqual(['finalized', `${F + 1}`, `${F + 2}`]);
    expect(await follower.poll(DAY / 300, scarce)).toEqual(['finalized']);
    expect(follower.state.totals.slots.proposed).toBe(4 * 32);
    follower.chain.grow(E + 23, F + 23);
    await follower.poll(20 * EPOCH_MS, scarce);
    expect(follower.due(scarce)).toBe(follower.now);
  });

  it.each([
    ['the head', ['latest', 'finalized'], ['latest', 'finalized']],
    ['finality', ['finalized'], ['finalized']],
    ['the slashings of a block', [`slot/${E * 32}`], ['latest', `slot/${E * 32}`]],
  ])('repeats only the failed read after a minute, at any interval: %s', async (_, broken, again) => {
    for (const intervalMs of [BY_DEFAULT, HOUR]) {
      follower = new Follower({ intervalMs });
      follower.chain.grow(E, F);
      follower.chain.slash(E * 32, [3]);
      follower.fault = (what) => (broken.includes(what) ? 'timeout' : undefined);
      await follower.poll(0);
      expect(follower.due()).toBe(follower.now + MINUTE);
      expect(await follower.poll(MINUTE)).toEqual(again);
      follower.fault = () => undefined;
      await follower.poll(Math.min(2 * MINUTE, intervalMs));
      expect(Object.values(follower.entry.reads).map(({ failuresInARow }) => failuresInARow)).toEqual([0, 0]);
    }
  });

  describe('its pace', () => {
    /** The pace at `perDay` requests. `leftOut`: the reads that the budget left out before. */
    function paceAt(perDay: number, { leftOut = [] as string[], intervalMs = MINUTE } = {}) {
      const source = slashingsSource(slashingsOptions({ intervalMs }));
      const schedule = scheduleAt(source, { ...emptyEntry(source), leftOut }, NOW, perDay);
      const { pace, timing } = schedule.first;
      return {
        intervalMs: Math.round(pace.intervalMs),
        requests: requestsPerDay(schedule),
        leavesOut: source.more?.leavesOut?.(timing),
      };
    }
    const about = (requests: number): unknown => expect.closeTo(requests);
    const FINALIZED = 'no head passes, every finalized epoch';
    const SAMPLED = 'newest finalized epoch only, the others are skipped';

    it.each<[string, perDay: number, intervalMs: number, requests: unknown, leavesOut: string, configured?: number]>([
      ['is about 1,330 + 225 + 225 requests', Number.POSITIVE_INFINITY, BY_DEFAULT, about(1_779.23), '', BY_DEFAULT],
      ['is the same where the budget just allows it', 1_780, BY_DEFAULT, about(1_779.23), '', BY_DEFAULT],
      ['has rarer head passes where it does not', 1_779, BY_DEFAULT + 11, about(1_779), '', BY_DEFAULT],
      ['has rarer head passes at a minute, too', 1_889, MINUTE + 42, about(1_889), ''],
      ['has half of the head passes', 450 + 720, 2 * MINUTE, about(1_170), ''],
      ['has one head pass per epoch', 675, EPOCH_MS, about(675), ''],
      ['then stops them', 674.9, Math.round(DAY / 674.9), about(674.9), FINALIZED],
      ['looks at finality as often as there is something for it', 300, DAY / 300, about(300), FINALIZED],
      ['looks at finality once an epoch at least', 225, DAY / 225, about(225), FINALIZED],
      ['below that reads the newest finalized epoch as often as it can', 96, DAY / 96, about(96), SAMPLED],
      ['reads the newest finalized epoch at last once in 31 days', 0, 31 * DAY, about(1 / 31), SAMPLED],
      ['reads every finalized epoch at a long interval that was chosen', 225 + 48 - 1, HOUR, 225, FINALIZED, HOUR],
      ['keeps a long interval below that', 224, HOUR, about(24), SAMPLED, HOUR],
    ])('%s: %d a day', (_, perDay, every, requests, leavesOut, intervalMs = MINUTE) => {
      expect(paceAt(perDay, { intervalMs })).toEqual({ intervalMs: every, requests, leavesOut });
    });

    it('restores head passes when the share exceeds their cost by a tenth, and uses all of it before', () => {
      const back = (share: number) => paceAt(share, { leftOut: ['head'] });
      expect([675, 742, 743].map((share) => back(share).leavesOut)).toEqual([FINALIZED, FINALIZED, '']);
      for (const share of [230, 240, 700, 740]) expect(back(share).requests).toBeCloseTo(share, 6);
    });
  });

  it('has little weight until every finalized epoch can be read, and then more', () => {
    const shares = (chains: number, ...allowed: number[]) =>
      allowed.map((perDay) => slashingsSource(slashingsOptions({ chains })).share(perDay));
    expect(shares(1, 0, 225, 412.5, 600, Number.POSITIVE_INFINITY)).toEqual([0.3, 0.3, expect.closeTo(1.65), 3, 3]);
    expect(shares(2, 450, 1_200)).toEqual([0.15, 1.5]);
  });
});
