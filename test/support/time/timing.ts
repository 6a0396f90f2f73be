import type { Timing } from '../../../src/sources/read.ts';
import type { Polls } from '../../../src/sources/source.ts';

/** 2026-09-30 12:01:00 UTC. */
export const NOW = 1_790_769_660_000;

export const SECOND = 1_000;
export const MINUTE = 60_000;
export const HOUR = 3_600_000;
export const DAY = 86_400_000;

/** The timing of reads that run each minute, without restrictions. `of`: the intervals of the others. */
export function timing({
  of = {},
  ...overrides
}: Partial<Omit<Timing, 'of'>> & { of?: Readonly<Record<string, number>> } = {}): Timing {
  return {
    now: NOW,
    held: overrides.now ?? NOW,
    intervalMs: MINUTE,
    isStretched: false,
    of: (read) => of[read],
    isFailing: () => false,
    ...overrides,
  };
}

/** A source that was polled successfully at this moment. */
export function polls(overrides: Partial<Polls> = {}): Polls {
  return { lastSuccessAt: NOW, intervalMs: MINUTE, ...overrides };
}

/** A signal that never aborts. */
export function noSignal(): AbortSignal {
  return new AbortController().signal;
}
