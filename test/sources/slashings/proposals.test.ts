import { expect, it } from 'vitest';
import { slotTime } from '../../../src/facts/chain.ts';
import type { Block } from '../../../src/sandbox/chain-world.ts';
import { countProposals, NO_SLASHINGS } from '../../../src/sources/slashings/count.ts';
import { F, Follower, following } from '../../support/runs/follower.ts';

const SLOT = (F + 1) * 32;
/** The fields of an orphaned block. */
const FORK = { isCanonical: false };
const NOBODY = 2_147_483_647;

/** A follower that has counted an epoch with these changes. */
async function followed(write: (chain: Follower['chain']) => void, watch = [{ first: 1, last: 9 }]): Promise<Follower> {
  const follower = await following({ watch });
  write(follower.chain);
  await finalize(follower);
  return follower;
}

/** Makes one more epoch final, and counts it. */
async function finalize(follower: Follower): Promise<void> {
  follower.chain.advance();
  await follower.poll();
  expect(follower.state.scannedEpoch).toBe(follower.chain.finalized);
}

function counts(follower: Follower) {
  return ['proposed', 'missed', 'orphaned'].map((status) => follower.value('watched_proposals_total', { status }));
}

it('starts at 0 for each outcome, and has no series without watched validators', () => {
  expect(counts(new Follower({ watch: [{ first: 7, last: 7 }] }))).toEqual([0, 0, 0]);
  expect(new Follower().families().filter(({ name }) => name.includes('watched'))).toEqual([]);
});

it('counts each outcome once, when the epoch is final', async () => {
  const follower = await followed((chain) => {
    chain.put(SLOT, { proposer: 1 });
    chain.miss(SLOT + 1, 2);
    chain.put(SLOT + 2, { proposer: 3, isCanonical: false });
    chain.miss(SLOT + 3, 10);
    chain.put(SLOT + 31, { proposer: 9 });
  });
  expect(counts(follower)).toEqual([2, 1, 1]);
  expect(follower.found('missed_proposal')).toEqual([
    { slot: SLOT + 1, validator: 2, status: 'missed' },
    { slot: SLOT + 2, validator: 3, status: 'orphaned' },
  ]);
  // The alert needs this time.
  const timeOf = (validator: string) =>
    follower.value('watched_validator_missed_proposal_timestamp_seconds', { validator });
  expect(['2', '3'].map(timeOf)).toEqual([SLOT + 1, SLOT + 2].map((slot) => slotTime('mainnet', slot)));
  await follower.poll();
  await finalize(follower);
  expect(counts(follower)).toEqual([2, 1, 1]);
  expect(follower.found('missed_proposal')).toHaveLength(2);
});

it.for<[string, readonly Partial<Block>[], readonly number[]]>([
  ['of one proposer: the canonical one decides', [{ proposer: 1 }, { proposer: 1, ...FORK }], [1, 0, 0]],
  ['of two proposers: each has its own', [{ proposer: 1 }, { proposer: 2, ...FORK }], [1, 0, 1]],
  ['of two proposers, only that of the fork watched', [{ proposer: 10 }, { proposer: 2, ...FORK }], [0, 0, 1]],
  ['of which none is canonical', [1, 2].map((proposer) => ({ proposer, ...FORK })), [0, 0, 2]],
])('counts the rows of a slot %s', async ([, blocks, expected]) => {
  for (const all of [blocks, blocks.toReversed()])
    expect(counts(await followed((chain) => chain.put(SLOT, ...all)))).toEqual(expected);
});

it('counts the slot, but no proposal, if the proposer is impossible', async () => {
  for (const proposer of [NOBODY, null, -1, 2 ** 32, {}]) {
    const write = (chain: Follower['chain']): void => {
      chain.put(SLOT + 7);
      chain.change(SLOT + 7, { proposer });
    };
    const follower = await followed(write, [{ first: 0, last: 2 ** 32 - 1 }]);
    expect(counts(follower)).toEqual([63, 0, 0]);
    expect(follower.value('slots_total', { status: 'missed' })).toBe(1);
  }
});

it('remembers the 100 validators with the newest missed proposals', () => {
  const missed = Array.from({ length: 101 }, (_, slot) => ({ slot, validator: slot, status: 'missed' as const }));
  const { missedProposals } = countProposals(NO_SLASHINGS, missed.toReversed());
  expect([missedProposals.length, missedProposals[0]]).toEqual([100, [1, 1]]);
});
