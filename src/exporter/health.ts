import type { Scheduler } from '../scheduler/scheduler.ts';
import { MS_PER_MINUTE } from '../toolkit/lib/duration.ts';
import type { Milliseconds } from '../toolkit/lib/time.ts';
import type { Snapshot } from './metrics.ts';

/** The scheduler's loop runs at least every 15 s. After a minute without it, nothing will be polled again. */
const DEAD_AFTER_MS = MS_PER_MINUTE;
const OVERDUE_MS = 5 * MS_PER_MINUTE;

/** Why a restart would help; undefined: it would not. `overdue` excludes waits that the service demanded. */
export function whyUnhealthy(sinceHeartbeatMs: Milliseconds, overdue: Scheduler['overdue']): string | undefined {
  if (sinceHeartbeatMs > DEAD_AFTER_MS) return 'the scheduler has stopped';
  return overdue && overdue.ms > OVERDUE_MS ? `${overdue.source.name} is overdue` : undefined;
}

/** Whether each source was attempted, was restored, or may not be attempted yet. */
export function isReady({ views, now }: Pick<Snapshot, 'views' | 'now'>): boolean {
  return views.every(
    ({ entry, nextAttemptAt, running }) => entry.lastAttemptAt !== undefined || (!running && nextAttemptAt > now),
  );
}
