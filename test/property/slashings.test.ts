import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { CHAINS, SECONDS_PER_EPOCH } from '../../src/lib/chain.ts';
import { slashingsSource } from '../../src/sources/slashings/index.ts';
import type { Slashings } from '../../src/sources/slashings/schema.ts';
import { cases, PATIENT } from '../support/fuzz.ts';
import { sampleValue } from '../support/samples.ts';
import { slashingsOptions } from '../support/slashings-options.ts';
import { askedFor, type ChainView, epochRows, listOf, slashing } from '../support/slot-rows.ts';
import { HOUR, MINUTE, NOW } from '../support/timing.ts';
import type { Fault } from './odd-api.ts';
import { named } from './odd-json.ts';
import { pollThrough, trouble } from './poll.ts';

const SOURCE = slashingsSource(slashingsOptions({ catchUpMs: HOUR }));

function epochAt(now: number): number {
  return Math.floor((now / 1000 - CHAINS.mainnet.genesis) / SECONDS_PER_EPOCH);
}

function slotAt(now: number): number {
  return Math.floor((now / 1000 - CHAINS.mainnet.genesis) / 12);
}

/** The first slot of every epoch announces a slashing of three validators. */
const service = (now: number) => (path: string) => {
  const latest = epochAt(now);
  const begun = slotAt(now) - latest * 32 + 1;
  const chain: ChainView = {
    latest,
    finalized: latest - 2,
    rows: (epoch) => {
      if (epoch > latest) return undefined;
      return epochRows(epoch, { 0: { attesterslashingscount: 1 } }, epoch === latest ? begun : 32);
    },
    records: (slot) => [slashing(slot, [1, 2, slot])],
    proposerRecords: () => [],
  };
  const data = listOf(chain, askedFor(path));
  return data && { status: 'OK', data };
};

/** A well-formed answer about another epoch: that of a cache, of another chain, or of nowhere. */
const elsewhere: fc.Arbitrary<Fault> = fc
  .record({
    epoch: fc.constantFrom(0, 1, 1_000, epochAt(NOW) - 300, epochAt(NOW) - 1, 2 ** 31, 2 ** 40, 2 ** 48),
    rows: fc.constantFrom(1, 2, 32),
  })
  .map(({ epoch, rows }) => ({
    status: 200,
    headers: {},
    spoil: named({ epoch, rows }, () => JSON.stringify({ status: 'OK', data: epochRows(epoch, {}, rows) })),
  }));

const anyTrouble = fc.oneof(trouble, fc.array(fc.array(fc.option(elsewhere, { nil: undefined })), { maxLength: 3 }));

/** Every number that a counter has, in a fixed order. */
function counters({ totals }: Slashings): number[] {
  return Object.values(totals).flatMap((total) => (typeof total === 'number' ? total : Object.values(total)));
}

describe('fuzz slashings', PATIENT, () => {
  it('steps back in no counter and no epoch, shows nothing odd, and counts on with the next good answers', async () => {
    await fc.assert(
      fc.asyncProperty(anyTrouble, async (faults) => {
        const { value, families } = await pollThrough(
          SOURCE,
          service,
          faults,
          12,
          ({ value: before }, { value: after }) => {
            const counts = counters(after);
            for (const [i, count] of counters(before).entries()) expect(counts[i]).toBeGreaterThanOrEqual(count);
            expect(after.scannedEpoch ?? -1).toBeGreaterThanOrEqual(before.scannedEpoch ?? -1);
          },
        );
        const now = NOW + (faults.length + 12) * MINUTE;
        const latest = epochAt(now);
        expect(value).toMatchObject({ headEpoch: latest, finalizedEpoch: latest - 2, scannedEpoch: latest - 2 });
        expect(sampleValue(families, 'beaconchain_head_slot')).toBe(slotAt(now));
        const newest = CHAINS.mainnet.genesis + latest * 32 * 12;
        expect(sampleValue(families, 'beaconchain_last_attester_slashing_timestamp_seconds')).toBe(newest);
      }),
      cases(60),
    );
  });
});
