import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { CHAINS, SECONDS_PER_EPOCH } from '../../src/lib/chain.ts';
import { syncCommitteeSource } from '../../src/sources/sync-committee/index.ts';
import { cases, PATIENT } from '../support/fuzz.ts';
import { sampleValue } from '../support/samples.ts';
import { HOUR, NOW } from '../support/timing.ts';
import { pollThrough, trouble } from './poll.ts';

const SOURCE = syncCommitteeSource('mainnet', HOUR);
const { genesis } = CHAINS.mainnet;
const CURRENT = Math.floor((NOW / 1000 - genesis) / SECONDS_PER_EPOCH / 256);

const service = () => () => {
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
});
