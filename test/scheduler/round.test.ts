import { describe, expect, it } from 'vitest';
import { RequestFailed } from '../../src/api/errors.ts';
import type { Entry } from '../../src/scheduler/entry.ts';
import { fakeApi } from '../support/answers/fake-api.ts';
import { fakeSource } from '../support/runs/fake-source.ts';
import { round } from '../support/runs/round.ts';
import { HOUR, MINUTE, NOW } from '../support/time/timing.ts';

const FAILURE = new RequestFailed('machine_metrics', 'bad_request', 'made up');

describe('scheduler/round', () => {
  it('repeats the reads that failed before it once when a sibling works again', async () => {
    let failing: readonly string[] = [];
    const read = (name: string, everyMs: number) => ({
      name,
      everyMs,
      due: (_value: number, _last: object, _timing: object, tick: number) => tick,
      run: (value: number) => (failing.includes(name) ? { value, failure: FAILURE } : { value: value + 1 }),
    });
    const source = fakeSource({ reads: [read('rare', 6 * HOUR), read('frequent', MINUTE), read('daily', 24 * HOUR)] });
    let entry: Entry | undefined;
    const ran: string[][] = [];
    for (const [minute, failed] of [
      [0, ['rare', 'frequent', 'daily']],
      [1, ['rare', 'frequent', 'daily']],
      [2, ['rare', 'daily']],
      [3, ['rare', 'daily']],
      // An hour after they failed. The rare one is not repeated, because it has just failed again.
      [63, ['rare']],
      [64, ['rare']],
    ] as const) {
      failing = failed;
      const result = await round(
        source,
        fakeApi(() => ({})),
        entry,
        { now: NOW + minute * MINUTE },
      );
      ({ entry } = result);
      ran.push([...result.ran]);
    }
    expect(ran).toEqual([
      ['rare', 'frequent', 'daily'],
      ['frequent'],
      // It works again: the daily one follows it, and the rare one comes with the next round.
      ['frequent', 'daily'],
      ['rare', 'frequent'],
      ['rare', 'frequent', 'daily'],
      ['frequent'],
    ]);
  });
});
