import { MS_PER_MINUTE } from '../lib/duration.ts';
import type { UnixMs } from '../lib/time.ts';
import { plural } from '../lib/words.ts';
import type { SourceView } from '../scheduler/schedules.ts';
import { type Notice, notice, type Summary } from '../sources/content.ts';
import type { StatusInput } from './status-input.ts';
import { stateOf } from './status-sources.ts';

/** What the page shows, and when. */
export interface Shown {
  readonly now: UnixMs;
  readonly summaries: readonly { readonly view: SourceView; readonly summary: Summary }[];
}

/** The page's headline: the key first, because without it nothing else matters. */
export function verdictOf({ views, ledger }: StatusInput, notices: readonly Notice[], shown: Shown): Notice {
  const { now, summaries } = shown;
  if (ledger.key.standing === 'revoked') return notice('bad', 'Stopped: access is revoked');
  if (ledger.key.standing === 'refused') return notice('bad', 'Not working: the key is refused');
  const waiting = views.filter(({ wait }) => wait).length;
  if (waiting > 0 && waiting === views.length) return notice('bad', 'Not working: all sources wait for the quota');
  if (views.length > 0 && views.every(({ entry }) => entry.lastAttemptAt === undefined))
    return notice('neutral', 'Starting');
  const broken = views.filter(({ entry }) => entry.failuresInARow > 0).length;
  if (broken > 0 && (broken === views.length || isOutage(views, now))) return notice('bad', 'Not working');
  if (notices.some(({ tone }) => tone === 'bad')) return notice('bad', 'Needs attention');
  // The notices about values end when these are withdrawn. The headline must not get better by that.
  const lacksValues = summaries.some(({ view, summary }) => summary.isOutdated && stateOf(view, now).isFailing);
  if (lacksValues) return notice('bad', 'Needs attention');
  if (waiting > 0) return notice('warning', `Waiting for the quota: ${waiting} of ${plural(views.length, 'source')}`);
  if (notices.some(({ tone }) => tone === 'warning')) return notice('warning', 'Working, with warnings');
  return notice('good', 'Working');
}

/** A shorter series of failures may pass. */
const OUTAGE_MS = 5 * MS_PER_MINUTE;

/**
 * Whether a source has failed for some minutes, and no source has succeeded since its first failure. A source that was
 * not polled since then, such as a daily one, is up, but that says nothing about the service.
 */
function isOutage(views: readonly SourceView[], now: UnixMs): boolean {
  const lastSuccessAt = Math.max(...views.map(({ entry }) => entry.lastSuccessAt ?? 0));
  return views.some((view) => {
    const { failingSince = 0, failuresInARow, pausedUntil = 0 } = view.entry;
    // One failure is not enough: the next poll of a stretched source can be hours away. A 403 concerns only its source.
    const isPersistent = stateOf(view, now).isFailing && failuresInARow > 1 && pausedUntil <= now;
    return isPersistent && failingSince > lastSuccessAt && now - failingSince >= OUTAGE_MS;
  });
}
