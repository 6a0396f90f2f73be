import { describe, expect, it } from 'vitest';
import { Follower } from '../../support/follower.ts';
import { epochRows, rootOf, row, slashing } from '../../support/slot-rows.ts';
import { DAY, HOUR } from '../../support/timing.ts';

/** The latest epoch; everything up to two before it is final. */
const E = 405_000;
const F = E - 2;
const EPOCH_MS = 384_000;

async function settled(...options: ConstructorParameters<typeof Follower>): Promise<Follower> {
  const follower = new Follower(...options);
  follower.chain.grow(E, F);
  await follower.poll();
  return follower;
}

/** Polls until nothing is due at once. */
async function caughtUp(follower: Follower): Promise<void> {
  await follower.poll();
  while (follower.due() <= follower.now) await follower.poll(0);
}

/** The chain goes on for so many epochs and nothing becomes final; a slashing in each tenth. Returns requests per epoch. */
async function stall(follower: Follower, epochs: number): Promise<number[]> {
  const asked: number[] = [];
  const start = follower.chain.latest;
  for (let i = 1; i <= epochs; i += 1) {
    follower.chain.grow(start + i, F);
    if (i % 10 === 0) follower.chain.slash((start + i) * 32 + 3, [i]);
    asked.push((await follower.poll(EPOCH_MS)).length);
  }
  return asked;
}

describe('system/slashings-measure/trouble', () => {
  describe('when nothing becomes final for three days', () => {
    const EPOCHS = 3 * 225;

    it('sees slashings at head, asks no more than usual and counts no epoch', async () => {
      const follower = await settled();
      const asked = await stall(follower, EPOCHS);
      expect(follower.sightings).toHaveLength(67);
      // Head, the epoch that passed, the finalized view, and in each tenth the details.
      expect(Math.max(...asked)).toBe(4);
      expect(follower.state).toMatchObject({ finalizedEpoch: F, scannedEpoch: F });
      expect(follower.value('slots_total', { status: 'proposed' })).toBe(32);
    });

    it('counts everything once when it is', async () => {
      const follower = await settled();
      await stall(follower, EPOCHS);
      follower.chain.grow(E + EPOCHS + 1, E + EPOCHS - 1);
      await follower.poll();
      await caughtUp(follower);
      expect(follower.state).toMatchObject({ scannedEpoch: E + EPOCHS - 1, reads: [] });
      expect(follower.value('slots_total', { status: 'proposed' })).toBe((EPOCHS + 2) * 32);
      expect(follower.value('skipped_epochs_total')).toBe(0);
      expect(follower.sightings).toHaveLength(67);
    });

    it('gives up what lies beyond catch_up, visibly', async () => {
      const follower = await settled({ catchUpMs: 2 * DAY });
      await stall(follower, EPOCHS);
      follower.chain.grow(E + EPOCHS + 1, F + EPOCHS + 1);
      await follower.poll();
      await caughtUp(follower);
      expect(follower.value('skipped_epochs_total')).toBe(EPOCHS + 1 - 2 * 225);
      expect(follower.state.scannedEpoch).toBe(F + EPOCHS + 1);
    });
  });

  it('gets over an epoch that answers 400 and one of three rows after a stop of two hours', async () => {
    const follower = await settled();
    follower.chain.epochs.set(F + 9, epochRows(F + 9, {}, 3));
    follower.chain.grow(E + 19, F + 19);
    follower.fault = (what) => (what === `${F + 5}` ? 'bad_request' : undefined);
    await follower.poll(2 * HOUR);
    expect(follower.state.scannedEpoch).toBe(F + 4);
    for (let i = 0; i < 61; i += 1) await follower.poll();
    await caughtUp(follower);
    expect(follower.state.scannedEpoch).toBe(F + 19);
    expect(follower.value('skipped_epochs_total')).toBe(1);
    expect(follower.value('slots_total', { status: 'proposed' })).toBe(18 * 32 + 3);
  });

  it('reads a slot again at finality whose block is another one than was read at head', async () => {
    const follower = await settled();
    const slot = E * 32 + 9;
    follower.chain.slash(slot, [1]);
    await follower.poll();
    const other = { block_root: rootOf(slot, 1) };
    const orphan = row({ slot, status: '3', attesterslashingscount: 1 });
    const rows = epochRows(E, { 9: { blockroot: other.block_root, attesterslashingscount: 2 } });
    follower.chain.epochs.set(E, [...rows, orphan]);
    follower.chain.slashings.set(slot, [
      slashing(slot, [1]),
      slashing(slot, [1], other),
      slashing(slot, [5, 6], other),
    ]);
    follower.chain.grow(E + 2, E);
    expect(await follower.poll()).toContain(`slot/${slot}`);
    expect(follower.sightings.map(({ validators }) => validators)).toEqual([[1], [5, 6]]);
    expect(follower.value('attester_slashings_total', { kind: 'double_vote' })).toBe(2);
  });

  it('reads the epoch that passed again where it came as it was before its end, and sees a slashing in its last slot', async () => {
    const follower = await settled();
    follower.chain.epochs.set(E, epochRows(E, {}, 31));
    follower.chain.grow(E + 1, F);
    expect(await follower.poll()).toEqual(['latest', `${E}`, 'finalized']);
    follower.chain.epochs.set(E, epochRows(E));
    follower.chain.slash(E * 32 + 31, [7]);
    expect(await follower.poll()).toEqual(['latest', `${E}`, `slot/${E * 32 + 31}`]);
    expect(await follower.poll()).toEqual(['latest']);
    expect(follower.sightings).toHaveLength(1);
  });
});
