import { describe, expect, it } from 'vitest';
import type { Family } from '../../src/metrics/family.ts';
import { familyOf, type Totals, totalOf, withTotals } from '../../src/metrics/totals.ts';

function counter(samples: Family['samples'], name = 'requests_total'): Family {
  return { name, type: 'counter', help: 'Requests.', samples };
}

/** What a process leaves, as the next one reads it. */
function left(...families: Family[]): Totals {
  return JSON.parse(JSON.stringify(families.map(({ name, samples }) => ({ name, samples }))));
}

describe('metrics/totals', () => {
  it('adds up what several processes counted', () => {
    const first = counter([{ labels: { endpoint: 'a' }, value: 5 }]);
    const second = withTotals([counter([{ labels: { endpoint: 'a' }, value: 2 }])], left(first));
    expect(second[0]?.samples).toEqual([{ labels: { endpoint: 'a' }, value: 7 }]);
    const third = withTotals([counter([{ labels: { endpoint: 'a' }, value: 1 }])], left(...second));
    expect(third[0]?.samples).toEqual([{ labels: { endpoint: 'a' }, value: 8 }]);
  });

  it('keeps series that this process has not counted yet', () => {
    const first = counter([{ labels: { reason: 'timeout' }, value: 5 }]);
    const [family] = withTotals([counter([{ labels: { reason: 'network' }, value: 1 }])], left(first));
    expect(family?.samples).toEqual([
      { labels: { reason: 'network' }, value: 1 },
      { labels: { reason: 'timeout' }, value: 5 },
    ]);
  });

  it('tells series apart by their labels in any order, and by their suffix', () => {
    const first: Family = {
      ...counter([
        { labels: { b: '2', a: '1' }, value: 1, suffix: '_sum' },
        { labels: { b: '2', a: '1' }, value: 10, suffix: '_count' },
      ]),
      type: 'histogram',
    };
    const now: Family = {
      ...first,
      samples: first.samples.map((sample) => ({ ...sample, labels: { a: '1', b: '2' } })),
    };
    expect(withTotals([now], left(first))[0]?.samples.map(({ value }) => value)).toEqual([2, 20]);
  });

  it('leaves what was never counted before as it is, and out what is not counted any more', () => {
    const fresh = counter([{ labels: {}, value: 5 }]);
    expect(withTotals([fresh], [])).toEqual([fresh]);
    expect(withTotals([], left(fresh))).toEqual([]);
  });

  it('are a family again by their name, and a number where there are no labels', () => {
    const { samples, ...head } = counter([{ labels: {}, value: 5 }]);
    const totals = left({ ...head, samples });
    expect(familyOf(head, totals)).toEqual({ ...head, samples });
    expect(totalOf(head.name, totals)).toBe(5);
    expect(familyOf(head, [])).toEqual({ ...head, samples: [] });
    expect(totalOf(head.name, [])).toBe(0);
  });
});
