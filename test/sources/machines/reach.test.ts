import { describe, expect, it } from 'vitest';
import { lateRange, type MainRange, type Reach } from '../../../src/sources/machines/reach.ts';

const NOW = 1_790_769_660;
/** A sweep of nine machines a minute after the one before: one page that has room for a whole minute of late records. */
const SMALL: MainRange = { live: 9, requests: 1, records: 9, named: 0, start: NOW - 62 };
const AFTER: Reach = { beganAt: NOW - 60, overlap: 2, phase: 0, due: 48 };

describe('sources/machines/reach', () => {
  it.each([0, 24, 59])(
    'reads the newest minute whose records are five minutes old, whatever was read last (%i)',
    (phase) => {
      const range = lateRange({ ...AFTER, phase }, SMALL, NOW);
      expect(range).toMatchObject(phase === 0 ? { start: NOW - 360, end: NOW - 300 } : { end: NOW - 300 });
    },
  );

  it('reads the rest of a minute of which a part was read once that is due, and does not wait for a whole one', () => {
    expect(lateRange({ ...AFTER, phase: 24, due: 12 }, SMALL, NOW)).toBeUndefined();
    const range = lateRange({ ...AFTER, phase: 24, due: 24 }, SMALL, NOW);
    expect((range?.end ?? 0) - (range?.start ?? 0)).toBe(36);
  });
});
