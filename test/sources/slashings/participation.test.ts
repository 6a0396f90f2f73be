import { describe, expect, it } from 'vitest';
import { SlotRow } from '../../../src/api/answers/slots.ts';
import type { FailureReason } from '../../../src/api/errors.ts';
import type { Inputs } from '../../../src/sources/read.ts';
import { slashingsSource } from '../../../src/sources/slashings/index.ts';
import { participationIn } from '../../../src/sources/slashings/seats.ts';
import { type Fields, row } from '../../support/answers/slot-rows.ts';
import { committeeOf } from '../../support/answers/validators.ts';
import { Follower } from '../../support/runs/follower.ts';
import { slashingsOptions } from '../../support/runs/slashings-options.ts';
import { HOUR, MINUTE } from '../../support/time/timing.ts';

const ALL = `0x${'ff'.repeat(64)}`;
const WATCH = [{ first: 1, last: 9 }];

/** An epoch in the middle of a period. */
const E = 1582 * 256 + 100;
const F = E - 2;
const PERIOD = 1582;
const COMMITTEES: Record<number, readonly unknown[]> = { [PERIOD]: committeeOf({ 0: 1, 9: 2 }) };

/** Bits in which only these are set, written byte by byte as api-facts 4.1 says: bit i = byte i>>3, bit i&7. */
function bitsWith(...positions: readonly number[]): string {
  const bytes = Array.from({ length: 64 }, (_, byte) =>
    positions.reduce((sum, i) => sum + (Math.floor(i / 8) === byte ? 2 ** (i % 8) : 0), 0),
  );
  return `0x${bytes.map((byte) => byte.toString(16).padStart(2, '0')).join('')}`;
}

function rowsWith(...fields: readonly Fields[]): SlotRow[] {
  return fields.map((one, i) => SlotRow.parse(row({ slot: 32 + i, ...one })));
}

/** Writes an epoch whose blocks have these bits. */
function putEpoch({ chain }: Follower, epoch: number, signers: string | null = null): void {
  for (let i = 0; i < 32; i += 1) chain.put(epoch * 32 + i, { signers });
}

/** Follows a chain whose first finalized epoch has no bits, so that no seat is counted yet. */
async function following({ inputs = {} as Partial<Inputs>, at = E, committees = COMMITTEES, countsSeats = true } = {}) {
  const follower = new Follower({ watch: WATCH, countsSeats });
  follower.inputs = inputs;
  const { chain } = follower;
  for (const [period, all] of Object.entries(committees)) chain.committees.set(Number(period), all);
  putEpoch(follower, at - 2);
  chain.grow(at, at - 2);
  await follower.poll();
  const counts = () =>
    ['participated', 'missed'].map((status) => follower.value('watched_sync_committee_duties_total', { status }));
  /** Makes one more epoch with these bits final, and polls. Returns the requested members. */
  const finalize = async (bits = ALL, afterMs = MINUTE): Promise<string[]> => {
    chain.advance();
    putEpoch(follower, chain.finalized, bits);
    return (await follower.poll(afterMs)).filter((what) => what.startsWith('members/'));
  };
  return { follower, counts, finalize };
}

describe('participationIn', () => {
  it('counts only proposed blocks with readable bits', () => {
    const rows = rowsWith(
      { syncaggregate_bits: ALL },
      { syncaggregate_bits: bitsWith() },
      { status: '3', syncaggregate_bits: ALL },
      { status: '2', syncaggregate_bits: ALL },
      { syncaggregate_bits: null },
    );
    expect(participationIn(rows, [3, 200])).toEqual({ participated: 2, missed: 2 });
  });
});

describe('participation of watched validators in sync committees', () => {
  it('counts each seat of each canonical block of a finalized epoch once', async () => {
    const { counts, finalize } = await following();
    expect(counts()).toEqual([0, 0]);
    await finalize(bitsWith(0, 1, 2, 3));
    expect(counts()).toEqual([32, 32]);
    await finalize(bitsWith(9));
    expect(counts()).toEqual([64, 64]);
    await finalize(bitsWith(0, 9));
    expect(counts()).toEqual([128, 64]);
  });

  it('uses the committee of the period of each block', async () => {
    const { follower, counts, finalize } = await following({
      at: PERIOD * 256 + 256,
      committees: { [PERIOD]: committeeOf({ 0: 1, 1: 2, 2: 3 }), [PERIOD + 1]: committeeOf({ 500: 4 }) },
    });
    expect(follower.state.scannedEpoch).toBe(PERIOD * 256 + 254);
    expect(await finalize(bitsWith(0, 500))).toEqual([]);
    expect(counts()).toEqual([32, 64]);
    expect(await finalize(bitsWith(0, 500))).toEqual([`members/${PERIOD + 1}`]);
    expect(counts()).toEqual([64, 64]);
    expect(await finalize(bitsWith(500))).toEqual([]);
    expect(counts()).toEqual([96, 64]);
  });

  it.each<[string, { committees?: Record<number, unknown[]>; reason?: FailureReason }]>([
    ['unknown to the service', { committees: {} }],
    ['refused', { reason: 'forbidden' }],
    ['a failure', { reason: 'server_error' }],
    ['unreadable in one seat', { committees: { [PERIOD]: [...committeeOf({ 0: 1 }).slice(1), 'x'] } }],
  ])(
    'skips seats whose members are %s, reports that once, and counts on when the members are known',
    async (_, { committees = COMMITTEES, reason }) => {
      let known: number[] | undefined;
      const inputs = { seatsOf: () => known };
      const { follower, counts, finalize } = await following({ inputs, committees, countsSeats: false });
      const source = slashingsSource(slashingsOptions({ watch: WATCH, countsSeats: true }));
      Object.assign(follower, { source });
      follower.fault = (what) => (what.startsWith('members/') ? reason : undefined);
      expect(await finalize()).toEqual([`members/${PERIOD}`]);
      expect(follower.failure).toBeUndefined();
      expect(await finalize()).toEqual([]);
      expect(follower.state.scannedEpoch).toBe(F + 2);
      expect(follower.value('slots_total', { status: 'proposed' })).toBe(96);
      expect(counts()).toEqual([0, 0]);
      expect(follower.found('members_unknown')).toEqual([{ period: PERIOD }]);
      // The refusal of a part is noted by the source that reads it.
      expect(follower.entry.refusals).toEqual({});

      // What was left out stays left out: an epoch is counted once.
      known = committeeOf({ 0: 1, 9: 2 });
      expect(await finalize(ALL, HOUR)).toEqual([]);
      expect(counts()).toEqual([64, 0]);
    },
  );

  it('requests members once, and only if the other source lacks them', async () => {
    let known: number[] | undefined = committeeOf({ 3: 7 });
    const { follower, counts, finalize } = await following({
      inputs: { seatsOf: (period) => (period === PERIOD ? known : undefined) },
    });
    expect(await finalize()).toEqual([]);
    expect(counts()).toEqual([32, 0]);
    known = undefined;
    expect(await finalize()).toEqual([`members/${PERIOD}`]);
    expect(await finalize()).toEqual([]);
    // The two watched seats of the answer.
    expect(counts()).toEqual([160, 0]);
    expect(follower.found('members_unknown')).toEqual([]);
  });
});
