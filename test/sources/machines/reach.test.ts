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

  it('waits for a whole minute only where the machine that is looked for fits on the page too', () => {
    const main = { ...SMALL, requests: 2, records: 10 };
    expect(lateRange({ ...AFTER, due: 24 }, { ...main, live: 9 }, NOW)).toBeUndefined();
    expect(lateRange({ ...AFTER, due: 24 }, { ...main, live: 10 }, NOW)).toMatchObject({ pages: 1 });
  });

  it('reads a whole minute on two pages where one had room for it until a machine was added', () => {
    const range = lateRange(AFTER, { ...SMALL, live: 10, requests: 2, records: 11 }, NOW);
    expect(range).toEqual({ start: NOW - 360, end: NOW - 300, pages: 2 });
  });

  it('reads the rest of a minute of which a part was read once that is due, and does not wait for a whole one', () => {
    expect(lateRange({ ...AFTER, phase: 24, due: 12 }, SMALL, NOW)).toBeUndefined();
    const range = lateRange({ ...AFTER, phase: 24, due: 24 }, SMALL, NOW);
    expect((range?.end ?? 0) - (range?.start ?? 0)).toBe(36);
  });
});
