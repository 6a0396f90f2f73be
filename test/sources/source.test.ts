import { describe, expect, it } from 'vitest';
import { evenPace, nextTick, oncePer } from '../../src/sources/source.ts';
import { attempts, DAY, HOUR, MINUTE, NOW } from '../support/time/timing.ts';

describe('sources/source', () => {
  it('is due when a poll that took longer has ended, once, whatever the ticks that it missed', () => {
    expect(nextTick(attempts(NOW, { durationMs: 60_001 }), MINUTE)).toBe(NOW + 60_001);
    expect(nextTick(attempts(NOW, { durationMs: 150_000 }), MINUTE)).toBe(NOW + 150_000);
  });

  describe('the pace of polls that cost the same each', () => {
    it('is as configured if that fits', () => {
      const asConfigured = { intervalMs: MINUTE, requestsPerDay: 2_880, coverage: 'full' };
      for (const allowed of [2_880, Number.POSITIVE_INFINITY])
        expect(evenPace(MINUTE, allowed, 2)).toEqual(asConfigured);
    });

    it('is the fastest allowed pace otherwise', () => {
      expect(evenPace(MINUTE, 48, 2)).toEqual({ intervalMs: HOUR, requestsPerDay: 48, coverage: 'full' });
    });
  });

  it('plans work that succeeds once in a period by its requests, whatever the interval', () => {
    const daily = { intervalMs: HOUR, requestsPerDay: 1, coverage: 'full' };
    for (const allowed of [1, Number.POSITIVE_INFINITY]) expect(oncePer(DAY, HOUR, allowed)).toEqual(daily);
    expect(oncePer(HOUR, 2 * DAY, Number.POSITIVE_INFINITY)).toEqual({
      intervalMs: 2 * DAY,
      requestsPerDay: 0.5,
      coverage: 'full',
    });
    expect(oncePer(DAY, HOUR, 0.5)).toMatchObject({ intervalMs: 2 * DAY, requestsPerDay: 0.5 });
  });
});
