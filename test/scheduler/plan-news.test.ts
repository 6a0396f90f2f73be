import { describe, expect, it } from 'vitest';
import { PlanNews } from '../../src/scheduler/plan-news.ts';
import type { Pace, Source } from '../../src/sources/source.ts';
import { fakeSource } from '../support/fake-source.ts';
import { DAY, HOUR, MINUTE } from '../support/timing.ts';

function every(intervalMs: number, coverage: Pace['coverage'] = 'full'): ReadonlyMap<Source, Pace> {
  return new Map([[fakeSource(), { intervalMs, requestsPerDay: 1, coverage }]]);
}

const same = (): string => 'x';

/** Told of an interval of a minute at 0. */
function toldAtFirst(): PlanNews {
  const news = new PlanNews();
  expect(news.isFirst).toBe(true);
  expect(news.take(every(MINUTE), same, 0)).toBe(true);
  expect(news.isFirst).toBe(false);
  return news;
}

describe('scheduler/plan-news', () => {
  it('is the first plan, and then what differs materially from what was told', () => {
    const news = toldAtFirst();
    expect(news.take(every(MINUTE * 1.2), same, 1)).toBe(false);
    expect(news.take(every(MINUTE * 1.3), same, 1)).toBe(true);
    expect(news.take(every(MINUTE * 1.3, 'finalized'), same, 2)).toBe(true);
    expect(news.take(every(MINUTE * 1.3, 'finalized'), same, 5 * DAY)).toBe(false);
  });

  it('is told once a day at most while the limits stay, but for the first hour, in which the costs are learned', () => {
    const news = toldAtFirst();
    expect(news.take(every(HOUR), same, HOUR - 1)).toBe(true);
    for (const now of [HOUR, 20 * HOUR, HOUR - 1 + DAY - 1]) expect(news.take(every(MINUTE), same, now)).toBe(false);
    expect(news.take(every(MINUTE), same, HOUR - 1 + DAY)).toBe(true);
    expect(news.take(every(HOUR), same, HOUR + DAY)).toBe(false);
    // What has passed by then is not told.
    expect(news.take(every(MINUTE), same, 3 * DAY)).toBe(false);
    expect(news.take(every(HOUR), same, 3 * DAY)).toBe(true);
  });

  it('is told at once where a limit is another, or the configuration', () => {
    const news = toldAtFirst();
    expect(news.take(every(HOUR), () => 'y', 2 * HOUR)).toBe(true);
    expect(news.take(every(MINUTE), () => 'y', 3 * HOUR)).toBe(false);
    news.reset();
    expect(news.take(every(MINUTE), () => 'y', 3 * HOUR)).toBe(true);
    expect(news.take(every(HOUR), () => 'y', 4 * HOUR)).toBe(false);
  });
});
