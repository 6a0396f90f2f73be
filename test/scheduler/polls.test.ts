import { describe, expect, it } from 'vitest';
import { type FailureReason, RequestFailed } from '../../src/api/errors.ts';
import { type Entry, emptyEntry } from '../../src/scheduler/entry.ts';
import { afterPoll, type Measured, nextPollAt } from '../../src/scheduler/polls.ts';
import { fakeSource } from '../support/runs/fake-source.ts';
import { DAY, HOUR, MINUTE, NOW, timing } from '../support/time/timing.ts';

const hourly = fakeSource({ intervalMs: HOUR });
const hourlyTiming = timing({ intervalMs: HOUR });

function failureOf(reason: FailureReason): RequestFailed {
  return new RequestFailed('machine_metrics', reason, 'made up');
}

function failedEntry(failuresInARow: number, reason: string): Entry {
  const lastError = { at: NOW, reason, message: 'made up' };
  return { ...emptyEntry(hourly), failuresInARow, lastAttemptAt: NOW, lastError };
}

function run(overrides: Partial<Measured> = {}): Measured {
  return { start: NOW, durationMs: 250, pace: { intervalMs: HOUR, coverage: 'full' }, requests: 1, ...overrides };
}

describe('scheduler/polls', () => {
  describe('nextPollAt', () => {
    it('is 1, 2, 4 ... minutes after a failure that may pass, and never later than the source is due', () => {
      const minutes = [1, 2, 3, 4, 5, 6, 7, 8, 50, 2_000].map(
        (failures) => (nextPollAt(hourly, failedEntry(failures, 'timeout'), hourlyTiming, 0) - NOW) / MINUTE,
      );
      expect(minutes).toEqual([1, 2, 4, 8, 16, 32, 60, 60, 60, 60]);
    });

    it.each([
      ['network', MINUTE],
      ['timeout', MINUTE],
      ['unauthorized', MINUTE],
      ['rate_limited', MINUTE],
      ['method_not_allowed', HOUR],
      ['unexpected_status', MINUTE],
      ['invalid_body', MINUTE],
      ['BudgetClosed', HOUR],
    ])('of an hourly source that failed with %s is %i ms later', (reason, wait) => {
      expect(nextPollAt(hourly, failedEntry(1, reason), hourlyTiming, 0)).toBe(NOW + wait);
    });

    it('is an interval later for a source that failed before its data is due', () => {
      const daily = fakeSource({ intervalMs: HOUR, due: () => NOW + DAY });
      expect(nextPollAt(daily, failedEntry(1, 'bad_request'), hourlyTiming, 0)).toBe(NOW + HOUR);
      expect(nextPollAt(daily, { ...failedEntry(0, 'bad_request') }, hourlyTiming, 0)).toBe(NOW + DAY);
    });

    it('is a minute later for a source whose data become due right after it failed', () => {
      const following = fakeSource({ intervalMs: HOUR, due: () => NOW + 1 });
      for (const failures of [1, 5])
        expect(nextPollAt(following, failedEntry(failures, 'network'), hourlyTiming, 0)).toBe(NOW + MINUTE);
      expect(nextPollAt(following, failedEntry(0, 'network'), hourlyTiming, 0)).toBe(NOW + 1);
      const often = timing({ intervalMs: MINUTE / 2 });
      expect(nextPollAt(following, failedEntry(1, 'network'), often, 0)).toBe(NOW + MINUTE / 2);
    });

    it('is at once when the last attempt lies in the future: the clock was set back', () => {
      const entry = { ...emptyEntry(hourly), lastAttemptAt: NOW + DAY };
      expect(nextPollAt(hourly, entry, hourlyTiming, 0)).toBe(NOW);
    });

    it('does not wait for the end of a pause that began before the clock was set back', () => {
      const entry = { ...failedEntry(1, 'forbidden'), lastAttemptAt: NOW + DAY, pausedUntil: NOW + DAY + HOUR };
      expect(nextPollAt(hourly, entry, hourlyTiming, 0)).toBe(NOW);
    });
  });

  describe('afterPoll', () => {
    const entry = failedEntry(3, 'network');

    it('counts a success, which ends the row of failures', () => {
      expect(afterPoll(entry, { value: 7 }, run({ start: NOW + MINUTE, requests: 4 }))).toEqual({
        value: 7,
        failuresInARow: 0,
        lastAttemptAt: NOW + MINUTE,
        lastSuccessAt: NOW + MINUTE + 250,
        durationMs: 250,
        intervalMs: HOUR,
        coverage: 'full',
        costs: [4],
        durations: [250],
        lastError: entry.lastError,
      });
    });

    it('keeps the pace of the poll that the value is from', () => {
      const first = run({ pace: undefined });
      const known = { ...entry, intervalMs: DAY, coverage: 'sampled' } as const;
      const failure = failureOf('server_error');
      expect(afterPoll(known, { value: 7, failure }, first)).toMatchObject({ intervalMs: DAY, coverage: 'sampled' });
      // While no limit is known, the last one that was known stays.
      expect(afterPoll(known, { value: 7 }, first)).toMatchObject({ intervalMs: DAY, coverage: 'sampled' });
      expect(afterPoll(known, { value: 7 }, run())).toMatchObject({
        intervalMs: HOUR,
        coverage: 'full',
      });
    });

    it('counts a failure and keeps what was learned before it', () => {
      const failure = failureOf('server_error');
      expect(afterPoll(entry, { value: 7, failure }, run({ start: NOW + MINUTE }))).toEqual({
        value: 7,
        failuresInARow: 4,
        lastAttemptAt: NOW + MINUTE,
        durationMs: 250,
        intervalMs: HOUR,
        coverage: 'full',
        lastError: {
          at: NOW + MINUTE + 250,
          reason: 'server_error',
          message: 'machine_metrics: server_error (made up)',
        },
      });
    });

    it('learns what a poll costs and takes from those that succeeded, the last five of them', () => {
      const learned = { costs: [1, 2, 3, 4, 5], durations: [10, 20, 30, 40, 50] };
      const known = { ...entry, ...learned };
      const last = run({ requests: 6, durationMs: 60 });
      const after = { costs: [2, 3, 4, 5, 6], durations: [20, 30, 40, 50, 60] };
      expect(afterPoll(known, { value: 7 }, last)).toMatchObject(after);
      expect(afterPoll(known, { value: 7, failure: failureOf('timeout') }, last)).toMatchObject(learned);
    });

    it('pauses a source for as long as something in front of the service asks, and not without it', () => {
      const waiting = (ms?: number) => new RequestFailed('machine_metrics', 'unexpected_status', 'made up', ms);
      expect(afterPoll(entry, { value: 7, failure: waiting(90_000) }, run()).pausedUntil).toBe(NOW + 250 + 90_000);
      expect(afterPoll(entry, { value: 7, failure: waiting() }, run())).not.toHaveProperty('pausedUntil');
    });

    it('pauses a forbidden source for an hour from the end of the poll, until the next poll says otherwise', () => {
      const paused = afterPoll(entry, { value: 7, failure: failureOf('forbidden') }, run());
      expect(paused.pausedUntil).toBe(NOW + 250 + HOUR);
      expect(afterPoll(paused, { value: 7 }, run({ start: NOW + 2 * HOUR }))).not.toHaveProperty('pausedUntil');
    });
  });
});
