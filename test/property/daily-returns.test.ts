import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { dailyReturnsSource } from '../../src/sources/daily-returns/index.ts';
import { dayAfter, returnsPage } from '../support/datapoint.ts';
import { cases, PATIENT } from '../support/fuzz.ts';
import { sampleValue } from '../support/samples.ts';
import { HOUR, NOW } from '../support/timing.ts';
import { pollThrough, trouble } from './poll.ts';

const SOURCE = dailyReturnsSource('mainnet', HOUR);
/** The first poll sees day 2126, the last one after the trouble day 2127. */
const service = (now: number) => (path: string) =>
  path.includes('eth-store') ? undefined : returnsPage(dayAfter(25), dayAfter(now > NOW + 4.5 * 60_000 ? 27 : 26));

describe('fuzz daily returns', PATIENT, () => {
  it('never loses a day or goes back, shows nothing odd, and takes the next good day', async () => {
    await fc.assert(
      fc.asyncProperty(trouble, async (faults) => {
        const { families } = await pollThrough(SOURCE, service, faults, 5, ({ value: before }, { value: after }) => {
          if (before.newest) expect(after.newest?.day).toBeGreaterThanOrEqual(before.newest.day);
        });
        expect(sampleValue(families, 'beaconchain_daily_return_day')).toBe(2127);
        expect(sampleValue(families, 'beaconchain_daily_return_apr_ratio', { layer: 'consensus' })).toBe(
          0.027635714286,
        );
      }),
      cases(80),
    );
  });
});
