import type { Attempts, Polls, Timing } from '../../../src/sources/source.ts';

/** 2026-09-30 12:01:00 UTC. */
export const NOW = 1_790_769_660_000;

export const SECOND = 1_000;
export const MINUTE = 60_000;
export const HOUR = 3_600_000;
export const DAY = 86_400_000;

/** A schedule without restrictions: every minute, full coverage. */
export function timing(overrides: Partial<Timing> = {}): Timing {
  return { now: NOW, intervalMs: MINUTE, coverage: 'full', ...overrides };
}

/** A source that was polled successfully at this moment. */
export function polls(overrides: Partial<Polls> = {}): Polls {
  return { lastSuccessAt: NOW, intervalMs: MINUTE, ...overrides };
}

/** A successful attempt at `lastAttemptAt` that took no time. */
export function attempts(lastAttemptAt: number, overrides: Partial<Attempts> = {}): Attempts {
  return { lastAttemptAt, failuresInARow: 0, durationMs: 0, ...overrides };
}

/** A signal that never aborts. */
export function noSignal(): AbortSignal {
  return new AbortController().signal;
}
