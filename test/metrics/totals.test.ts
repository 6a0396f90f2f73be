import { describe, expect, it } from 'vitest';
import type { Family } from '../../src/metrics/family.ts';
import { type Totals, totalsOf, withCountersOf, withTotals } from '../../src/metrics/totals.ts';

function counter(samples: Family['samples'], name = 'requests_total'): Family {
  return { name, type: 'counter', help: 'Requests.', samples };
}

/** What a process leaves, as the next one reads it. */
function left(...families: Family[]): Totals {
  return JSON.parse(JSON.stringify(totalsOf(families)));
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

  it('leaves gauges, and what was never counted before, as they are', () => {
    const gauge: Family = { ...counter([{ labels: {}, value: 5 }], 'level'), type: 'gauge' };
    expect(totalsOf([gauge])).toEqual([]);
    expect(withTotals([gauge], [{ name: 'level', samples: [{ labels: {}, value: 1 }] }])).toEqual([gauge]);
    const fresh = counter([{ labels: {}, value: 5 }]);
    expect(withTotals([fresh], [])).toEqual([fresh]);
  });

  it('shows counters as they were written beside gauges as they are, and none that never was', () => {
    const gauge = (value: number): Family => ({ ...counter([{ labels: {}, value }], 'level'), type: 'gauge' });
    const written = counter([{ labels: {}, value: 5 }], 'written');
    const now = [gauge(2), counter([{ labels: {}, value: 6 }], 'written'), counter([{ labels: {}, value: 1 }], 'new')];
    expect(withCountersOf(now, [gauge(1), written])).toEqual([gauge(2), written]);
  });
});
