import { beforeEach, describe, expect, it } from 'vitest';
import { SlotRow } from '../../../src/api/answers/slots.ts';
import { epochAt, slotTime } from '../../../src/facts/chain.ts';
import { isPlausibleRowAt } from '../../../src/sources/slashings/blocks.ts';
import { epochRows, rootOf, row, slashing } from '../../support/answers/slot-rows.ts';
import { E, F, type Follower, following } from '../../support/runs/follower.ts';
import { MINUTE } from '../../support/time/timing.ts';

describe('the head pass of slashings', () => {
  let follower: Follower;
  beforeEach(async () => {
    follower = await following();
  });

  it('shows the newest canonical block as the head', async () => {
    const special = { 7: { syncaggregate_participation: 0.5 }, 8: { status: '3' }, 9: { status: '0' } };
    follower.chain.answers.set(`${E + 1}`, epochRows(E + 1, special, 10).toReversed());
    follower.chain.latest = E + 1;
    await follower.poll();
    expect(follower.state.head).toMatchObject({
      slot: E * 32 + 39,
      epoch: E + 1,
      syncaggregate_participation: 0.5,
      exec_gas_used: 11704811,
    });
  });

  it('shows unknown values, not 0, of a head without its payload, as Gloas allows', async () => {
    const execution = Object.keys(row({ slot: E * 32 })).filter((name) => name.startsWith('exec_'));
    const withoutPayload = { ...Object.fromEntries(execution.map((name) => [name, null])), withdrawalcount: 0 };
    follower.chain.answers.set(`${E}`, epochRows(E, { 31: withoutPayload }));
    await follower.poll();
    expect(follower.failure).toBeUndefined();
    const { head } = follower.state;
    expect(head).toMatchObject({ slot: E * 32 + 31, syncaggregate_participation: expect.any(Number) });
    for (const name of execution) expect(head?.[name as keyof typeof head] ?? null, name).toBeNull();
  });

  it('takes the epoch of most rows, so that a single odd row changes nothing', async () => {
    follower.chain.answers.set(`${E}`, [...epochRows(E), row({ slot: (E + 5) * 32 })]);
    await follower.poll();
    expect(follower.state).toMatchObject({ headEpoch: E, head: { epoch: E } });
  });

  it('reads the previous epoch again at the next pass if that failed', async () => {
    follower.chain.grow(E + 1, F);
    follower.fault = (what) => (what === `${E}` ? 'network' : undefined);
    await follower.poll();
    expect(follower.failure).toMatchObject({ reason: 'network' });
    follower.fault = () => undefined;
    expect((await follower.poll()).slice(0, 2)).toEqual(['latest', `${E}`]);
  });

  it('keeps the head if an answer is older, and reads finality when the service has caught up', async () => {
    follower.chain.latest = E - 1;
    expect(await follower.poll()).toEqual(['latest']);
    expect(follower.state.head).toMatchObject({ slot: E * 32 + 31 });
    // A cache can be some slots behind.
    follower.chain.latest = E;
    follower.chain.answers.set(`${E}`, epochRows(E, {}, 9));
    expect(await follower.poll()).toEqual(['latest', `${E - 1}`, 'finalized']);
    expect(follower.state.head).toMatchObject({ slot: E * 32 + 31 });
    expect(await follower.poll()).toEqual(['latest']);
  });

  it('rejects blocks more than five minutes ahead of our clock as bad records', async () => {
    const epoch = epochAt('mainnet', follower.now) + 1;
    follower.chain.latest = epoch;
    const start = slotTime('mainnet', epoch * 32) * 1000;
    await follower.poll(start - 5 * MINUTE - follower.now - 1);
    expect(follower.failure).toMatchObject({ reason: 'invalid_body' });
    expect(follower.state.head).toMatchObject({ epoch: E });
    await follower.poll();
    expect(follower.failure).toBeUndefined();
    expect(follower.value('head_epoch')).toBe(epoch);
    const [first, scheduled] = [{ slot: epoch * 32 }, { slot: epoch * 32 + 31, status: '0' }].map(row);
    expect(isPlausibleRowAt('mainnet', start - 5 * MINUTE)(SlotRow.parse(first))).toBe(true);
    expect(isPlausibleRowAt('mainnet', start)(SlotRow.parse(scheduled))).toBe(true);
  });

  it('fails without a readable row, keeps the head, and continues with finality', async () => {
    for (const rows of [[], [{ slot: 'x' }]]) {
      follower.chain.answers.set(`${E}`, rows);
      if (rows.length === 0) await follower.poll();
      expect(await follower.poll()).toEqual(['latest', 'finalized']);
      expect(follower.failure).toMatchObject({ reason: 'invalid_body' });
      expect(follower.state).toMatchObject({ headEpoch: E, head: { epoch: E } });
    }
  });

  it('ignores a single empty list, and fails at the second in a row', async () => {
    const rows = epochRows(E);
    for (const [answer, fails] of [[], [], rows, [], rows].map((one, i) => [one, i === 1] as const)) {
      follower.chain.answers.set(`${E}`, answer);
      await follower.poll();
      expect(follower.failure !== undefined).toBe(fails);
      expect(follower.state).toMatchObject({ headEpoch: E, head: { epoch: E } });
    }
  });

  describe('details', () => {
    const slot = E * 32 + 5;
    const slashed = () => follower.sightings.map(({ validators }) => validators);

    it.each(['1', -1, 1e308, {}])('are requested once if their number is %j', async (odd) => {
      follower.chain.slash(slot, [1]);
      follower.chain.change(slot, { attesterslashingscount: odd });
      follower.chain.change(slot + 1, { attesterslashingscount: odd });
      expect(await follower.poll()).toEqual(['latest', `slot/${slot}`, `slot/${slot + 1}`]);
      expect(await follower.poll()).toEqual(['latest']);
      expect(slashed()).toEqual([[1]]);
    });

    it('of an orphaned block in the same slot are ignored', async () => {
      follower.chain.slash(slot, [3]);
      follower.chain.answers.set(`slot/${slot}`, [
        slashing(slot, [8], { block_root: rootOf(slot, 1) }),
        slashing(slot, [3], { block_root: rootOf(slot).toUpperCase().replace('0X', '0x') }),
      ]);
      await follower.poll();
      expect(slashed()).toEqual([[3]]);
      expect(await follower.poll()).toEqual(['latest']);
    });

    it('that are incomplete are counted, and requested up to three times', async () => {
      follower.chain.slash(slot, [3]);
      follower.chain.change(slot, { attesterslashingscount: 2 });
      for (let i = 0; i < 3; i += 1) expect(await follower.poll()).toEqual(['latest', `slot/${slot}`]);
      expect(await follower.poll()).toEqual(['latest']);
      expect(follower.sightings).toHaveLength(1);
      // Another block of the slot has three tries of its own.
      follower.chain.change(slot, { blockroot: rootOf(slot, 1) });
      for (let i = 0; i < 3; i += 1) expect(await follower.poll()).toEqual(['latest', `slot/${slot}`]);
    });

    it('that fail make the poll fail, and are tried three times at the head', async () => {
      follower.chain.slash(slot, [3]);
      follower.chain.slash(slot + 1, [4]);
      follower.fault = (what) => (what === `slot/${slot}` ? 'bad_request' : undefined);
      await follower.poll();
      expect(follower.failure).toMatchObject({ reason: 'bad_request' });
      expect(slashed()).toEqual([[4]]);
      for (let i = 0; i < 2; i += 1) expect(await follower.poll()).toContain(`slot/${slot}`);
      expect(await follower.poll()).toEqual(['latest']);
    });
  });
});
