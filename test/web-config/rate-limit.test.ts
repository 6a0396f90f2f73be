import { describe, expect, it } from 'vitest';
import { TokenBucket } from '../../src/web-config/rate-limit.ts';

describe('web-config/rate-limit', () => {
  it('starts full, gives back one at each interval, and never holds more than the burst', () => {
    const bucket = new TokenBucket({ intervalMs: 100, burst: 2 }, 1_000);
    const takenAt = (...times: number[]): boolean[] => times.map((now) => bucket.take(now));
    expect(takenAt(1_000, 1_000, 1_000)).toEqual([true, true, false]);
    expect(takenAt(1_099, 1_100, 1_150)).toEqual([false, true, false]);
    expect(takenAt(9_000, 9_000, 9_000)).toEqual([true, true, false]);
  });

  it('with a burst of 0 gives nothing, however long one waits', () => {
    const bucket = new TokenBucket({ intervalMs: 1, burst: 0 }, 0);
    expect(bucket.take(1_000_000)).toBe(false);
  });
});
