import { MS_PER_MINUTE } from '../lib/duration.ts';
import type { UnixMs } from '../lib/time.ts';
import { plural, relative, span } from '../lib/words.ts';
import type { SourceView } from '../scheduler/schedules.ts';
import { firing, THRESHOLDS } from '../sources/conditions.ts';
import { type Notice, notice } from '../sources/content.ts';
import type { StatusInput } from './status-input.ts';
import { nearlyUsedNotices, waitNotices } from './status-limits.ts';
import { nameOf, stateOf } from './status-sources.ts';

/** Notices about the configuration, the state, the key, the sources and the budget. */
export function noticesOf(input: StatusInput, now: UnixMs): Notice[] {
  return [...configNotices(input), ...stateNotices(input, now), ...keyNotices(input, now)];
}

function configNotices({ isConfigRead }: StatusInput): Notice[] {
  return isConfigRead ? [] : [firing('ConfigReloadFailed', [])];
}

/** As long as the alert looks back. */
const UNWRITTEN_MS = 15 * MS_PER_MINUTE;

function stateNotices({ unwrittenAt = Number.NEGATIVE_INFINITY }: StatusInput, now: UnixMs): Notice[] {
  return now - unwrittenAt > UNWRITTEN_MS ? [] : [firing('StateWriteFailing', [], relative(unwrittenAt, now))];
}

/** If the key is not accepted, nothing else matters. */
function keyNotices(input: StatusInput, now: UnixMs): Notice[] {
  const { standing, since, validHeader } = input.ledger.key;
  switch (standing) {
    case 'revoked':
      return [firing('AccessRevoked', [], relative(since, now))];
    case 'refused': {
      const detail = `The service refused the key ${relative(since, now)}. Create or renew a key at beaconcha.in and set it. The exporter tries the key again every 10 minutes.`;
      return [firing('ApiKeyInvalid', [], detail)];
    }
    default: {
      const detail = 'The service reports that the key is not valid.';
      return [
        ...(validHeader === false ? [firing('ApiKeyInvalid', [], detail)] : []),
        ...startNotices(input),
        ...failureNotices(input.views, now),
        ...(validHeader === false ? [] : staleNotices(input, now)),
        ...waitNotices(input, now),
        ...nearlyUsedNotices(input),
        ...stretchNotices(input.views),
      ];
    }
  }
}

function startNotices({ views }: StatusInput): Notice[] {
  const waiting = views.filter(({ entry }) => entry.lastAttemptAt === undefined).length;
  if (waiting === 0) return [];
  return [notice('neutral', `${waiting} of ${plural(views.length, 'source')} not polled yet.`)];
}

function failureNotices(views: readonly SourceView[], now: UnixMs): Notice[] {
  const failing = views.filter((view) => stateOf(view, now).isFailing);
  if (failing.length === 0) return [];
  return [firing('SourceFailing', failing.map(nameOf), plural(views.length, 'source'))];
}

/** A replica that does not poll has no overdue sources. */
function staleNotices({ views, isLeader = true }: StatusInput, now: UnixMs): Notice[] {
  const stale = views.filter(
    ({ nextAttemptAt }) => nextAttemptAt > 0 && now - nextAttemptAt > THRESHOLDS.source_stale_seconds * 1000,
  );
  return stale.length > 0 && isLeader ? [firing('SourceStale', stale.map(nameOf))] : [];
}

function stretchNotices(views: readonly SourceView[]): Notice[] {
  const stretched = views.filter(({ source, pace, wait }) => !wait && pace.intervalMs > source.intervalMs);
  if (stretched.length === 0) return [];
  const changes = stretched.map(
    (view) => `${nameOf(view)} every ${span(view.pace.intervalMs)} instead of ${span(view.source.intervalMs)}`,
  );
  return [firing('BudgetStretched', changes)];
}
