import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { BlockCounts } from '../../src/backfill/output-spans.ts';

const CELL = 7_200;

describe('backfill/output-spans', () => {
  it('cuts where blocks end, covers the whole, and keeps to the limit unless two hours alone exceed it', () => {
    const counts = fc.array(fc.tuple(fc.integer({ min: 0, max: 11 }), fc.integer({ min: 1, max: 50 })), {
      maxLength: 40,
    });
    fc.assert(
      fc.property(counts, fc.integer({ min: 1, max: 200 }), (cells, most) => {
        const counts = new BlockCounts();
        const perCell = new Map<number, number>();
        for (const [cell, samples] of cells) {
          counts.add(cell * CELL + 5, samples);
          perCell.set(cell, (perCell.get(cell) ?? 0) + samples);
        }
        const windows = counts.split({ from: 0, to: 12 * CELL }, most);
        expect(windows[0]?.from).toBe(0);
        expect(windows.at(-1)?.to).toBe(12 * CELL);
        for (const [i, { from, to }] of windows.entries()) {
          if (i > 0) expect(from).toBe(windows[i - 1]?.to);
          expect(from % CELL).toBe(0);
          const held = [...perCell].filter(([cell]) => cell * CELL >= from && cell * CELL < to);
          const samples = held.reduce((sum, [, count]) => sum + count, 0);
          expect(samples <= most || held.length === 1).toBe(true);
        }
      }),
    );
  });
});
