import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { CHAINS, SECONDS_PER_EPOCH } from '../../src/lib/chain.ts';
import { syncCommitteeSource } from '../../src/sources/sync-committee/index.ts';
import { membersAnswer, membersOptions } from '../support/committees.ts';
import { cases, PATIENT } from '../support/fuzz.ts';
import { sampleValue } from '../support/samples.ts';
import { HOUR, NOW } from '../support/timing.ts';
import { pollThrough, trouble } from './poll.ts';

const SOURCE = syncCommitteeSource({ chain: 'mainnet', intervalMs: HOUR });
const { genesis } = CHAINS.mainnet;
const CURRENT = Math.floor((NOW / 1000 - genesis) / SECONDS_PER_EPOCH / 256);

const MEMBERS = syncCommitteeSource({ chain: 'mainnet', intervalMs: HOUR, members: membersOptions() });

const service = () => (path: string) => {
  if (path.endsWith(`/${CURRENT}`)) return membersAnswer(CURRENT, [5, 500_000, 7, 5]);
  if (path.endsWith('/next')) return membersAnswer(CURRENT + 1, [99, 500_001]);
  const epoch = { start: CURRENT * 256, end: CURRENT * 256 + 255 };
  const timestamp = {
    start: genesis + epoch.start * SECONDS_PER_EPOCH,
    end: genesis + (epoch.end + 1) * SECONDS_PER_EPOCH - 1,
  };
  return { data: { period: CURRENT, validators: [1, 2] }, range: { epoch, timestamp } };
};

describe('fuzz sync committee', PATIENT, () => {
  it('never loses a period or goes back, shows nothing odd, and takes the next good one', async () => {
    await fc.assert(
      fc.asyncProperty(trouble, async (faults) => {
        const { families } = await pollThrough(SOURCE, service, faults, 1, ({ value: before }, { value: after }) => {
          if (before.period) expect(after.period?.number).toBeGreaterThanOrEqual(before.period.number);
        });
        expect(sampleValue(families, 'beaconchain_sync_committee_period')).toBe(CURRENT);
        expect(sampleValue(families, 'beaconchain_sync_committee_start_epoch')).toBe(CURRENT * 256);
      }),
      cases(80),
    );
  });

  it('never shows more than a committee, keeps the period, and knows both committees or that they are refused', async () => {
    await fc.assert(
      fc.asyncProperty(trouble, async (faults) => {
        const { value, families } = await pollThrough(
          MEMBERS,
          service,
          faults,
          2,
          ({ value: before }, { value: after }) => {
            if (before.period) expect(after.period?.number).toBeGreaterThanOrEqual(before.period.number);
            if (!after.membersRefusal && before.period?.number === after.period?.number) {
              expect(after.committees ?? []).toEqual(expect.arrayContaining(before.committees ?? []));
            }
            for (const { validators } of after.committees ?? []) expect(validators.length).toBeLessThanOrEqual(512);
          },
        );
        expect(sampleValue(families, 'beaconchain_sync_committee_period')).toBe(CURRENT);
        expect(sampleValue(families, 'beaconchain_sync_committee_start_epoch')).toBe(CURRENT * 256);
        const known = value.committees?.map(({ period }) => period).sort();
        if (!value.membersRefusal) expect(known).toEqual([CURRENT, CURRENT + 1]);
      }),
      cases(80),
    );
  });
});
