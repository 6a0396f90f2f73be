import { expect, it } from 'vitest';
import type { Slashed } from '../../../src/sources/slashed.ts';
import { samplesOf } from '../../support/exposition/samples.ts';
import { E, F, Follower, following } from '../../support/runs/follower.ts';
import { HOUR, MINUTE } from '../../support/time/timing.ts';

const GENESIS = 1606824023;
const EPOCH = 384_000;

it('shows only the genesis and counters of 0 at the start', () => {
  const shown = new Follower()
    .families()
    .flatMap(({ name, samples }) => samples.map(({ labels: { chain, ...rest }, value }) => [name, rest, value]));
  const zero = (name: string, labels = {}) => [`beaconchain_${name}_total`, labels, 0];
  const blocks = ['attestations', 'deposits', 'voluntary_exits', 'withdrawals', 'transactions', 'gas_used'];
  expect(shown).toEqual([
    ['beaconchain_genesis_timestamp_seconds', {}, GENESIS],
    zero('skipped_epochs'),
    ...['proposed', 'missed', 'orphaned'].map((status) => zero('slots', { status })),
    ...blocks.map((what) => zero(`block_${what}`)),
    ...['double_vote', 'surround_vote', 'unknown'].map((kind) => zero('attester_slashings', { kind })),
    zero('attester_slashed_validators'),
    zero('proposer_slashings'),
  ]);
});

it('withdraws a head that is too old, and keeps the rest', async () => {
  const follower = await following();
  const heads = (overrides: Parameters<Follower['families']>[0]): number =>
    follower.families(overrides).filter(({ name, samples }) => name.includes('_head_') && samples.length > 0).length;
  // The age is that of the block, not of the answer.
  const at = (GENESIS + 12 * (E * 32 + 31)) * 1000;
  const usual = 10 * MINUTE + 3 * EPOCH;
  expect(heads({ now: at + usual })).toBe(8);
  expect(heads({ now: at + usual + 1 })).toBe(0);
  const hourly = { of: { head: HOUR } };
  expect(heads({ now: at + 10 * MINUTE + 2 * HOUR, ...hourly })).toBe(8);
  expect(heads({ now: at + 10 * MINUTE + 2 * HOUR + 1, ...hourly })).toBe(0);
  // The budget leaves head passes out, and reads finality each hour.
  expect(heads({ now: at + usual + 1, intervalMs: HOUR, of: {} })).toBe(0);
  // After the clock was set back, the age is unknown.
  expect(heads({ now: at - 5 * MINUTE - EPOCH })).toBe(8);
  expect(heads({ now: at - 5 * MINUTE - EPOCH - 1 })).toBe(0);
  follower.now += HOUR;
  expect(follower.value('scanned_epoch')).toBe(F);
});

it.each<
  [string, status: Omit<Slashed, 'validator'> | undefined, evidence: number | undefined, slot: number | undefined]
>([
  ['the slot of the evidence', undefined, E * 32 + 9, E * 32 + 9],
  ['the slot of the evidence, whatever the status says', { slot: (E - 1) * 32 }, E * 32 + 9, E * 32 + 9],
  ['the epoch of the status, without evidence', { slot: E * 32 }, undefined, E * 32],
  ['unknown without either', { reportedSlot: E * 32 }, undefined, undefined],
])('the time of a slashing is %s, for good', async (_, status, evidence, slot) => {
  const reported: Slashed[] = [];
  const follower = new Follower({ watch: [{ first: 7, last: 7 }] });
  follower.inputs = { slashedByStatus: reported };
  follower.chain.grow(E, F);
  if (evidence !== undefined) follower.chain.slash(evidence, [7]);
  await follower.poll();
  if (status) reported.push({ validator: 7, ...status });
  // The status is read, and then it is off.
  for (let i = 0; i < 2; i += 1) {
    await follower.poll();
    reported.splice(0);
    const timeOf = (name: string): number | undefined =>
      follower.value(`watched_validator_${name}_timestamp_seconds`, { validator: '7' });
    expect(timeOf('slashed')).toBe(slot && GENESIS + slot * 12);
    expect(timeOf('reported_slashed')).toBe(status?.reportedSlot && GENESIS + status.reportedSlot * 12);
    expect(follower.value('watched_validators_slashed')).toBe(1);
  }
});

it('names the watched validators that were slashed, at the edges of ranges too', async () => {
  const follower = await following({
    watch: [
      [12345, 12345],
      [20000, 20099],
    ].map(([first = 0, last = 0]) => ({ first, last })),
  });
  follower.chain.slash(E * 32 + 3, [12344, 12345, 20099, 20100]);
  await follower.poll();
  const name = 'beaconchain_watched_validator_slashed_timestamp_seconds';
  const shown = samplesOf(follower.families(), name).map(({ labels, value }) => [labels['validator'], value]);
  expect(shown).toEqual([
    ['12345', GENESIS + (E * 32 + 3) * 12],
    ['20099', GENESIS + (E * 32 + 3) * 12],
  ]);
  expect(follower.value('watched_validators')).toBe(101);
  expect(follower.value('watched_validators_slashed')).toBe(2);
  expect(follower.value('attester_slashed_validators_total')).toBe(4);
});
