import { describe, expect, it } from 'vitest';
import { type FailureReason, RequestFailed } from '../../src/api/errors.ts';
import { afterRun, dueAt, type Measured } from '../../src/scheduler/attempts.ts';
import type { Attempt, Entry } from '../../src/scheduler/entry.ts';
import { fakeRead, fakeSource } from '../support/runs/fake-source.ts';
import { entryOf } from '../support/runs/known.ts';
import { DAY, HOUR, MINUTE, NOW, timing } from '../support/time/timing.ts';

const hourlyTiming = timing({ intervalMs: HOUR });

function failureOf(reason: FailureReason): RequestFailed {
  return new RequestFailed('machine_metrics', reason, 'made up');
}

function failedAttempt(failuresInARow: number, reason: string): Attempt {
  return { failuresInARow, durationMs: 0, lastAttemptAt: NOW, lastError: { at: NOW, reason, message: 'made up' } };
}

/** When an hourly read is due after this attempt, Unix ms. */
function dueIn(attempt: Partial<Attempt>, read: Parameters<typeof fakeRead>[0] = {}, at = hourlyTiming): number {
  const hourly = fakeRead({ everyMs: HOUR, ...read });
  return dueAt(hourly, entryOf(fakeSource(), attempt) as Entry<number>, at).at;
}

function measured(overrides: Partial<Measured> = {}): Measured {
  const { roundAt = NOW, durationMs = 250 } = overrides;
  const pace = { intervalMs: HOUR, isStretched: false, beside: [], requestsPerDay: 24 };
  return { roundAt, end: roundAt + durationMs, durationMs, stepMs: 0, pace, requests: 1, ...overrides };
}

describe('dueAt', () => {
  it('is 1, 2, 4 ... up to 15 minutes after a passing failure, and never later than the interval', () => {
    const minutes = (at: typeof hourlyTiming) =>
      [1, 2, 3, 4, 5, 6, 50, 2_000].map(
        (failures) => (dueIn(failedAttempt(failures, 'timeout'), {}, at) - NOW) / MINUTE,
      );
    expect(minutes(hourlyTiming)).toEqual([1, 2, 4, 8, 15, 15, 15, 15]);
    expect(minutes(timing({ intervalMs: 5 * MINUTE }))).toEqual([1, 2, 4, 5, 5, 5, 5, 5]);
  });

  it('of an hourly read is a minute after a passing failure, and an hour after another', () => {
    const passing = ['network', 'timeout', 'unauthorized', 'rate_limited', 'unexpected_status', 'invalid_body'];
    for (const reason of [...passing, 'BudgetClosed']) expect(dueIn(failedAttempt(1, reason))).toBe(NOW + MINUTE);
    expect(dueIn(failedAttempt(1, 'method_not_allowed'))).toBe(NOW + HOUR);
  });

  it('is an interval after a failure, even if the data are due later', () => {
    const daily = { due: () => NOW + DAY };
    expect(dueIn(failedAttempt(1, 'bad_request'), daily)).toBe(NOW + HOUR);
    expect(dueIn(failedAttempt(0, 'bad_request'), daily)).toBe(NOW + DAY);
  });

  it('of a rare read is an hour after a failure that may not pass, and an interval if it is stretched', () => {
    const rare = (isStretched: boolean) => timing({ intervalMs: 6 * HOUR, isStretched });
    expect(dueIn(failedAttempt(1, 'bad_request'), {}, rare(false))).toBe(NOW + HOUR);
    expect(dueIn(failedAttempt(1, 'bad_request'), {}, rare(true))).toBe(NOW + 6 * HOUR);
  });

  it('is a minute after a failure whose data are due at once', () => {
    const following = { due: () => NOW + 1 };
    for (const failures of [1, 5]) expect(dueIn(failedAttempt(failures, 'network'), following)).toBe(NOW + MINUTE);
    expect(dueIn(failedAttempt(0, 'network'), following)).toBe(NOW + 1);
    const often = timing({ intervalMs: MINUTE / 2 });
    expect(dueIn(failedAttempt(1, 'network'), following, often)).toBe(NOW + MINUTE / 2);
  });

  it('of a periodic read is the change of its data, then each interval, at most a period and an interval away', () => {
    const daily = (from: number | undefined) => ({ period: { ms: DAY, from: () => from } });
    const since = (lastAttemptAt: number) => ({ lastAttemptAt });
    expect(dueIn(since(NOW), daily(undefined))).toBe(NOW + HOUR);
    expect(dueIn(since(NOW), daily(NOW + 5 * HOUR))).toBe(NOW + 5 * HOUR);
    expect(dueIn(since(NOW), daily(NOW - HOUR))).toBe(NOW + HOUR);
    expect(dueIn(since(NOW), daily(NOW + 9 * DAY))).toBe(NOW + DAY + HOUR);
    const stretched = timing({ intervalMs: 2 * HOUR });
    expect(dueIn(since(NOW), daily(NOW + HOUR), stretched)).toBe(NOW + 2 * HOUR);
  });

  it('is now, without any pause, if the clock was set back behind the last attempt', () => {
    expect(dueIn({ lastAttemptAt: NOW + DAY })).toBe(NOW);
    const attempt = { ...failedAttempt(1, 'forbidden'), lastAttemptAt: NOW + DAY, pausedUntil: NOW + DAY + HOUR };
    expect(dueIn(attempt)).toBe(NOW);
  });
});

describe('afterRun', () => {
  const before = failedAttempt(3, 'network');

  it('records a success, which ends a row of failures', () => {
    expect(afterRun(before, measured({ roundAt: NOW + MINUTE, requests: 4 }))).toEqual({
      failuresInARow: 0,
      lastAttemptAt: NOW + MINUTE,
      lastSuccessAt: NOW + MINUTE + 250,
      durationMs: 250,
      intervalMs: HOUR,
      costs: [4],
      durations: [250],
      lastError: before.lastError,
    });
  });

  it('ends a row of failures at a refusal, which is no success and changes no cost', () => {
    const known = { ...before, lastSuccessAt: NOW - HOUR, costs: [4], durations: [20] };
    const after = afterRun(known, measured({ isRefused: true }));
    expect(after).toMatchObject({ failuresInARow: 0, lastSuccessAt: NOW - HOUR, costs: [4], durations: [20] });
    expect(after).not.toHaveProperty('failingSince');
  });

  it('keeps the pace of the run that gave the value', () => {
    const known = { ...before, intervalMs: DAY, isStretched: true } as const;
    for (const failure of [undefined, failureOf('server_error')])
      expect(afterRun(known, measured({ pace: undefined, failure }))).toMatchObject({
        intervalMs: DAY,
        isStretched: true,
      });
    expect(afterRun(known, measured())).toMatchObject({ intervalMs: HOUR });
    expect(afterRun(known, measured())).not.toHaveProperty('isStretched');
  });

  it('records a failure', () => {
    const failure = failureOf('server_error');
    const message = 'machine_metrics: server_error (made up)';
    expect(afterRun(before, measured({ roundAt: NOW + MINUTE, failure }))).toEqual({
      failuresInARow: 4,
      lastAttemptAt: NOW + MINUTE,
      durationMs: 250,
      intervalMs: HOUR,
      lastError: { at: NOW + MINUTE + 250, reason: 'server_error', message },
    });
  });

  it('learns cost and duration from the last five successful runs', () => {
    const learned = { costs: [1, 2, 3, 4, 5], durations: [10, 20, 30, 40, 50] };
    const known = { ...before, ...learned };
    const last = measured({ requests: 6, durationMs: 60 });
    const after = { costs: [2, 3, 4, 5, 6], durations: [20, 30, 40, 50, 60] };
    expect(afterRun(known, last)).toMatchObject(after);
    expect(afterRun(known, { ...last, failure: failureOf('timeout') })).toMatchObject(learned);
  });

  it('pauses a read for as long as a proxy in front of the service asks', () => {
    const waiting = (ms?: number) =>
      measured({ failure: new RequestFailed('machine_metrics', 'unexpected_status', 'made up', ms) });
    expect(afterRun(before, waiting(90_000)).pausedUntil).toBe(NOW + 250 + 90_000);
    expect(afterRun(before, waiting())).not.toHaveProperty('pausedUntil');
  });

  it('pauses a forbidden read for an hour or until its next run, but not an optional part', () => {
    const paused = afterRun(before, measured({ failure: failureOf('forbidden') }));
    expect(paused.pausedUntil).toBe(NOW + 250 + HOUR);
    expect(afterRun(paused, measured({ roundAt: NOW + 2 * HOUR }))).not.toHaveProperty('pausedUntil');
    const failure = new RequestFailed('machine_names', 'forbidden', 'made up');
    expect(afterRun(before, measured({ failure }))).not.toHaveProperty('pausedUntil');
  });
});
