import { expect, it } from 'vitest';
import { type Attempt, requestsPerRun, usual, withAnotherKey } from '../../src/scheduler/entry.ts';
import { fakeSource } from '../support/runs/fake-source.ts';
import { entryOf } from '../support/runs/known.ts';

it('knows the usual cost and duration from the second run on, and ignores a single unusual run', () => {
  const attempt = { failuresInARow: 0, durationMs: 0 };
  const taken = [[], [90], [90, 70], [70, 80, 900, 75]].map(usual);
  expect(taken).toEqual([0, 0, 70, 75]);
  const costsOf = (cost?: number) =>
    [[], [3], [1, 2, 23], [2, 3, 2, 2, 3]].map((costs) =>
      requestsPerRun(cost === undefined ? {} : { cost }, { ...attempt, costs }),
    );
  expect([costsOf(), costsOf(2)]).toEqual([
    [1, 1, 2, 2],
    [2, 2, 2, 2],
  ]);
});

it('another key ends the wait and the pause after a failure', () => {
  const failed = (attempt: Partial<Attempt>) => entryOf(fakeSource(), { failuresInARow: 1, ...attempt });
  expect(withAnotherKey(failed({ pausedUntil: 5 }))).toEqual(failed({ isDueNow: true }));
});
