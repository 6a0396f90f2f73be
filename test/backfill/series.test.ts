import { describe, expect, it } from 'vitest';
import { type SeriesOptions, samplesBySeries } from '../../src/backfill/write.ts';
import type { Family, Sample } from '../../src/toolkit/exposition/family.ts';

const options: SeriesOptions = {
  labels: {},
  chains: new Set(['mainnet']),
  step: undefined,
  end: 1_000_000,
};

function told(samples: readonly Sample[], more: Partial<SeriesOptions> = {}): Sample[] {
  const family: Family = { name: 'x', type: 'gauge', help: '', samples };
  return [...samplesBySeries(family, { ...options, ...more })];
}

const sample = (machine: string, at: number, value = at): Sample => ({
  labels: { chain: 'mainnet', machine },
  value,
  at,
});

describe('backfill/series', () => {
  it('returns one series after the other, each in ascending time', () => {
    const found = told([sample('b', 3), sample('a', 2), sample('b', 1), sample('a', 9), sample('b', 2)]);
    expect(found.map(({ labels, at }) => `${labels['machine']} ${at}`)).toEqual(['b 1', 'b 2', 'b 3', 'a 2', 'a 9']);
  });

  it('returns only the first of several values at one time', () => {
    expect(told([sample('a', 1, 10), sample('a', 1, 20)]).map(({ value }) => value)).toEqual([10]);
  });

  it('adds labels, and leaves other chains out', () => {
    const other: Sample = { labels: { chain: 'hoodi', machine: 'a' }, value: 1, at: 1 };
    expect(told([sample('a', 1), other], { labels: { job: 'j' } })).toEqual([
      { labels: { chain: 'mainnet', machine: 'a', job: 'j' }, value: 1, at: 1 },
    ]);
  });

  it('repeats a value until the next day, never beyond the end, and leaves gaps', () => {
    const day = 86_400;
    const found = told([sample('a', 0), sample('a', day), sample('a', 3 * day)], {
      step: 21_600,
      end: 3 * day + 30_000,
    });
    const first = [0, 1, 2, 3].map((i) => i * 21_600);
    expect(found.map(({ at }) => at)).toEqual([...first, ...first.map((at) => at + day), 3 * day, 3 * day + 21_600]);
  });
});
