import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { RequestFailed } from '../../src/api/errors.ts';
import { doubtingRefusals, type Entry, emptyEntry, entrySchema } from '../../src/scheduler/entry.ts';
import type { Source } from '../../src/sources/source.ts';
import { BETWEEN, expectShowable, goodTurns, lived, SOURCES, shownOf, turn } from '../battery/service.ts';
import { scheduleAt } from '../support/runs/round.ts';
import { NOW } from '../support/time/timing.ts';
import { cases, PATIENT } from '../support/vitest/fuzz.ts';
import { type Fault, fault, mutated, mutations, spoilt } from './odd.ts';

const EACH = SOURCES.map((source) => [source.name, source] as const);

/** These last an hour, after which no pause is left. */
const GOOD_TURNS = 10;

/** Series that keep what an odd answer said. */
const FOR_GOOD = /slash|missed_proposal|offline_since|fee_recipient|credentials_changed|machines /;

/** Turns with these faults, then a reload and good answers. Returns the last entry and its time. */
async function polled(source: Source, faults: readonly Fault[][]): Promise<{ entry: Entry; now: number }> {
  let entry = emptyEntry(source);
  for (const [i, ofTurn] of faults.entries()) {
    const now = NOW + i * BETWEEN;
    const before = shownOf(source, entry, now);
    let requests = 0;
    const next = (): Fault => ofTurn[requests++];
    const { entry: after, failure } = await turn(source, entry, {
      now,
      disturbance: ({ good }) => spoilt(good, next()),
    });
    if (failure) expect(failure).toBeInstanceOf(RequestFailed);
    entry = after;
    const shown = shownOf(source, entry, now);
    expectShowable(shown, now);
    // Counters of machines pass through with their resets.
    for (const [series, { value, isCounter }] of shown)
      if (isCounter && source.chain) expect(value, series).toBeGreaterThanOrEqual(before.get(series)?.value ?? 0);
  }
  const turns = goodTurns(GOOD_TURNS, NOW + faults.length * BETWEEN);
  ({ entry } = await lived(source, turns, doubtingRefusals(source, entry)));
  return { entry, now: turns.at(-1)?.now ?? NOW };
}

/** A few turns, each with the faults of its first requests. */
const trouble: fc.Arbitrary<Fault[][]> = fc.array(fc.array(fault, { minLength: 1, maxLength: 6 }), {
  minLength: 1,
  maxLength: 4,
});

describe('fuzz sources', PATIENT, () => {
  it.each(EACH)(
    '%s: shows nothing odd whatever the answers are, steps no counter back, and recovers with good answers',
    async (_, source) => {
      const whole = await Promise.all(
        [1, 2, 3, 4].map(async (turns) => (await lived(source, goodTurns(turns + GOOD_TURNS))).entry),
      );
      await fc.assert(
        fc.asyncProperty(trouble, async (faults) => {
          const { entry, now } = await polled(source, faults);
          const shown = shownOf(source, entry, now);
          for (const [series, right] of shownOf(source, whole[faults.length - 1] as Entry, now))
            if (!right.isCounter && !FOR_GOOD.test(series)) expect(shown.get(series)?.value, series).toBe(right.value);
        }),
        cases(12),
      );
    },
  );

  it.each(EACH)('%s: shows and plans with any saved state that it does not refuse', async (_, source) => {
    const { entry, now } = await polled(source, []);
    fc.assert(
      fc.property(mutations(), (changes) => {
        const parsed = entrySchema(source).safeParse(mutated(entry, changes));
        if (!parsed.success) return;
        expectShowable(shownOf(source, parsed.data, now), now);
        const due = scheduleAt(source, parsed.data, now).reads.map(({ nextAttemptAt }) => nextAttemptAt);
        expect(Math.min(...due)).toBeLessThan(Number.POSITIVE_INFINITY);
      }),
      cases(60),
    );
  });
});
