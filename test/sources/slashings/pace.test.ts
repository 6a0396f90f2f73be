import { describe, expect, it } from 'vitest';
import { slashingsPace } from '../../../src/sources/slashings/index.ts';
import type { Coverage } from '../../../src/sources/source.ts';
import { defaultConfig } from '../../support/runs/default-config.ts';
import { DAY, MINUTE } from '../../support/time/timing.ts';

/** An epoch takes 384 s: 225 a day. */
const EPOCH = 384_000;
const { intervalMs: BY_DEFAULT } = defaultConfig().slashings;

describe('sources/slashings/pace', () => {
  it('is about 1,330 + 225 + 225 requests a day at the default interval', () => {
    const { intervalMs, requestsPerDay, coverage } = slashingsPace(BY_DEFAULT, Number.POSITIVE_INFINITY);
    expect([intervalMs, coverage]).toEqual([BY_DEFAULT, 'full']);
    expect(requestsPerDay).toBeCloseTo(1_779.23);
    expect(slashingsPace(BY_DEFAULT, 1_780)).toEqual({ intervalMs, requestsPerDay, coverage });
    expect(slashingsPace(BY_DEFAULT, 1_779).intervalMs).toBeGreaterThan(BY_DEFAULT);
  });

  it('first makes head passes rarer, down to one per epoch', () => {
    const tight = slashingsPace(MINUTE, 1_889);
    expect(tight.coverage).toBe('full');
    expect(tight.intervalMs).toBeGreaterThan(MINUTE);
    expect(tight.requestsPerDay).toBeCloseTo(1_889);
    const half = slashingsPace(MINUTE, 450 + 720);
    expect(half).toEqual({ intervalMs: 2 * MINUTE, requestsPerDay: 1_170, coverage: 'full' });
    expect(slashingsPace(MINUTE, 675)).toEqual({ intervalMs: EPOCH, requestsPerDay: 675, coverage: 'full' });
  });

  it('then stops them, and looks at finality as often as there is something for it, once an epoch at least', () => {
    const finalized = (share: number) => ({ intervalMs: DAY / share, requestsPerDay: share, coverage: 'finalized' });
    for (const share of [674.9, 450, 300]) expect(slashingsPace(MINUTE, share)).toEqual(finalized(share));
    expect(slashingsPace(MINUTE, 225)).toEqual({ intervalMs: EPOCH, requestsPerDay: 225, coverage: 'finalized' });
  });

  it('and below 225 a day reads the newest finalized epoch as often as it can', () => {
    expect(slashingsPace(MINUTE, 96)).toEqual({ intervalMs: DAY / 96, requestsPerDay: 96, coverage: 'sampled' });
    const nothing = slashingsPace(MINUTE, 0);
    expect([nothing.intervalMs, nothing.coverage]).toEqual([31 * DAY, 'sampled']);
  });

  it('restores coverage when the share exceeds its cost by a tenth, not after each small increase', () => {
    const coverageOf = (share: number, before: Coverage): Coverage => slashingsPace(MINUTE, share, before).coverage;
    expect([675, 742, 743].map((share) => coverageOf(share, 'finalized'))).toEqual(['finalized', 'finalized', 'full']);
    expect([675, 674].map((share) => coverageOf(share, 'full'))).toEqual(['full', 'finalized']);
    expect([225, 247, 248].map((share) => coverageOf(share, 'sampled'))).toEqual(['sampled', 'sampled', 'finalized']);
    expect([225, 224].map((share) => coverageOf(share, 'finalized'))).toEqual(['finalized', 'sampled']);
    // What lies between is not left idle, and in no share is there a step.
    for (const before of ['finalized', 'sampled'] as const) {
      for (const share of [230, 240, 700, 740]) {
        expect(slashingsPace(MINUTE, share, before).requestsPerDay).toBeCloseTo(share, 6);
      }
    }
    expect(slashingsPace(MINUTE, Number.POSITIVE_INFINITY, 'sampled')).toMatchObject({ intervalMs: MINUTE });
  });
});
