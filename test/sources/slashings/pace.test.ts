import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { slashingsPace } from '../../../src/sources/slashings/pace.ts';
import { HOUR, MINUTE } from '../../support/timing.ts';

const EPOCH_MS = 384_000;

describe('sources/slashings/pace', () => {
  it('is as configured where that fits: a head pass each interval, and every epoch twice more', () => {
    const asConfigured = { intervalMs: MINUTE, requestsPerDay: 1_440 + 225 + 225, coverage: 'full' };
    expect(slashingsPace(MINUTE, Number.POSITIVE_INFINITY)).toEqual(asConfigured);
    expect(slashingsPace(MINUTE, 1_890)).toEqual(asConfigured);
  });

  it('reads no epoch again that passes between two head passes', () => {
    expect(slashingsPace(HOUR, 24 + 24 + 225)).toEqual({ intervalMs: HOUR, requestsPerDay: 273, coverage: 'full' });
  });

  it('stretches the head passes down to one per epoch', () => {
    expect(slashingsPace(MINUTE, 1_170)).toEqual({ intervalMs: 2 * MINUTE, requestsPerDay: 1_170, coverage: 'full' });
    expect(slashingsPace(MINUTE, 675)).toEqual({ intervalMs: EPOCH_MS, requestsPerDay: 675, coverage: 'full' });
  });

  it('gives head passes up for every finalized epoch', () => {
    const finalized = { intervalMs: EPOCH_MS, requestsPerDay: 225, coverage: 'finalized' };
    expect(slashingsPace(MINUTE, 674)).toEqual(finalized);
    expect(slashingsPace(MINUTE, 225)).toEqual(finalized);
  });

  it('samples finalized epochs where not even those fit', () => {
    expect(slashingsPace(MINUTE, 24)).toEqual({ intervalMs: HOUR, requestsPerDay: 24, coverage: 'sampled' });
  });

  it('costs no more than allowed, is no faster than configured, and never slower for more', () => {
    const configured = fc.constantFrom(MINUTE, 5 * MINUTE, EPOCH_MS, HOUR);
    const allowed = fc.integer({ min: 1, max: 3_000 });
    fc.assert(
      fc.property(configured, allowed, fc.nat(500), (configuredMs, requestsPerDay, more) => {
        const pace = slashingsPace(configuredMs, requestsPerDay);
        expect(pace.requestsPerDay).toBeLessThanOrEqual(requestsPerDay + 1e-6);
        expect(pace.intervalMs).toBeGreaterThanOrEqual(configuredMs);
        const richer = slashingsPace(configuredMs, requestsPerDay + more);
        expect(richer.intervalMs).toBeLessThanOrEqual(pace.intervalMs + 1e-6);
      }),
    );
  });
});
