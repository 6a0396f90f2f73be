import { describe, expect, it } from 'vitest';
import { dueParts, keepNewer, maxAge, shownUntil } from '../../src/sources/ages.ts';
import { meanOf, sumOfAll, weiOfAll } from '../../src/sources/sums.ts';
import { HOUR, MINUTE, NOW } from '../support/time/timing.ts';

const EPOCH = 384_000;

describe('the ages of values', () => {
  it('an older value replaces nothing, and the later of two answers about the same time counts', () => {
    const [old, young, again] = [
      { at: 1, is: 'old' },
      { at: 2, is: 'young' },
      { at: 2, is: 'again' },
    ];
    const timeOf = ({ at }: { at: number }): number => at;
    expect(keepNewer(undefined, old, timeOf)).toBe(old);
    expect(keepNewer(old, young, timeOf)).toBe(young);
    expect(keepNewer(young, old, timeOf)).toBe(young);
    expect(keepNewer(young, again, timeOf)).toBe(again);
  });

  it.each([
    ['two reads, one each epoch, may fail', MINUTE, 3 * EPOCH],
    ['two reads at a longer interval may fail', 2 * HOUR, 4 * HOUR],
  ])('beyond its usual age %s', (_, intervalMs, more) => {
    const longest = maxAge(10 * MINUTE, intervalMs);
    expect(longest).toBe(10 * MINUTE + more);
    expect(shownUntil({ at: NOW - longest }, longest, NOW)).toBe(NOW + 1);
    expect(shownUntil({ at: NOW - longest - 1 }, longest, NOW)).toBeUndefined();
    // An epoch in progress, by a clock that is 5 minutes slow. Later times are from before the clock was set back.
    expect(shownUntil({ at: NOW + EPOCH + 5 * MINUTE }, longest, NOW)).toBeDefined();
    expect(shownUntil({ at: NOW + EPOCH + 5 * MINUTE + 1 }, longest, NOW)).toBeUndefined();
  });

  it.each([
    ['those never answered', [undefined, NOW - MINUTE, NOW - 2], [0]],
    ['those of an interval ago', [NOW - HOUR, NOW - HOUR + 1, NOW - 2], [0]],
    ['those of after now, because the clock was set back', [NOW + 1, NOW - MINUTE, NOW - 2], [0]],
    ['all, if none is due', [NOW - MINUTE, NOW - 1, NOW], [0, 1, 2]],
  ])('asks for %s', (_, askedAt, due) => {
    expect(dueParts([0, 1, 2], (part) => askedAt[part], { now: NOW, intervalMs: HOUR })).toEqual(due);
  });
});

describe('sums', () => {
  it('are known only if every amount is known', () => {
    expect([[1, 2], [1, null], [undefined], []].map(sumOfAll)).toEqual([3, undefined, undefined, undefined]);
    expect(weiOfAll(['9007199254740993', '-1'])).toBe('9007199254740992');
    expect([weiOfAll(['1', null]), weiOfAll([])]).toEqual([undefined, undefined]);
  });

  it('a mean ignores values without weight, and is unknown if a value or a weight is', () => {
    const pairs = (values: readonly (number | null)[], weights: readonly (number | null)[]) =>
      meanOf(values.map((value, at) => [value, weights[at] ?? null]));
    expect(pairs([0.5, 1, null], [1, 3, 0])).toBe(0.875);
    const unknown = [pairs([0.5, 1], [1, null]), pairs([0.5, null], [1, 9]), pairs([0.7], [0]), pairs([], [])];
    expect(unknown).toEqual(Array(4).fill(undefined));
    expect(meanOf([[0.1, null]])).toBe(0.1);
  });
});
