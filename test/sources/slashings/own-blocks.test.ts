import { describe, expect, it } from 'vitest';
import { SlotRow } from '../../../src/api/answers/slots.ts';
import type { FailureReason } from '../../../src/api/errors.ts';
import { slotTime } from '../../../src/facts/chain.ts';
import { watchedGroups } from '../../../src/facts/groups.ts';
import { watchOf } from '../../../src/facts/watch.ts';
import { link } from '../../../src/sources/content.ts';
import { NO_SLASHINGS } from '../../../src/sources/slashings/count.ts';
import type { SlashingsOptions } from '../../../src/sources/slashings/options.ts';
import { withOwnBlocks } from '../../../src/sources/slashings/own-blocks.ts';
import { slashingsPage } from '../../../src/sources/slashings/page.ts';
import { epochRows } from '../../support/answers/slot-rows.ts';
import { samplesOf } from '../../support/exposition/samples.ts';
import { F, Follower, following } from '../../support/runs/follower.ts';
import { slashingsOptions } from '../../support/runs/slashings-options.ts';
import { DAY, HOUR, MINUTE, timing } from '../../support/time/timing.ts';

const SLOT = (F + 1) * 32;
const WATCH = watchOf([{ first: 1, last: 9 }]);
const [OWN, OTHER] = [`0x${'a1'.repeat(20)}`, `0x${'b2'.repeat(20)}`];
const ON = { watch: WATCH, groups: watchedGroups(WATCH, []), readsOwnBlocks: true };

function paid(amount: string | null, address: string | null = OWN) {
  return { amount, recipient: { address, is_contract: false } };
}

/** A follower that is about to count the finalized epoch F + 1, with a block of validator 3 in its first slot. */
async function settled(options: Partial<SlashingsOptions> = {}): Promise<Follower> {
  const follower = await following({ ...ON, ...options });
  follower.chain.advance();
  follower.chain.put(SLOT, { proposer: 3 });
  follower.chain.paid.set(SLOT, { mev: paid('20000000000000000'), priority_fees: paid('70000000000000000', OTHER) });
  return follower;
}

async function blocksAsked(follower: Follower, afterMs = MINUTE): Promise<string[]> {
  return (await follower.poll(afterMs)).filter((what) => what.startsWith('block/'));
}

function earned(follower: Follower, kind: 'mev' | 'fees'): number | undefined {
  return follower.value('watched_block_rewards_ether_total', { kind });
}

/** The series, alerts and page with this list of fee recipients. */
function judged(follower: Follower, feeRecipients: readonly string[], now = follower.now) {
  const other = new Follower({ ...ON, feeRecipients });
  other.entry = follower.entry;
  const name = 'beaconchain_watched_validator_unexpected_fee_recipient_timestamp_seconds';
  const options = slashingsOptions({ ...ON, feeRecipients });
  const { notices = [], tables = [] } = slashingsPage(options, follower.state, timing({ now }), link);
  const rows = [...(tables.find(({ title }) => title === 'Last blocks')?.rows ?? [])];
  return {
    series: samplesOf(other.families(), name).map(({ labels, value }) => [labels['validator'], value]),
    alerts: notices.map(({ alert }) => alert),
    page: JSON.stringify(rows),
  };
}

describe('the blocks of watched validators', () => {
  it('are requested once, at finality, and count the payment of the builder or else the fees', async () => {
    const follower = await settled();
    expect([earned(follower, 'mev'), earned(follower, 'fees')]).toEqual([0, 0]);
    follower.chain.put(SLOT + 1, { proposer: 4 });
    follower.chain.paid.set(SLOT + 1, { mev: null, priority_fees: paid('5000000000000000') });
    follower.chain.put(SLOT + 2, { proposer: 5, isCanonical: false });
    follower.chain.miss(SLOT + 3, 6);
    follower.chain.put(SLOT + 4, { proposer: 10 });
    expect(await blocksAsked(follower)).toEqual([`block/${SLOT}`, `block/${SLOT + 1}`]);
    expect([earned(follower, 'mev'), earned(follower, 'fees')]).toEqual([0.02, 0.005]);
    follower.chain.advance();
    follower.startAnew(HOUR);
    expect(await blocksAsked(follower)).toEqual([]);
    expect([earned(follower, 'mev'), follower.value('watched_blocks_unread_total')]).toEqual([0.02, 0]);
  });

  it('are queued once each, and the oldest are given up if too many wait', () => {
    const rows = SlotRow.array().parse(
      epochRows(F, Object.fromEntries(Array.from({ length: 32 }, (_, i) => [i, { proposer: 3 }]))),
    );
    const proposals = rows.map(({ slot }) => ({ slot, validator: 3, status: 'proposed' as const }));
    const read = { epoch: F, rows, allRows: rows };
    const twice = withOwnBlocks(withOwnBlocks(NO_SLASHINGS, read, proposals), read, proposals);
    expect(twice.ownBlocks.open.map(({ slot }) => slot)).toEqual(rows.map(({ slot }) => slot));
    const waiting = Array.from({ length: 999 }, (_, slot) => ({ slot, validator: 3, number: slot }));
    const full = { ...NO_SLASHINGS, ownBlocks: { ...NO_SLASHINGS.ownBlocks, open: waiting } };
    const { open, unread } = withOwnBlocks(full, read, proposals).ownBlocks;
    expect([open.length, open[0]?.slot, unread]).toEqual([1_000, 31, 31]);
  });

  it('without a payload are not requested', async () => {
    const follower = await settled();
    follower.chain.change(SLOT, { exec_block_number: null });
    expect(await blocksAsked(follower)).toEqual([]);
    expect(follower.state.ownBlocks).toMatchObject({ open: [], last: [], unread: 0 });
  });

  it('count for the current group of their validator', async () => {
    const groups = watchedGroups(WATCH, [{ name: 'home', watch: watchOf([{ first: 3, last: 3 }]) }]);
    const follower = await settled({ groups });
    await follower.poll();
    expect(follower.value('watched_block_rewards_ether_total', { kind: 'mev', group: 'home' })).toBe(0.02);
    const samples = samplesOf(follower.families(), 'beaconchain_watched_block_rewards_ether_total');
    expect(samples.map(({ value }) => value)).toEqual([0.02, 0, 0, 0]);
    expect(samples.map(({ labels }) => labels['group'])).toEqual(['home', 'home', undefined, undefined]);
  });

  it.each<[string, FailureReason | undefined, object | undefined]>([
    ['that the service does not find', 'not_found', undefined],
    ['whose answer cannot be read', 'invalid_body', undefined],
    ['whose answer is about another slot', undefined, { consensus_reference: { slot: SLOT + 7 } }],
  ])('%s are tried for an hour, and then count as unread', async (_, reason, fields) => {
    const follower = await settled();
    if (fields) follower.chain.paid.set(SLOT, fields);
    follower.fault = (what) => (what === `block/${SLOT}` ? reason : undefined);
    await follower.poll();
    expect(follower.failure).toMatchObject({ endpoint: 'block_rewards', reason: reason ?? 'invalid_body' });
    for (let i = 1; i < 60; i += 1) expect(await blocksAsked(follower)).toEqual([`block/${SLOT}`]);
    expect(follower.value('watched_blocks_unread_total')).toBe(0);
    await follower.poll();
    expect([follower.value('watched_blocks_unread_total'), earned(follower, 'mev')]).toEqual([1, 0]);
    expect(follower.found('block_unread')).toMatchObject([{ slot: SLOT, validator: 3 }]);
    expect(await blocksAsked(follower)).toEqual([]);
    expect(follower.failure).toBeUndefined();
  });

  it('are not given up while the service refuses all of them', async () => {
    const follower = await settled();
    follower.fault = (what) => (what.startsWith('block/') ? 'forbidden' : undefined);
    for (let i = 0; i < 100; i += 1) await follower.poll();
    follower.fault = () => undefined;
    follower.chain.advance();
    follower.chain.put(SLOT + 32, { proposer: 4 });
    follower.reload(DAY);
    expect(await blocksAsked(follower)).toEqual([`block/${SLOT}`, `block/${SLOT + 32}`]);
    expect(earned(follower, 'mev')).toBeGreaterThanOrEqual(0.02);
    expect(follower.value('watched_blocks_unread_total')).toBe(0);
  });

  it('without a readable amount are unread at once, and a negative amount counts as 0', async () => {
    const follower = await settled();
    const odd = { mev: paid('much'), total_reward: paid(null) };
    follower.chain.paid.set(SLOT, odd);
    follower.chain.put(SLOT + 1, { proposer: 4 });
    follower.chain.paid.set(SLOT + 1, { mev: null, priority_fees: paid('-1') });
    await follower.poll();
    expect(follower.failure).toBeUndefined();
    expect([earned(follower, 'mev'), earned(follower, 'fees')]).toEqual([0, 0]);
    expect(follower.value('watched_blocks_unread_total')).toBe(1);
  });

  it('that paid an address outside the list are reported once, and judged by the current list for a week', async () => {
    const follower = await settled({ feeRecipients: [OTHER] });
    follower.now = slotTime('mainnet', SLOT) * 1000 + HOUR;
    await follower.poll();
    expect(follower.found('unexpected_fee_recipient')).toEqual([{ slot: SLOT, validator: 3, recipient: OWN }]);
    const at = slotTime('mainnet', SLOT);
    const expected = { series: [['3', at]], alerts: ['BeaconchainFeeRecipientUnexpected'] };
    expect(judged(follower, [OTHER])).toMatchObject(expected);
    expect(judged(follower, [OTHER]).page).toContain('unexpected');
    expect(judged(follower, [OTHER], (at + 7 * 86_400) * 1000)).toMatchObject({ alerts: [] });
    expect(judged(follower, [OTHER, OWN])).toMatchObject({ series: [], alerts: [] });
    await follower.poll();
    expect(follower.found('unexpected_fee_recipient')).toHaveLength(1);
  });

  it('are not judged without a list, or if the recipient is unknown', async () => {
    const follower = await settled({ feeRecipients: [OTHER] });
    follower.chain.put(SLOT + 1, { proposer: 4 });
    follower.chain.paid.set(SLOT + 1, { mev: paid('1', null), total_reward: paid('1', 'x') });
    await follower.poll();
    expect(judged(follower, [OTHER]).series).toHaveLength(1);
    expect(judged(follower, [])).toMatchObject({ series: [], alerts: [] });
    expect(judged(follower, []).page).toContain('validators.fee_recipients can name your addresses');
    expect(judged(follower, [OTHER]).page).not.toContain('can name your addresses');
  });

  it('of a week ago are counted, but not reported', async () => {
    const follower = await settled({ feeRecipients: [OTHER] });
    follower.now = slotTime('mainnet', SLOT) * 1000 + 7 * DAY;
    await follower.poll();
    expect([earned(follower, 'mev'), follower.found('unexpected_fee_recipient')]).toEqual([0.02, []]);
  });

  it('are requested twelve at a time, so that the head is not late', async () => {
    const follower = await settled();
    for (let i = 0; i < 32; i += 1) follower.chain.put(SLOT + i, { proposer: 3 });
    const sizes = [await blocksAsked(follower), await blocksAsked(follower, 1), await blocksAsked(follower, 1)];
    expect(sizes.map(({ length }) => length)).toEqual([12, 12, 8]);
    expect(follower.due()).toBeGreaterThan(follower.now);
  });
});
