import { describe, expect, it } from 'vitest';
import type { FailureReason } from '../../../src/api/errors.ts';
import { epochAt, SECONDS_PER_EPOCH, slotTime } from '../../../src/lib/chain.ts';
import { Follower } from '../../support/follower.ts';
import { epochRows, row } from '../../support/slot-rows.ts';
import { DAY, HOUR, MINUTE, NOW } from '../../support/timing.ts';

const E = epochAt('mainnet', NOW);
/** The epoch that has just begun is read 30 s after its start. */
const START = slotTime('mainnet', E * 32) * 1000;
const EPOCH = SECONDS_PER_EPOCH * 1000;

/** Follows a service that rejects `latest` from the first poll on, which is in the middle of epoch E. */
async function rejected(reason: FailureReason = 'bad_request'): Promise<Follower> {
  const follower = new Follower();
  follower.chain.grow(E, E - 2);
  follower.fault = (what) => (what === 'latest' ? reason : undefined);
  follower.now = START + EPOCH / 2 - MINUTE;
  await follower.poll();
  return follower;
}

describe('sources/slashings, where the service rejects latest', () => {
  it.for<FailureReason>(['bad_request', 'forbidden', 'not_found', 'method_not_allowed', 'invalid_body'])(
    'asks for the epoch before the current one by the clock after %s, and from then on for the current one alone',
    async (reason) => {
      const follower = await rejected(reason);
      expect(follower.asked.slice(0, 2)).toEqual(['latest', `${E - 1}`]);
      expect(follower.failure).toBeUndefined();
      expect(follower.state.headEpoch).toBe(E - 1);
      expect((await follower.poll()).slice(0, 2)).toEqual([`${E}`, `${E - 1}`]);
      expect(follower.state).toMatchObject({ headEpoch: E, head: { slot: E * 32 + 31 } });
      expect(await follower.poll()).toEqual([`${E}`]);
      expect(follower.failure).toBeUndefined();
    },
  );

  it('asks for the epoch before where the service does not have the next one yet, and once more when it has', async () => {
    const follower = await rejected();
    await follower.poll();
    follower.chain.epochs.set(E, epochRows(E, {}, 30));
    expect(await follower.poll(START + EPOCH + 5_000 - follower.now)).toEqual([`${E + 1}`, `${E}`]);
    expect(follower.failure).toBeUndefined();
    expect(follower.state.headEpoch).toBe(E);
    follower.chain.grow(E + 1, E - 2);
    follower.chain.epochs.set(E, epochRows(E));
    follower.chain.slash(E * 32 + 31, [7]);
    expect((await follower.poll()).slice(0, 3)).toEqual([`${E + 1}`, `${E}`, `slot/${E * 32 + 31}`]);
    expect(follower.sightings).toMatchObject([{ slot: E * 32 + 31, validators: [7] }]);
    expect(await follower.poll()).toEqual([`${E + 1}`]);
  });

  it('takes an epoch that holds no block yet for one that the service does not have', async () => {
    const follower = await rejected();
    await follower.poll();
    const scheduled = Array.from({ length: 32 }, (_, i) => row({ slot: (E + 1) * 32 + i, status: '0' }));
    follower.chain.epochs.set(E + 1, scheduled);
    expect(await follower.poll(START + EPOCH + 5_000 - follower.now)).toEqual([`${E + 1}`, `${E}`]);
    expect(follower.state).toMatchObject({ headEpoch: E, head: { slot: E * 32 + 31 } });
    expect(follower.failure).toBeUndefined();
  });

  it('counts every finalized epoch once, as with latest', async () => {
    const follower = await rejected();
    for (let epoch = E + 1; epoch < E + 6; epoch += 1) {
      follower.chain.grow(epoch, epoch - 2);
      follower.now = START + (epoch - E) * EPOCH;
      for (let pass = 0; pass < 5; pass += 1) {
        await follower.poll();
        expect(follower.failure).toBeUndefined();
      }
    }
    expect(follower.state.scannedEpoch).toBe(E + 3);
    expect(follower.state.totals.slots.proposed).toBe((E + 3 - (E - 2) + 1) * 32);
    expect(follower.state.totals.skippedEpochs).toBe(0);
  });

  it('tries latest again once a day, and keeps to it once it answers', async () => {
    const follower = await rejected();
    let tries = 0;
    for (let minute = 0; minute < 25 * 60; minute += 5) {
      const epoch = epochAt('mainnet', follower.now + 5 * MINUTE);
      follower.chain.grow(epoch, epoch - 2);
      if ((await follower.poll(5 * MINUTE)).includes('latest')) tries += 1;
      expect(follower.failure).toBeUndefined();
    }
    expect(tries).toBe(1);
    follower.fault = () => undefined;
    const epoch = epochAt('mainnet', follower.now + DAY);
    follower.chain.grow(epoch, epoch - 2);
    for (const after of [DAY, MINUTE, MINUTE]) expect((await follower.poll(after))[0]).toBe('latest');
  });

  it('keeps to latest where that has answered: a refusal costs nothing more for a day', async () => {
    const follower = new Follower();
    follower.now = START;
    follower.chain.grow(E, E - 2);
    await follower.poll();
    follower.fault = (what) => (what === 'latest' ? 'bad_request' : undefined);
    expect(await follower.poll(HOUR)).toEqual(['latest', 'finalized']);
    expect(follower.failure).toMatchObject({ reason: 'bad_request' });
    expect(await follower.poll(22 * HOUR)).toEqual(['latest', 'finalized']);
    expect((await follower.poll(HOUR)).slice(0, 2)).toEqual(['latest', `${epochAt('mainnet', follower.now) - 1}`]);
  });

  it('costs one further request a day where the numbers are refused too', async () => {
    const follower = new Follower();
    follower.now = START;
    follower.fault = () => 'bad_request';
    let asked = 0;
    for (let hour = 0; hour < 72; hour += 1) {
      const heads = (await follower.poll(HOUR)).filter((what) => what !== 'finalized');
      expect(heads.length).toBeLessThanOrEqual(2);
      asked += heads.length;
    }
    expect(asked).toBe(72 + 3);
  });
});
