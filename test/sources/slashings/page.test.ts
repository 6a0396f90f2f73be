import { expect, it } from 'vitest';
import { slotTime } from '../../../src/facts/chain.ts';
import { link } from '../../../src/sources/content.ts';
import { NO_INPUTS } from '../../../src/sources/read.ts';
import { E, F, Follower } from '../../support/runs/follower.ts';
import { DAY, HOUR, polls, timing } from '../../support/time/timing.ts';

const SLOT = F * 32 + 9;
const SLASHED = 'bad: 1 validator slashed on mainnet: 5.';
const MISSED = 'warning: 1 validator missed a proposal in the last day on mainnet: 5.';

/** The notices `ageMs` after the slot. */
function told({ source, state }: Follower, ageMs: number): string[] {
  const now = slotTime('mainnet', SLOT) * 1000 + ageMs;
  const { notices = [] } =
    source.page?.(state, timing({ now }), { inputs: NO_INPUTS, linked: link, polls: polls() }) ?? {};
  return notices.map(({ tone, text }) => `${tone}: ${text}`);
}

it.each<[string, (follower: Follower) => void, forMs: number, string]>([
  ['a slashing of a watched validator, for a week', ({ chain }) => chain.slash(SLOT, [5, 50]), 7 * DAY, SLASHED],
  ['a slashing of a proposer', ({ chain }) => chain.slashProposers(SLOT, [5, 50]), 7 * DAY, SLASHED],
  [
    'a slashing that the status reports, if it came since the first look',
    (follower) => {
      follower.inputs = { slashedByStatus: [{ validator: 5, reportedSlot: SLOT }, { validator: 6 }] };
    },
    7 * DAY,
    SLASHED,
  ],
  ['a missed proposal, for a day', ({ chain }) => chain.miss(SLOT, 5), DAY, MISSED],
])('has a notice for %s', async (_, happen, forMs, text) => {
  const follower = new Follower({ watch: [{ first: 1, last: 9 }], readsProposerNames: true });
  follower.chain.grow(E, F);
  happen(follower);
  await follower.poll();
  expect([told(follower, forMs - HOUR), told(follower, forMs + HOUR)]).toEqual([[text], []]);
});

it('has no notice and no series for a validator that has left the list', async () => {
  const follower = new Follower({ watch: [{ first: 5, last: 5 }] });
  follower.inputs = { slashedByStatus: [{ validator: 5, slot: SLOT }] };
  follower.chain.grow(E, F);
  follower.chain.miss(SLOT, 5);
  await follower.poll();
  const later = Object.assign(new Follower({ watch: [{ first: 6, last: 6 }] }), { entry: follower.entry });
  const seriesOf = (one: Follower) =>
    one.families().flatMap(({ samples }) => samples.filter(({ labels }) => 'validator' in labels));
  expect([told(follower, HOUR), seriesOf(follower)]).toEqual([
    [SLASHED, MISSED],
    [expect.anything(), expect.anything()],
  ]);
  expect([told(later, HOUR), seriesOf(later)]).toEqual([[], []]);
});
