import { describe, expect, it } from 'vitest';
import type { Block } from '../../../src/sandbox/chain-world.ts';
import { doubleVote, rootOf } from '../../support/answers/slot-rows.ts';
import { committeeOf } from '../../support/answers/validators.ts';
import { E, type Follower, following } from '../../support/runs/follower.ts';
import { HOUR } from '../../support/time/timing.ts';

/** The epoch after that of a follower that has caught up. */
const EPOCH = E + 1;

/**
 * A slot of EPOCH with two blocks that both say that they are canonical: block 1 is, and block 2 is not. The slots after
 * it up to `next` are missed. One of the blocks has a slashing, of validator 1 or 2.
 */
interface Tie {
  readonly position: number;
  readonly next: number;
  readonly slashingIn: 1 | 2;
}

/** A follower that counts from EPOCH - 3 on and has not seen the tie. */
async function prepared({ position, next, slashingIn }: Tie, blocks: readonly (1 | 2)[] = [1, 2]) {
  const follower = await following(
    { watch: [{ first: 1, last: 2 }], countsSeats: true },
    { seatsOf: () => committeeOf([1]) },
  );
  const { chain } = follower;
  const slot = EPOCH * 32 + position;
  const rival = (n: 1 | 2): Partial<Block> => ({
    root: rootOf(slot, n),
    isCanonical: n === 1,
    proposer: n,
    attesterSlashings: n === slashingIn ? [doubleVote([n])] : [],
    transactions: 1_000 * n,
    signers: `0x${(n === 1 ? 'ff' : '00').repeat(64)}`,
  });
  chain.put(slot, ...blocks.map(rival));
  for (let i = position + 1; i < next; i += 1) chain.put(EPOCH * 32 + i);
  chain.world.isTied = (one) => one === slot;
  return { follower, chain };
}

function slashed({ sightings }: Follower): number[] {
  return sightings.flatMap(({ validators }) => validators);
}

function counts({ state }: Follower) {
  const { slots, transactions, watchedProposals, syncDuties } = state.totals;
  return { slots, transactions, watchedProposals, syncDuties };
}

/** The counts of four epochs if this block of the tie counts. The other blocks have 145 transactions and all seats. */
function expected({ position, next }: Tie, block: 1 | 2 = 1) {
  const missed = Math.min(next, 32) - position - 1;
  return {
    slots: { proposed: 128 - missed, missed, orphaned: 0 },
    transactions: 145 * (127 - missed) + 1_000 * block,
    watchedProposals: { proposed: 1, missed: 0, orphaned: 1 },
    syncDuties: { participated: 129 - missed - block, missed: block - 1 },
  };
}

const TIES = [28, 29, 30, 31].flatMap((position) => {
  const nexts = new Set([position + 1, 31, 32, 34].filter((next) => next > position));
  return [...nexts].flatMap((next) => ([1, 2] as const).map((slashingIn): Tie => ({ position, next, slashingIn })));
});
const LAST: Tie = { position: 29, next: 33, slashingIn: 1 };

describe.each([[[1, 2]], [[2, 1]]] as const)(
  'sources/slashings: of two rows that both say canonical, in the order %o,',
  (blocks) => {
    it.each(TIES)('the parent of the next block counts at finality: %o', async (tie) => {
      const { follower, chain } = await prepared(tie, blocks);
      chain.grow(EPOCH + 2, EPOCH);
      const asked = await follower.poll();
      expect(counts(follower)).toEqual(expected(tie));
      expect(slashed(follower)).toEqual(tie.slashingIn === 1 ? [1] : []);
      // The head pass reads the next epoch once, and the finalized pass only if no block of the same epoch decides.
      expect(asked.filter((what) => what === `${EPOCH + 1}`)).toHaveLength(tie.next < 32 ? 1 : 2);
    });

    it('the finalized pass reads the next epoch once, even if it counts that epoch too', async () => {
      const { follower, chain } = await prepared(LAST, blocks);
      chain.grow(EPOCH + 3, EPOCH + 2);
      expect((await follower.poll()).filter((what) => what === `${EPOCH + 1}`)).toHaveLength(1);
      expect(follower.state.scannedEpoch).toBe(EPOCH + 2);
    });

    it.each(TIES)('the slashings of the parent of the next block are read at the head: %o', async (tie) => {
      const { follower, chain } = await prepared(tie, blocks);
      chain.grow(EPOCH + 1, chain.finalized);
      chain.world.head = EPOCH * 32 + tie.position;
      await follower.poll();
      expect(slashed(follower)).toEqual([]);
      chain.latest = EPOCH + 1;
      await follower.poll();
      expect(slashed(follower)).toEqual(tie.slashingIn === 1 ? [1] : []);
    });

    it('the first counts, with an event, after an hour in which the next epoch was unreadable', async () => {
      const { follower, chain } = await prepared(LAST, blocks);
      chain.grow(EPOCH + 2, EPOCH);
      follower.fault = (what) => (what === `${EPOCH + 1}` ? 'server_error' : undefined);
      for (let i = 0; i < 60; i += 1) await follower.poll();
      expect(follower.failure).toMatchObject({ reason: 'server_error' });
      expect(follower.state.scannedEpoch).toBe(EPOCH - 1);
      const { entry, now } = follower;
      await follower.poll();
      expect(counts(follower)).toEqual(expected(LAST, blocks[0]));
      expect(follower.found('blocks_tied')).toMatchObject([{ epoch: EPOCH }]);
      // The same poll after a kill: now the next epoch can be read.
      follower.events.length = 0;
      Object.assign(follower, { entry, now, fault: () => undefined });
      await follower.poll();
      expect([counts(follower), slashed(follower)]).toEqual([expected(LAST), [1]]);
    });

    it('the first counts at once, with an event, if the budget does not pay for the next epoch', async () => {
      const { follower, chain } = await prepared(LAST, blocks);
      chain.grow(EPOCH + 2, EPOCH);
      const scarce = { allowedPerDay: 24 };
      expect((await follower.poll(HOUR, scarce))[0]).toBe('finalized');
      expect(await follower.poll(HOUR, scarce)).toEqual(['finalized']);
      expect(follower.state.totals).toMatchObject({
        transactions: 145 * (32 + 29) + 1_000 * blocks[0],
        skippedEpochs: 2,
      });
      expect(follower.found('blocks_tied')).toMatchObject([{ epoch: EPOCH }]);
    });
  },
);
