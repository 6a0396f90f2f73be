import { describe, expect, it } from 'vitest';
import type { FailureReason } from '../../../src/api/errors.ts';
import { samplesOf } from '../../support/exposition/samples.ts';
import { F, type Follower, following } from '../../support/runs/follower.ts';
import { DAY, HOUR, MINUTE } from '../../support/time/timing.ts';

const SLOT = (F + 1) * 32;

/** Proposers that are slashed in epoch F + 1, by position of the slot. */
type Proposers = Readonly<Record<number, readonly number[]>>;

/** A follower that is about to read the finalized epoch F + 1. */
async function settled(slashed: Proposers, readsProposerNames = true): Promise<Follower> {
  const follower = await following({ watch: [{ first: 1, last: 9 }], readsProposerNames });
  follower.chain.advance();
  for (const [i, proposers] of Object.entries(slashed)) follower.chain.slashProposers(SLOT + Number(i), proposers);
  return follower;
}

/** The names that a poll requests. */
async function namesAsked(follower: Follower, afterMs = MINUTE): Promise<string[]> {
  return (await follower.poll(afterMs)).filter((what) => what.startsWith('names/'));
}

/** The same after one more finalized epoch, with a slashing of this proposer. */
function nextAsked(follower: Follower, proposer: number, afterMs = MINUTE): Promise<string[]> {
  follower.chain.advance();
  follower.chain.slashProposers(follower.chain.finalized * 32, [proposer]);
  return namesAsked(follower, afterMs);
}

/** The watched validators that are shown as slashed. */
function shown(follower: Follower): number[] {
  const samples = samplesOf(follower.families(), 'beaconchain_watched_validator_slashed_timestamp_seconds');
  expect(follower.value('watched_validators_slashed')).toBe(samples.length);
  return samples.map(({ labels }) => Number(labels['validator']));
}

describe('the names of slashed proposers', () => {
  it.each([true, false])(
    'are counted by their names if their number cannot be read, with names: %s',
    async (readsNames) => {
      const follower = await settled({ 0: [3], 4: [5, 6] }, readsNames);
      for (const i of [0, 1, 4]) follower.chain.change(SLOT + i, { proposerslashingscount: '2' });
      expect(await namesAsked(follower)).toEqual([`names/${SLOT}`, `names/${SLOT + 1}`, `names/${SLOT + 4}`]);
      expect(follower.value('proposer_slashings_total')).toBe(3);
      expect(follower.failure).toBeUndefined();
    },
  );

  it('are requested once for each finalized block with a slashing', async () => {
    const follower = await settled({ 4: [3], 9: [12, 8] });
    expect(await namesAsked(follower)).toEqual([`names/${SLOT + 4}`, `names/${SLOT + 9}`]);
    expect(follower.value('proposer_slashings_total')).toBe(3);
    expect(shown(follower)).toEqual([3, 8]);
    expect(follower.sightings).toMatchObject([
      { type: 'watched_slashed', slot: SLOT + 4, kind: 'proposer', validators: [3] },
      { type: 'proposer_slashing', slot: SLOT + 9, kind: 'proposer', validators: [12] },
      { type: 'watched_slashed', slot: SLOT + 9, kind: 'proposer', validators: [8] },
    ]);
    expect(follower.value('attester_slashed_validators_total')).toBe(0);
    follower.chain.advance();
    expect(await namesAsked(follower)).toEqual([]);
  });

  it('count a validator that was slashed both ways once, at its first slot', async () => {
    const follower = await settled({ 4: [3] });
    follower.chain.slash(SLOT + 9, [3]);
    await follower.poll();
    expect(shown(follower)).toEqual([3]);
    const time = follower.value('watched_validator_slashed_timestamp_seconds', { validator: '3' });
    expect(time).toBe(1_606_824_023 + (SLOT + 4) * 12);
  });

  it('are off for a day, or until a start, after ten minutes of refusals, and the epochs still count', async () => {
    const follower = await settled({ 1: [1], 2: [2], 3: [3] });
    follower.fault = (what) => (what.startsWith('names/') ? 'forbidden' : undefined);
    for (let i = 0; i < 10; i += 1) {
      expect(await namesAsked(follower)).toEqual([`names/${SLOT + 1}`]);
      expect(follower.failure).toMatchObject({ reason: 'forbidden' });
      expect(follower.state.scannedEpoch).toBe(F);
    }
    expect(await namesAsked(follower)).toEqual([`names/${SLOT + 1}`]);
    expect(follower.failure).toBeUndefined();
    expect(follower.found('part_refused')).toMatchObject([{ part: 'proposer_slashings' }]);
    expect(follower.state.scannedEpoch).toBe(F + 1);
    expect(follower.value('proposer_slashings_total')).toBe(3);
    for (let i = 0; i < 3; i += 1) expect(await nextAsked(follower, 5)).toEqual([]);
    expect(follower.found('part_refused')).toMatchObject([{ part: 'proposer_slashings' }]);

    expect(await nextAsked(follower, 4, DAY)).toEqual([`names/${(F + 5) * 32}`]);
    expect(follower.found('part_refused')).toHaveLength(1);

    follower.fault = () => undefined;
    follower.startAnew();
    expect(await nextAsked(follower, 6)).toEqual([`names/${(F + 6) * 32}`]);
    expect(shown(follower)).toEqual([6]);
    expect(follower.entry.refusals).toEqual({});
  });

  it.for<FailureReason>(['server_error', 'network'])(
    'are requested again after %s for an hour, then the epoch counts without names',
    async (reason) => {
      const follower = await settled({ 1: [1], 2: [2] });
      follower.fault = (what) => (what === `names/${SLOT + 2}` ? reason : undefined);
      expect(await namesAsked(follower)).toHaveLength(2);
      expect(follower.failure).toMatchObject({ reason });
      expect(follower.state.scannedEpoch).toBe(F);
      expect(shown(follower)).toEqual([1]);
      // Known names are not requested again.
      expect(await namesAsked(follower)).toEqual([`names/${SLOT + 2}`]);
      for (let i = 0; i < HOUR / MINUTE; i += 1) await follower.poll();
      expect(follower.state.scannedEpoch).toBe(F + 1);
      expect(follower.value('proposer_slashings_total')).toBe(2);
      expect(follower.value('skipped_epochs_total')).toBe(0);
      expect(follower.found('names_unreadable')).toHaveLength(1);
      expect(shown(follower)).toEqual([1]);
    },
  );

  it('complete the epoch as soon as they are available', async () => {
    const follower = await settled({ 1: [1], 2: [2] });
    // Fewer than the row announces.
    follower.chain.answers.set(`names/${SLOT + 1}`, []);
    await follower.poll();
    expect(follower.failure).toMatchObject({ reason: 'invalid_body' });
    follower.chain.answers.clear();
    await follower.poll();
    expect(follower.failure).toBeUndefined();
    expect(follower.state.scannedEpoch).toBe(F + 1);
    expect(shown(follower)).toEqual([1, 2]);
    expect(follower.sightings).toHaveLength(2);
  });
});
