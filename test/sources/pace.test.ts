import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { COVERAGES, evenPace, MAX_INTERVAL_MS, oncePer } from '../../src/sources/source.ts';
import { type Entry, sourceId } from '../../src/state/entry.ts';
import { configured } from '../support/month.ts';
import { Simulation } from '../support/simulation.ts';
import { attempts, DAY, HOUR, MINUTE, NOW, timing } from '../support/timing.ts';

const EVERYTHING = Number.POSITIVE_INFINITY;
const EXACT = 1e-9;

/** What each source knows after its first poll. */
async function firstEntries(): Promise<ReadonlyMap<string, Entry>> {
  const sim = new Simulation({ start: NOW, sources: configured() });
  await sim.clock.advance(MINUTE / 2);
  await sim.stop();
  return sim.entries;
}

const first = firstEntries();

describe('sources/pace', () => {
  describe('of polls at a plain cadence', () => {
    it('is as configured where that is affordable, to the last request', () => {
      const asConfigured = { intervalMs: MINUTE, requestsPerDay: 1_440, coverage: 'full' };
      for (const share of [EVERYTHING, 1_441, 1_440]) expect(evenPace(MINUTE, share, 1)).toEqual(asConfigured);
      expect(evenPace(MINUTE, EVERYTHING, 125)).toEqual({ ...asConfigured, requestsPerDay: 180_000 });
    });

    it('is stretched to what is affordable, by what a poll costs', () => {
      expect(evenPace(MINUTE, 24, 1)).toEqual({ intervalMs: HOUR, requestsPerDay: 24, coverage: 'full' });
      expect(evenPace(MINUTE, 24, 10)).toEqual({ intervalMs: 10 * HOUR, requestsPerDay: 24, coverage: 'full' });
    });

    it('is a poll a month at the least, and not even that where less is configured', () => {
      expect(evenPace(MINUTE, 0, 1).intervalMs).toBe(MAX_INTERVAL_MS);
      expect(evenPace(40 * DAY, 0, 1).intervalMs).toBe(40 * DAY);
      expect(evenPace(MINUTE, 0, 62).requestsPerDay).toBe(2);
    });
  });

  describe('of work that is done once in a while', () => {
    it('costs once in that while, however often it is tried', () => {
      expect(oncePer(DAY, HOUR, 1)).toEqual({ intervalMs: HOUR, requestsPerDay: 1, coverage: 'full' });
      expect(oncePer(DAY, MINUTE, EVERYTHING)).toEqual({ intervalMs: MINUTE, requestsPerDay: 1, coverage: 'full' });
    });

    it('costs what is configured where that is less', () => {
      expect(oncePer(DAY, 4 * DAY, EVERYTHING)).toEqual({
        intervalMs: 4 * DAY,
        requestsPerDay: 0.25,
        coverage: 'full',
      });
    });

    it('is tried as rarely as it must be where not even that is affordable', () => {
      expect(oncePer(DAY, HOUR, 0.5)).toEqual({ intervalMs: 2 * DAY, requestsPerDay: 0.5, coverage: 'full' });
      expect(oncePer(DAY, HOUR, 0).intervalMs).toBe(MAX_INTERVAL_MS);
    });
  });

  describe.each(configured().map((source) => [source.name, source] as const))('of %s', (_name, source) => {
    const share = fc.oneof(fc.double({ min: 0, max: 50, noNaN: true }), fc.double({ min: 0, max: 5_000, noNaN: true }));
    const cost = fc.integer({ min: 1, max: 300 });

    it('is as configured where everything is affordable', () => {
      expect(source.pace(EVERYTHING, 1)).toMatchObject({ intervalMs: source.intervalMs, coverage: 'full' });
    });

    it('is kept to: nothing is due before the interval is over, however long that is', async () => {
      const entry = (await first).get(sourceId(source));
      expect(entry?.lastAttemptAt).toBeDefined();
      for (const intervalMs of [DAY, 2 * DAY, 31 * DAY]) {
        const { lastAttemptAt: now = 0 } = entry ?? {};
        const due = source.due(entry?.value, attempts(now), timing({ now, intervalMs, coverage: 'sampled' }));
        expect(due).toBeGreaterThanOrEqual(now + intervalMs);
      }
    });

    it('costs no more than its share, unless it is at its longest interval', () => {
      fc.assert(
        fc.property(share, cost, (requestsPerDay, requestsPerPoll) => {
          const pace = source.pace(requestsPerDay, requestsPerPoll);
          if (pace.intervalMs < MAX_INTERVAL_MS) {
            expect(pace.requestsPerDay).toBeLessThanOrEqual(requestsPerDay * (1 + EXACT));
          }
        }),
      );
    });

    it('is never slower for a larger share, nor costs less', () => {
      fc.assert(
        fc.property(share, share, cost, (a, b, requestsPerPoll) => {
          const less = source.pace(Math.min(a, b), requestsPerPoll);
          const more = source.pace(Math.max(a, b), requestsPerPoll);
          // The interval is that of the finalized pass, or of the head pass, which is another thing.
          if (more.coverage === less.coverage) {
            expect(more.intervalMs).toBeLessThanOrEqual(less.intervalMs * (1 + EXACT));
          }
          expect(COVERAGES.indexOf(more.coverage)).toBeLessThanOrEqual(COVERAGES.indexOf(less.coverage));
          expect(more.requestsPerDay).toBeGreaterThanOrEqual(less.requestsPerDay * (1 - EXACT));
        }),
      );
    });
  });
});
