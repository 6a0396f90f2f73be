import { describe, expect, it } from 'vitest';
import { type Entry, sourceId, withAnotherKey } from '../../../src/scheduler/entry.ts';
import { afterPoll } from '../../../src/scheduler/polls.ts';
import { slashingsSource } from '../../../src/sources/slashings/index.ts';
import type { Source } from '../../../src/sources/source.ts';
import { failed, fakeApi } from '../../support/answers/fake-api.ts';
import { askedFor, chainAnswer } from '../../support/answers/slot-rows.ts';
import { E, F, Follower } from '../../support/runs/follower.ts';
import { type Harness, schedule } from '../../support/runs/scheduler-harness.ts';
import { slashingsOptions } from '../../support/runs/slashings-options.ts';
import { HOUR, MINUTE, NOW } from '../../support/time/timing.ts';
import { VirtualClock } from '../../support/time/virtual-clock.ts';

const SLOT = E * 32 + 5;
/** The default. It is longer than the first retry takes, and the ones below are much longer. */
const INTERVALS = [65_000, 10 * MINUTE, HOUR];

/** The source with the real scheduler, on a chain that does not move. Requests in `broken` time out. */
class Watched {
  readonly source: Source;
  readonly broken: Set<string>;
  readonly asked: { at: number; what: string }[] = [];
  readonly harness: Harness;

  constructor(intervalMs: number, broken: readonly string[], requestsPerDay = Number.POSITIVE_INFINITY) {
    this.broken = new Set(broken);
    const { chain } = new Follower();
    chain.grow(E, F);
    chain.slash(SLOT, [3]);
    this.source = slashingsSource(slashingsOptions({ intervalMs })) as unknown as Source;
    const clock = new VirtualClock(NOW);
    this.harness = schedule([this.source], {
      clock,
      allowedPerDay: () => requestsPerDay,
      api: fakeApi((request) => {
        const what = askedFor(request.path);
        this.asked.push({ at: clock.now(), what });
        if (this.broken.has(what)) throw failed(request, 'timeout');
        return chainAnswer(chain, request);
      }),
    });
  }

  get entry(): Entry {
    return this.harness.view(this.source).entry;
  }

  times(what: string): number[] {
    return this.asked.filter((one) => one.what === what).map(({ at }) => at - NOW);
  }
}

describe.each(INTERVALS)('sources/slashings: the retry of a poll, at an interval of %i ms', (intervalMs) => {
  it.each([
    ['the head', ['latest', 'finalized']],
    ['everything', ['latest', 'finalized', `slot/${SLOT}`]],
    ['finality', ['finalized']],
    ['the slashings of a block', [`slot/${SLOT}`]],
  ])('asks again for what failed: %s', async (_, broken) => {
    const watched = new Watched(intervalMs, broken);
    await watched.harness.clock.advance(MINUTE + 1);
    expect(watched.entry).toMatchObject({ failuresInARow: 2 });
    expect(watched.entry.lastSuccessAt).toBeUndefined();
    expect(watched.times(broken[0] as string)).toEqual([0, MINUTE]);
    watched.broken.clear();
    await watched.harness.clock.advance(Math.min(2 * MINUTE, intervalMs));
    expect(watched.entry.failuresInARow).toBe(0);
    watched.harness.stop();
  });

  it('makes no more head passes than configured where only finality fails', async () => {
    const watched = new Watched(intervalMs, ['finalized']);
    await watched.harness.clock.advance(HOUR);
    const times = watched.times('latest');
    const gaps = times.slice(1).map((at, i) => at - (times[i] as number));
    expect(Math.min(...gaps, intervalMs)).toBeGreaterThanOrEqual(intervalMs);
    watched.harness.stop();
  });

  it('asks at once with another key', async () => {
    const watched = new Watched(intervalMs, ['latest', 'finalized']);
    await watched.harness.clock.advance(5_000);
    const { scheduler, clock } = watched.harness;
    await scheduler.interrupt(() => true);
    scheduler.adopt([watched.source], new Map([[sourceId(watched.source), withAnotherKey(watched.entry)]]));
    await clock.advance(1_000);
    expect(watched.times('latest')).toEqual([0, 5_000]);
    expect(watched.entry.failuresInARow).toBe(2);
    watched.harness.stop();
  });
});

describe('scheduler/polls: a poll that sent no request', () => {
  const source = slashingsSource(slashingsOptions());
  const entry = { value: source.empty, durationMs: 10, lastSuccessAt: NOW - HOUR };
  const run = { start: NOW, durationMs: 0, requests: 0 };

  it('is neither a success nor a failure after a failure', () => {
    const failing: Entry = { ...entry, failuresInARow: 2, lastAttemptAt: NOW - MINUTE };
    expect(afterPoll(failing, { value: 7 }, run)).toEqual({ ...failing, value: 7, lastAttemptAt: NOW });
  });

  it('is a success after a success', () => {
    const working: Entry = { ...entry, failuresInARow: 0 };
    expect(afterPoll(working, { value: 7 }, run)).toMatchObject({ lastSuccessAt: NOW });
  });
});
