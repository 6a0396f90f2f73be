import type { SourceView } from './scheduler/views.ts';

/** The scheduler's loop turns at least every 15 s; after a minute without it nothing will be polled any more. */
const DEAD_AFTER_MS = 60_000;
const OVERDUE_MS = 300_000;

/** What a restart would mend; undefined: nothing. A wait that the service asked for is part of `nextAttemptAt`. */
export function problemOf(views: readonly SourceView[], sinceHeartbeatMs: number, now: number): string | undefined {
  if (sinceHeartbeatMs > DEAD_AFTER_MS) return 'the scheduler has stopped';
  const overdue = views.find((view) => !view.running && now - view.nextAttemptAt > OVERDUE_MS);
  return overdue && `${overdue.source.name} is overdue`;
}

/** Whether each source was attempted, was restored, or may not be attempted yet. */
export function isReady(views: readonly SourceView[], now: number): boolean {
  return views.every(({ entry, nextAttemptAt, running }) => entry.attempts > 0 || (!running && nextAttemptAt > now));
}
