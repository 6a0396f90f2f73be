import { describe, expect, it } from 'vitest';
import { Spacing } from '../../src/backfill/spacing.ts';

function spaced(seconds: number, count = 20, slow?: ReadonlyMap<string, number>): Spacing {
  const spacing = new Spacing(slow);
  for (let i = 0; i < count; i += 1) spacing.add('a', i * seconds);
  return spacing;
}

describe('backfill/spacing', () => {
  it.each([
    [60, 'full'],
    [62, 'full'],
    [120, 'thinned'],
    [480, 'thinned'],
  ])('records %i s apart are %s', (seconds, verdict) => {
    expect(spaced(seconds).verdict()).toBe(verdict);
  });

  it('takes minutes that a machine missed for no thinning, whatever the order and however often a record came', () => {
    const spacing = new Spacing();
    const minutes = Array.from({ length: 60 }, (_, i) => i).filter((i) => i % 5 !== 0 && i % 3 !== 0);
    for (const minute of [...minutes.toReversed(), ...minutes]) spacing.add('a', minute * 60);
    expect(spacing.verdict()).toBe('full');
  });

  it('lets one series that is not thinned speak for all', () => {
    const spacing = spaced(60);
    for (let i = 0; i < 20; i += 1) spacing.add('slow', i * 300);
    expect(spacing.verdict()).toBe('full');
  });

  it('says nothing of few records before it is known that no more will come', () => {
    expect(spaced(120, 5).verdict()).toBeUndefined();
    expect(spaced(120, 5).verdict(true)).toBe('thinned');
    expect(spaced(120, 1).verdict(true)).toBeUndefined();
  });

  it('knows the series that report more seldom', () => {
    expect(spaced(300).sparse()).toEqual([['a', 300]]);
    expect(spaced(300, 20, new Map([['a', 300]])).verdict()).toBe('full');
    expect(spaced(600, 20, new Map([['a', 300]])).verdict()).toBe('thinned');
  });
});
