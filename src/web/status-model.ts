import type { UnixMs } from '../lib/time.ts';
import type { SourceView } from '../scheduler/schedules.ts';
import type { Notice, Summary, Tone } from '../sources/content.ts';
import type { StatusInput } from './status-input.ts';
import { noticesOf } from './status-notices.ts';
import { verdictOf } from './status-verdict.ts';

/** The summary of one source. */
export interface Summed {
  readonly view: SourceView;
  readonly summary: Summary;
}

/** The content of the status page. */
export interface StatusModel {
  readonly input: StatusInput;
  readonly now: UnixMs;
  readonly summaries: readonly Summed[];
  /** The answer to "is it working?". */
  readonly verdict: Notice;
  /** The reasons, the worst first. */
  readonly notices: readonly Notice[];
}

/** Pure. */
export function modelOf(input: StatusInput, now: UnixMs): StatusModel {
  const summaries = input.views.map((view) => ({ view, summary: summaryOf(view) }));
  const notices = [...noticesOf(input, now), ...summaries.flatMap(({ summary }) => summary.notices ?? [])];
  return {
    input,
    now,
    summaries,
    verdict: verdictOf(input, notices, { now, summaries }),
    notices: worstFirst(notices),
  };
}

function summaryOf({ source, entry, timing, pace }: SourceView): Summary {
  return source.summary(entry.value, timing, { lastSuccessAt: entry.lastSuccessAt, intervalMs: pace.intervalMs });
}

const ORDER: readonly Tone[] = ['bad', 'warning', 'neutral', 'good'];

function worstFirst(notices: readonly Notice[]): Notice[] {
  return notices.toSorted((a, b) => ORDER.indexOf(a.tone) - ORDER.indexOf(b.tone));
}
