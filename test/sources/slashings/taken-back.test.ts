import { describe, expect, it } from 'vitest';
import { epochAt } from '../../../src/lib/chain.ts';
import { Follower } from '../../support/follower.ts';
import { epochRows } from '../../support/slot-rows.ts';
import { HOUR, MINUTE, NOW } from '../../support/timing.ts';

/** The latest epoch; everything up to two before it is final. */
const E = 405_000;
const F = E - 2;
const EPOCH_MS = 384_000;

async function settled(epoch = E): Promise<Follower> {
  const follower = new Follower();
  follower.chain.grow(epoch, epoch - 2);
  await follower.poll();
  return follower;
}

/** One poll in which the views name other epochs, with rows that give nothing away. */
async function oddPoll(follower: Follower, views: { latest?: number; finalized?: number }): Promise<string[]> {
  const { chain } = follower;
  const { latest, finalized } = chain;
  const madeUp = Object.values(views).filter((epoch) => !chain.epochs.has(epoch));
  for (const epoch of madeUp) chain.epochs.set(epoch, epochRows(epoch));
  Object.assign(chain, views);
  const asked = await follower.poll();
  Object.assign(chain, { latest, finalized });
  for (const epoch of madeUp) chain.epochs.delete(epoch);
  return asked;
}

/** The chain goes on for an epoch and is polled in it. Returns what was asked for. */
async function nextEpoch(follower: Follower): Promise<string[]> {
  const { latest, finalized } = follower.chain;
  follower.chain.grow(latest + 1, finalized + 1);
  return follower.poll();
}

function proposed(follower: Follower): number | undefined {
  return follower.value('slots_total', { status: 'proposed' });
}

describe('sources/slashings answers that the next ones take back', () => {
  describe('a finalized view ahead', () => {
    it.each([0, 1, 20, 300])('of the latest epoch by %i costs its answer, and nothing is counted', async (ahead) => {
      const follower = await settled();
      follower.chain.epochs.set(E + 1, epochRows(E + 1, {}, 9));
      follower.chain.grow(E + 1, F + 1);
      await oddPoll(follower, { finalized: E + 1 + ahead });
      expect(follower.failure).toMatchObject({ reason: 'invalid_body' });
      expect(follower.state).toMatchObject({ headEpoch: E + 1, finalizedEpoch: F, scannedEpoch: F });
      expect(await follower.poll()).toEqual(['latest', 'finalized']);
      expect(follower.failure).toBeUndefined();
      expect(await follower.poll()).toEqual(['latest']);
      follower.chain.epochs.set(E + 1, epochRows(E + 1));
      expect(await nextEpoch(follower)).toEqual(['latest', `${E + 1}`, 'finalized']);
      expect(proposed(follower)).toBe(3 * 32);
    });

    it('of what is final is believed when the next look says so too', async () => {
      const follower = await settled();
      follower.chain.grow(E + 1, E);
      expect(await follower.poll()).toEqual(['latest', `${E}`, 'finalized']);
      expect(follower.state).toMatchObject({ finalizedEpoch: F, scannedEpoch: F });
      expect(await follower.poll()).toEqual(['latest', 'finalized', `${F + 1}`]);
      expect(follower.state).toMatchObject({ finalizedEpoch: E, scannedEpoch: E });
    });

    it('is not believed where the next look takes it back', async () => {
      const follower = await settled();
      for (let i = 1; i <= 9; i += 1) {
        follower.chain.grow(E + i, F);
        await follower.poll();
      }
      follower.chain.grow(E + 10, F);
      await oddPoll(follower, { finalized: F + 5 });
      await follower.poll();
      expect(follower.state).toMatchObject({ finalizedEpoch: F, scannedEpoch: F });
      expect(await follower.poll()).toEqual(['latest']);
    });

    it('of more than the time allows is not counted where no head is read', async () => {
      const follower = await settled();
      const coverage = 'finalized';
      await follower.poll(EPOCH_MS, { coverage });
      follower.chain.finalized = F + 3;
      follower.chain.grow(E + 1, F + 3);
      expect(await follower.poll(EPOCH_MS, { coverage })).toEqual(['finalized']);
      follower.chain.finalized = F + 1;
      expect(await follower.poll(EPOCH_MS, { coverage })).toEqual(['finalized']);
      expect(proposed(follower)).toBe(2 * 32);
    });

    it('by one epoch at every look is how some services are', async () => {
      const follower = new Follower();
      follower.chain.grow(E, E - 1);
      await follower.poll();
      expect(proposed(follower)).toBe(0);
      await follower.poll();
      expect(proposed(follower)).toBe(32);
      for (let i = 1; i <= 5; i += 1) {
        expect(await nextEpoch(follower)).toEqual(['latest', `${E + i - 1}`, 'finalized']);
        expect(proposed(follower)).toBe((i + 1) * 32);
      }
    });
  });

  describe('a latest epoch ahead', () => {
    it.each([2, 20, 300])('by %i costs its answer, and no reread is tried for ever', async (ahead) => {
      const follower = await settled();
      const asked = await oddPoll(follower, { latest: E + ahead });
      expect(asked).toEqual(['latest', `${E + ahead - 1}`, 'finalized']);
      expect(follower.failure).toBeDefined();
      expect(follower.state).toMatchObject({ headEpoch: E, head: { epoch: E } });
      expect(await follower.poll()).toEqual(['latest', 'finalized']);
      for (let i = 0; i < 5; i += 1) {
        expect(follower.failure).toBeUndefined();
        expect(await follower.poll()).toEqual(['latest']);
      }
      expect(await nextEpoch(follower)).toEqual(['latest', `${E}`, 'finalized']);
      expect(proposed(follower)).toBe(2 * 32);
    });

    it('is not believed either where the epoch before it is all scheduled', async () => {
      const follower = await settled();
      const scheduled = epochRows(E + 19).map((row) => ({ ...row, status: '0' }));
      follower.chain.epochs.set(E + 19, scheduled);
      await oddPoll(follower, { latest: E + 20 });
      expect(follower.failure).toMatchObject({ reason: 'invalid_body' });
      expect(follower.state.headEpoch).toBe(E);
    });

    it('with finality ahead as far counts nothing', async () => {
      const follower = await settled();
      await oddPoll(follower, { latest: E + 20, finalized: F + 20 });
      expect(follower.state).toMatchObject({ headEpoch: E, finalizedEpoch: F, scannedEpoch: F });
      await follower.poll();
      expect(await follower.poll()).toEqual(['latest']);
      expect(proposed(follower)).toBe(32);
    });

    it('by one, with finality, counts nothing while the epoch that passed is not whole', async () => {
      const follower = await settled();
      follower.chain.epochs.set(E, epochRows(E, {}, 9));
      await oddPoll(follower, { latest: E + 1, finalized: F + 1 });
      expect(follower.state).toMatchObject({ finalizedEpoch: F, scannedEpoch: F });
      await follower.poll();
      follower.chain.epochs.set(E, epochRows(E));
      expect(await nextEpoch(follower)).toEqual(['latest', `${E}`, 'finalized']);
      expect(proposed(follower)).toBe(2 * 32);
    });

    it('is led back by two answers, and the epoch is read again when it has passed', async () => {
      const follower = await settled();
      follower.chain.epochs.set(E, epochRows(E, {}, 9));
      await oddPoll(follower, { latest: E + 1 });
      expect(follower.state.headEpoch).toBe(E + 1);
      await follower.poll();
      expect(follower.state.headEpoch).toBe(E + 1);
      await follower.poll();
      expect(follower.state).not.toHaveProperty('reread');
      expect(follower.state.headEpoch).toBe(E);
      follower.chain.epochs.set(E, epochRows(E));
      follower.chain.slash(E * 32 + 31, [7]);
      await nextEpoch(follower);
      expect(follower.sightings).toHaveLength(1);
    });

    it('at the very first look leads neither finality nor head astray', async () => {
      const follower = new Follower();
      follower.chain.grow(E, F);
      await oddPoll(follower, { latest: E + 300 });
      expect(follower.state).toMatchObject({ finalizedEpoch: F, scannedEpoch: F });
      for (let i = 0; i < 3; i += 1) {
        await follower.poll();
        expect(follower.failure).toBeUndefined();
      }
      expect(follower.state.headEpoch).toBe(E);
      expect(await nextEpoch(follower)).toEqual(['latest', `${E}`, 'finalized']);
      expect(proposed(follower)).toBe(2 * 32);
    });

    it('is followed at once where it proves true: the service was stuck for a day', async () => {
      const follower = await settled();
      for (let i = 0; i < 10; i += 1) await follower.poll();
      follower.chain.grow(E + 225, F + 225);
      expect((await follower.poll()).slice(0, 3)).toEqual(['latest', `${E + 224}`, 'finalized']);
      while (follower.due() <= follower.now) await follower.poll(0);
      expect(follower.state).toMatchObject({ headEpoch: E + 225, scannedEpoch: F + 225 });
      expect(proposed(follower)).toBe(226 * 32);
    });
  });

  it('believes a service whose views are always of one whole epoch', async () => {
    const follower = new Follower();
    follower.chain.grow(E, E);
    for (let i = 0; i < 3; i += 1) {
      await follower.poll();
      expect(follower.failure).toBeUndefined();
    }
    expect(proposed(follower)).toBe(32);
  });

  it('gives an epoch up that cannot be read again at head, after three answers', async () => {
    const follower = await settled();
    follower.chain.grow(E + 1, F);
    follower.fault = (what) => (what === `${E}` ? 'bad_request' : undefined);
    for (let i = 0; i < 3; i += 1) {
      await follower.poll();
      expect(follower.failure).toMatchObject({ reason: 'bad_request' });
    }
    expect(await follower.poll()).toEqual(['latest']);
    expect(follower.failure).toBeUndefined();
  });

  it('counts no rows under the number of an epoch whose slots they are not of', async () => {
    const follower = await settled();
    follower.chain.epochs.set(
      F + 1,
      epochRows(F).map((row) => ({ ...row, epoch: F + 1 })),
    );
    follower.chain.grow(E + 1, F + 1);
    await follower.poll();
    expect(follower.failure).toMatchObject({ reason: 'invalid_body' });
    expect(proposed(follower)).toBe(32);
    follower.chain.epochs.set(F + 1, epochRows(F + 1));
    await follower.poll();
    expect(follower.failure).toBeUndefined();
    expect(proposed(follower)).toBe(2 * 32);
  });

  describe('a state of an earlier version that', () => {
    /** As that version left it: it had no other fields. */
    function older(follower: Follower, fields: Partial<Follower['state']>): void {
      const { finalizedFrom: _, ...state } = follower.state;
      follower.state = { ...state, ...fields };
    }

    it('holds a head and a reread far ahead polls without a failure from the first poll on', async () => {
      const follower = await settled();
      older(follower, { headEpoch: E + 300, reread: E + 299, rereadEarly: false, finalizedReadAtHead: E + 300 });
      for (let i = 0; i < 3; i += 1) {
        await follower.poll();
        expect(follower.failure).toBeUndefined();
      }
      expect(follower.state.headEpoch).toBe(E);
      expect(await nextEpoch(follower)).toEqual(['latest', `${E}`, 'finalized']);
      expect(proposed(follower)).toBe(2 * 32);
    });

    it.each([E, E + 300])('holds finality far ahead counts no more before it is final (head %i)', async (headEpoch) => {
      const follower = await settled();
      older(follower, { finalizedEpoch: F + 20, headEpoch, finalizedReadAtHead: headEpoch });
      for (let i = 0; i < 4; i += 1) await follower.poll();
      expect(follower.state).toMatchObject({ headEpoch: E, finalizedEpoch: F, scannedEpoch: F });
      for (let i = 1; i <= 5; i += 1) expect(await nextEpoch(follower)).toContain('finalized');
      expect(proposed(follower)).toBe(6 * 32);
    });

    it('holds a cursor some epochs ahead counts on when the chain is there, and nothing twice', async () => {
      const epoch = epochAt('mainnet', NOW);
      const follower = await settled(epoch);
      older(follower, { finalizedEpoch: epoch + 1, scannedEpoch: epoch + 1 });
      for (let i = 0; i < 5; i += 1) {
        follower.now += EPOCH_MS - MINUTE;
        await nextEpoch(follower);
      }
      expect(follower.state.scannedEpoch).toBe(epoch + 3);
      expect(proposed(follower)).toBe(32 + 2 * 32);
    });

    it('holds a cursor in the far future counts on after an hour', async () => {
      const epoch = epochAt('mainnet', NOW);
      const follower = await settled(epoch);
      older(follower, { finalizedEpoch: epoch + 50_000, scannedEpoch: epoch + 49_999 });
      for (let i = 0; i < 9; i += 1) {
        follower.now += EPOCH_MS - MINUTE;
        await nextEpoch(follower);
      }
      expect(follower.state.scannedEpoch).toBe(epoch + 49_999);
      for (let i = 0; i < 5; i += 1) {
        follower.now += EPOCH_MS - MINUTE;
        await nextEpoch(follower);
      }
      expect(follower.state.scannedEpoch).toBe(epoch + 12);
      expect(follower.value('skipped_epochs_total')).toBe(0);
      expect(proposed(follower)).toBeGreaterThanOrEqual(3 * 32);
    });
  });

  it('leads no cursor back behind a service that lags for hours', async () => {
    const epoch = epochAt('mainnet', NOW);
    const follower = await settled(epoch);
    const { chain } = follower;
    for (let i = 0; i < 30; i += 1) {
      chain.epochs.set(epoch - 40 + i, epochRows(epoch - 40 + i));
      Object.assign(chain, { latest: epoch - 38 + i, finalized: epoch - 40 + i });
      await follower.poll(EPOCH_MS);
    }
    expect(follower.state.scannedEpoch).toBe(epoch - 2);
    chain.grow(epoch + 30, epoch + 28);
    await follower.poll(HOUR);
    while (follower.state.scannedEpoch !== epoch + 28) await follower.poll();
    expect(proposed(follower)).toBe(31 * 32);
  });
});
