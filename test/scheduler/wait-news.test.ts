import { describe, expect, it } from 'vitest';
import type { Schedule } from '../../src/scheduler/schedule.ts';
import { WaitNews } from '../../src/scheduler/wait-news.ts';
import type { Source } from '../../src/sources/source.ts';
import { fakeSource } from '../support/fake-source.ts';
import { DAY, HOUR, NOW } from '../support/timing.ts';

const machines = fakeSource();
const slashings = fakeSource({ name: 'slashings' });
const WAIT = { until: NOW + 9 * DAY, limit: 'month' } as const;

/** The schedules of both sources, of which these wait. */
function waiting(...sources: Source[]): ReadonlyMap<Source, Schedule> {
  const pace = { intervalMs: HOUR, requestsPerDay: 24, coverage: 'full' } as const;
  const schedule = { pace, nextAttemptAt: NOW, probeAt: Number.POSITIVE_INFINITY };
  return new Map(
    [machines, slashings].map((source) => [source, sources.includes(source) ? { ...schedule, wait: WAIT } : schedule]),
  );
}

describe('scheduler/wait-news', () => {
  it('tells all waits once, and again when another source has come to wait', () => {
    const news = new WaitNews();
    expect(news.take(waiting(), 0)).toEqual({ began: undefined, changed: [] });
    const first = news.take(waiting(machines), HOUR);
    expect(first).toEqual({ began: new Map([[machines, WAIT]]), changed: [machines] });
    expect(news.take(waiting(machines), 20 * DAY)).toEqual({ began: undefined, changed: [] });
    const both = news.take(waiting(machines, slashings), 20 * DAY + HOUR);
    expect([...(both.began?.keys() ?? [])]).toEqual([machines, slashings]);
    expect(both.changed).toEqual([slashings]);
  });

  it('tells a wait that comes and goes within a day once, and names every change', () => {
    const news = new WaitNews();
    expect(news.take(waiting(machines), 0).began).toBeDefined();
    for (let hour = 1; hour < 100; hour += 2) {
      expect(news.take(waiting(), hour * HOUR)).toEqual({ began: undefined, changed: [machines] });
      expect(news.take(waiting(machines), (hour + 1) * HOUR)).toEqual({ began: undefined, changed: [machines] });
    }
  });

  it('tells of the next wait, a day after the last', () => {
    const news = new WaitNews();
    news.take(waiting(machines), 0);
    news.take(waiting(), HOUR);
    expect(news.take(waiting(machines), DAY).began).toBeDefined();
  });
});
