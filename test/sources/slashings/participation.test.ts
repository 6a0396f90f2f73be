import { describe, expect, it } from 'vitest';
import { participationIn } from '../../../src/sources/slashings/participation.ts';
import { SlotRow } from '../../../src/sources/slashings/schema.ts';
import { Follower } from '../../support/follower.ts';
import { row } from '../../support/slot-rows.ts';

const E = 479_000;
const PERIOD = Math.floor(E / 256);

/** The text of a block in which only the seats at these positions signed. */
function signedAt(...positions: number[]): string {
  const bytes = Buffer.alloc(64);
  for (const position of positions) bytes[position >> 3] = (bytes[position >> 3] ?? 0) | (1 << (position & 7));
  return `0x${bytes.toString('hex')}`;
}

function rows(...fields: Record<string, unknown>[]): SlotRow[] {
  return fields.map((one, i) => SlotRow.parse(row({ slot: E * 32 + i, ...one })));
}

async function counting(seatsOf: (period: number) => readonly number[] | undefined, lost: number[] = []) {
  const follower = new Follower({ watch: [{ first: 7, last: 7 }], seatsOf, onNoCommittee: (one) => lost.push(one) });
  follower.chain.grow(E, E - 2);
  await follower.poll();
  return follower;
}

/** Participated and missed. */
function duties(follower: Follower): (number | undefined)[] {
  return ['participated', 'missed'].map((status) => follower.value('watched_sync_committee_duties_total', { status }));
}

async function finalize(follower: Follower, bits?: string): Promise<void> {
  const epoch = follower.chain.finalized + 1;
  follower.chain.grow(follower.chain.latest + 1, epoch);
  if (bits) for (let i = 0; i < 32; i += 1) follower.chain.change(epoch * 32 + i, { syncaggregate_bits: bits });
  await follower.poll();
}

describe('sources/slashings/participation', () => {
  it('reads bit i of a block as the seat at position i', () => {
    for (const position of [0, 7, 8, 300, 511]) {
      const one = rows({ syncaggregate_bits: signedAt(position) });
      expect(participationIn(one, [position])).toEqual({ participated: 1, missed: 0 });
      expect(participationIn(one, [(position + 1) % 512])).toEqual({ participated: 0, missed: 1 });
    }
  });

  it('counts each seat in each canonical block whose bits are known', () => {
    const bits = signedAt(3);
    const blocks = rows(
      { syncaggregate_bits: bits },
      { syncaggregate_bits: bits, status: '3' },
      { syncaggregate_bits: bits, status: '2' },
      { syncaggregate_bits: '0xff' },
      { syncaggregate_bits: null },
    );
    expect(participationIn(blocks, [3, 4])).toEqual({ participated: 1, missed: 1 });
  });

  it('counts two seats of one validator with each finalized epoch, once', async () => {
    const follower = await counting(() => [5, 7, 6, 7]);
    const [before = 0] = duties(follower);
    expect(duties(follower)).toEqual([before, 0]);
    await finalize(follower, signedAt(1));
    expect(duties(follower)).toEqual([before + 32, 32]);
    await follower.poll();
    expect(duties(follower)).toEqual([before + 32, 32]);
  });

  it('leaves out an epoch whose committee is not known, says so, and goes on with the next', async () => {
    const lost: number[] = [];
    let seats: readonly number[] | undefined;
    const follower = await counting(() => seats, lost);
    await finalize(follower);
    expect(duties(follower)).toEqual([0, 0]);
    expect(new Set(lost)).toEqual(new Set([PERIOD]));
    expect(follower.state.scannedEpoch).toBe(follower.chain.finalized);
    seats = [7];
    await finalize(follower);
    expect(duties(follower)).toEqual([32, 0]);
  });
});
