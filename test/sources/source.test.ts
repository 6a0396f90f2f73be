import { describe, expect, it } from 'vitest';
import { nextTick } from '../../src/sources/source.ts';
import { attempts, MINUTE, NOW } from '../support/timing.ts';

describe('sources/source', () => {
  it('is due at once before the first attempt', () => {
    expect(nextTick(attempts(undefined), MINUTE)).toBe(0);
  });

  it('is due one interval after the last start, however short or exact the poll', () => {
    for (const durationMs of [0, 1, 59_999, 60_000]) {
      expect(nextTick(attempts(NOW, { durationMs }), MINUTE)).toBe(NOW + MINUTE);
    }
  });

  it('drops the ticks that a long poll missed', () => {
    expect(nextTick(attempts(NOW, { durationMs: 60_001 }), MINUTE)).toBe(NOW + 2 * MINUTE);
    expect(nextTick(attempts(NOW, { durationMs: 150_000 }), MINUTE)).toBe(NOW + 3 * MINUTE);
  });
});
