import type { SourceView } from '../scheduler/schedules.ts';
import { toneOf } from '../sources/conditions.ts';
import { badge, type Cell, lines, type Notice, notice, quiet, type Row, type Table, time } from '../sources/content.ts';
import { html } from '../toolkit/lib/html.ts';
import type { UnixMs } from '../toolkit/lib/time.ts';
import { count, cropped, spaced, span } from '../toolkit/lib/words.ts';

const MAX_ERROR = 120;

export function sourcesTable(views: readonly SourceView[], now: UnixMs): Table {
  const withTone = (tone: Notice['tone']): SourceView[] => views.filter((view) => stateOf(view, now).tone === tone);
  // If all are stopped, the headline says why.
  const troubled = withTone('warning');
  return {
    title: 'Sources',
    columns: ['Source', 'State', 'Last success', 'Next attempt', 'Pace', 'Last error'],
    rows: [...new Set([...troubled, ...views])].map((view) => rowOf(view, now)),
    size: views.length,
    shown: troubled.length,
    brief: `${withTone('good').length} of ${views.length} up`,
    empty: 'No source is enabled.',
  };
}

function rowOf(view: SourceView, now: UnixMs): Row {
  const { source, entry, nextAttemptAt, running } = view;
  const { chain } = source;
  const name = spaced(source.name);
  const { tone, text } = stateOf(view, now);
  return [
    chain ? html`${name} ${quiet(chain)}` : name,
    badge(tone, text),
    time(entry.lastSuccessAt, now),
    running ? 'in progress' : nextAttemptAt <= now ? 'now' : time(nextAttemptAt, now),
    paceText(view),
    lastError(view, now),
  ];
}

interface SourceState extends Notice {
  /** Whether the last attempt failed for a reason other than the budget. */
  readonly isFailing?: true;
}

/** Whether the source works, in a few words. */
export function stateOf({ entry, nextAttemptAt, running, wait }: SourceView, now: UnixMs): SourceState {
  if (!Number.isFinite(nextAttemptAt)) return notice('bad', 'stopped');
  if (wait) return notice('warning', 'waits for the quota');
  if (entry.failuresInARow > 0) {
    if (entry.lastError?.reason === 'BudgetClosed') return notice('warning', 'waits for the budget');
    const times = entry.failuresInARow === 1 ? 'failing' : `failing, ${entry.failuresInARow} in a row`;
    const text = (entry.pausedUntil ?? 0) > now ? 'paused' : times;
    return { ...notice(toneOf('BeaconchainSourceFailing'), text), isFailing: true };
  }
  if (entry.lastAttemptAt !== undefined) return notice('good', 'up');
  return notice('neutral', running ? 'first poll' : 'not polled yet');
}

export function nameOf({ source }: SourceView): string {
  const name = spaced(source.name);
  return source.chain ? `${name} of ${source.chain}` : name;
}

/** `every 1 min, 1,440 requests a day`; of a source that looks for a new day: `checked every 1 h, 1.0 requests a day`. */
function paceText(view: SourceView): string {
  const { source, pace, nextAttemptAt } = view;
  const { intervalMs, requestsPerDay } = pace;
  const isAsked = Number.isFinite(nextAttemptAt) && requestsPerDay > 0;
  const isChecked = source.isDaily && !source.isNeverOverdue;
  const how = `${isChecked ? 'checked ' : ''}every ${span(intervalMs)}`;
  return isAsked ? `${how}, ${perDay(requestsPerDay)} requests a day` : how;
}

function perDay(requests: number): string {
  return requests < 10 ? requests.toFixed(1) : count(requests);
}

/** Stays after a success, so that failures of the last night remain visible. */
function lastError({ entry }: SourceView, now: UnixMs): Cell {
  const { lastError: error } = entry;
  if (!error) return '';
  const tone = entry.failuresInARow > 0 ? toneOf('BeaconchainSourceFailing') : 'neutral';
  return lines(
    html`${badge(tone, spaced(error.reason))} ${time(error.at, now)}`,
    quiet(cropped(error.message, MAX_ERROR)),
  );
}
