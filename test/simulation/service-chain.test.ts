import { expect, test } from 'vitest';
import { MS_PER_EPOCH, slotTime } from '../../src/lib/chain.ts';
import { NOW } from '../support/timing.ts';
import { Random } from './random.ts';
import { ChainView } from './service/chain-view.ts';
import { WorldChain } from './service/world-chain.ts';

const SLOT = 12_000;

function chainOf(liveliness = 0): WorldChain {
  return new WorldChain('mainnet', { seed: 3, liveliness }, NOW);
}

test('the head follows the time, and finality follows the head', () => {
  const chain = chainOf();
  expect(slotTime('mainnet', chain.headSlot) * 1_000).toBeGreaterThan(NOW - SLOT);
  const { latest } = chain;
  chain.moveTo(NOW + 10 * MS_PER_EPOCH);
  expect([chain.latest, chain.finalized]).toEqual([latest + 10, latest + 8]);
});

test('it does not depend on when it is asked', () => {
  const [often, once] = [chainOf(1), chainOf(1)];
  for (let now = NOW; now <= NOW + 5 * MS_PER_EPOCH; now += 7_000) often.moveTo(now);
  once.moveTo(NOW + 5 * MS_PER_EPOCH);
  often.moveTo(NOW + 5 * MS_PER_EPOCH);
  expect(often.slots).toEqual(once.slots);
});

test('rows that were rendered before are those that the chain has now', () => {
  const chain = chainOf(1);
  const view = new ChainView(chain, { rows: 0, slashings: 0 }, new Random(1, 'view'));
  for (let now = NOW; now < NOW + 10 * MS_PER_EPOCH; now += 5 * SLOT) {
    chain.moveTo(now);
    if (now % (20 * SLOT) === 0) chain.orderReorganisation(40);
    for (let epoch = chain.finalized - 1; epoch <= chain.latest; epoch += 1) {
      expect(JSON.parse(view.rows(epoch, now)?.list ?? '')).toEqual(JSON.parse(JSON.stringify(chain.rows(epoch))));
    }
  }
});

test('slashings come where they are ordered, in a block that stays or is orphaned', () => {
  const chain = chainOf();
  const head = chain.headSlot;
  chain.orderSlashings(2);
  chain.orderOrphanedSlashing(0);
  chain.orderOrphanedSlashing(3);
  chain.moveTo(NOW + 10 * SLOT);
  const canonical = Array.from({ length: 10 }, (_, i) => chain.canonicalIn(head + 1 + i));
  expect(canonical.slice(0, 3)).toEqual([[0], [1], []]);
  expect([...chain.included(head + 3).values()]).toEqual([[2]]);
  // The block of the fourth is replaced by another branch.
  expect([...chain.included(head + 4).values()][0]).toEqual([3]);
  expect(chain.rows(Math.floor((head + 4) / 32))?.filter(({ status }) => status === '3').length).toBeGreaterThan(1);
});

test('finality stands still, and catches up in the calm', () => {
  const chain = chainOf();
  const { latest, finalized } = chain;
  chain.stall(6);
  chain.moveTo(NOW + 5 * MS_PER_EPOCH);
  expect(chain.finalized).toBe(finalized);
  chain.calm();
  expect(chain.finalized).toBe(latest + 3);
});

test('a slot stays scheduled after its epoch is final, until a time', () => {
  const chain = chainOf();
  const view = new ChainView(chain, { rows: 0, slashings: 0 }, new Random(1, 'view'));
  const slot = chain.headSlot + 1;
  const until = NOW + 6 * MS_PER_EPOCH;
  view.keepScheduled(until);
  chain.moveTo(until);
  const shown = (now: number) => {
    const { list, isFinal } = view.rows(Math.floor(slot / 32), now) ?? { list: '[]' };
    return { isFinal, status: JSON.parse(list).find((row: { slot: number }) => row.slot === slot).status };
  };
  expect(shown(until - 1)).toEqual({ isFinal: false, status: '0' });
  expect(shown(until)).toEqual({ isFinal: true, status: '2' });
});
