import { failuresOf, lastOf, lastSuccessAt, requestsPerDay, type SourceView } from '../scheduler/schedules.ts';
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
    rows: [...new Set([...troubled, ...views])].map((view) => sourceRow(view, now)),
    size: views.length,
    shown: troubled.length,
    brief: `${withTone('good').length} of ${views.length} up`,
    empty: 'No source is enabled.',
  };
}

function sourceRow(view: SourceView, now: UnixMs): Row {
  const { source, first, running } = view;
  const { nextAttemptAt } = first;
  const { chain } = source;
  const name = spaced(source.name);
  const { tone, text } = stateOf(view, now);
  return [
    chain ? html`${name} ${quiet(chain)}` : name,
    badge(tone, text),
    time(lastSuccessAt(view), now),
    running ? 'in progress' : nextAttemptAt <= now ? 'now' : time(nextAttemptAt, now),
    paceText(view),
    lastErrorText(view, now),
  ];
}

interface SourceState extends Notice {
  /** Whether the last attempt failed for a reason other than the budget. */
  readonly isFailing?: true;
}

/** Whether the source works, in a few words. If reads fail, the first of them decides. */
export function stateOf(view: SourceView, now: UnixMs): SourceState {
  const { nextAttemptAt, wait, read } = view.first;
  if (view.leftOut.includes(read.name)) return notice('neutral', 'off: the limits are too low');
  if (!Number.isFinite(nextAttemptAt)) return notice('bad', 'stopped');
  if (wait) return notice('warning', 'waits for the quota');
  const [failure] = failuresOf(view);
  if (failure) {
    if (failure.lastError?.reason === 'BudgetClosed') return notice('warning', 'waits for the budget');
    const times = failure.failuresInARow === 1 ? 'failing' : `failing, ${failure.failuresInARow} in a row`;
    const text = (failure.pausedUntil ?? 0) > now ? 'paused' : times;
    return { ...notice(toneOf('BeaconchainSourceFailing'), text), isFailing: true };
  }
  if (lastOf(view).lastAttemptAt !== undefined) return notice('good', 'up');
  return notice('neutral', view.running ? 'first poll' : 'not polled yet');
}

export function nameOf({ source }: SourceView): string {
  const name = spaced(source.name);
  return source.chain ? `${name} of ${source.chain}` : name;
}

/** `every 1 min, 1,440 requests a day`. A source of daily data: `checked every 1 h, 1.0 requests a day`. */
function paceText(view: SourceView): string {
  const { source } = view;
  const { pace, read, nextAttemptAt, timing } = view.first;
  const perDay = requestsPerDay(view);
  const without = source.more?.leavesOut?.(timing);
  const how = `${read.period ? 'checked ' : ''}every ${span(pace.intervalMs)}${without ? ` (${without})` : ''}`;
  const amount = perDay < 10 ? perDay.toFixed(1) : count(perDay);
  return Number.isFinite(nextAttemptAt) && perDay > 0 ? `${how}, ${amount} requests a day` : how;
}

/** The newest error of any read. It stays after a success, so that failures of the last night remain visible. */
function lastErrorText(view: SourceView, now: UnixMs): Cell {
  const errors = Object.values(view.entry.reads).flatMap(({ lastError }) => lastError ?? []);
  const [error] = errors.sort((a, b) => b.at - a.at);
  if (!error) return '';
  const tone = failuresOf(view).length > 0 ? toneOf('BeaconchainSourceFailing') : 'neutral';
  return lines(
    html`${badge(tone, spaced(error.reason))} ${time(error.at, now)}`,
    quiet(cropped(error.message, MAX_ERROR)),
  );
}
