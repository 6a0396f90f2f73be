import { html } from '../lib/html.ts';
import type { UnixMs } from '../lib/time.ts';
import { count, cropped, spaced, span } from '../lib/words.ts';
import type { SourceView } from '../scheduler/views.ts';
import { toneOf } from '../sources/conditions.ts';
import { badge, type Cell, lines, type Notice, notice, quiet, type Row, type Table, time } from '../sources/content.ts';

const MAX_ERROR = 120;

/** The attempts of each source. */
export function sourcesTable(views: readonly SourceView[], now: UnixMs): Table {
  return {
    title: 'Sources',
    columns: ['Source', 'State', 'Last success', 'Next attempt', 'Interval', 'Last error'],
    rows: views.map((view) => rowOf(view, now)),
    size: views.length,
    empty: 'None is enabled.',
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
    running ? 'under way' : nextAttemptAt <= now ? 'now' : time(nextAttemptAt, now),
    interval(view),
    lastError(view, now),
  ];
}

interface SourceState extends Notice {
  /** Whether the last attempt failed, and not for want of a budget. */
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
    return { ...notice(toneOf('SourceFailing'), text), isFailing: true };
  }
  if (entry.attempts > 0) return notice('good', 'up');
  return notice('neutral', running ? 'first poll' : 'not polled yet');
}

/** The source, and its chain if it has one. */
export function nameOf({ source }: SourceView): string {
  const name = spaced(source.name);
  return source.chain ? `${name} of ${source.chain}` : name;
}

function interval({ source, pace, nextAttemptAt }: SourceView): Cell {
  const { intervalMs, requestsPerDay } = pace;
  const configured = intervalMs > source.intervalMs ? [quiet(`configured ${span(source.intervalMs)}`)] : [];
  const cost = Number.isFinite(nextAttemptAt) ? [quiet(`${perDay(requestsPerDay)} requests a day`)] : [];
  return lines(span(intervalMs), ...configured, ...cost);
}

function perDay(requests: number): string {
  return requests < 10 ? requests.toFixed(1) : count(requests);
}

/** Stays after a success, because what happened last night is worth knowing. */
function lastError({ entry }: SourceView, now: UnixMs): Cell {
  const { lastError: error } = entry;
  if (!error) return '';
  const tone = entry.failuresInARow > 0 ? toneOf('SourceFailing') : 'neutral';
  return lines(
    html`${badge(tone, spaced(error.reason))} ${time(error.at, now)}`,
    quiet(cropped(error.message, MAX_ERROR)),
  );
}
