import { type Entry, msPerPoll, requestsPerPoll, sourceId } from '../snapshot/snapshot.ts';
import type { Pace, Source, Timing } from '../sources/source.ts';
import { type Allowance, type Asking, pacesOf } from './paces.ts';
import { isInVain, nextAttemptAt } from './plan.ts';

/** What the rest of the program sees of one source. */
export interface SourceView {
  readonly source: Source;
  readonly entry: Entry;
  /** As the budget allows it now. */
  readonly pace: Pace;
  /** What the families are to be read with. */
  readonly timing: Timing;
  /** Unix ms at which the next attempt is due and permitted; Infinity: not without the operator. */
  readonly nextAttemptAt: number;
  /** Whether a poll, or the saving of what it brought, is in progress. */
  readonly running: boolean;
}

/** What is known of one source. */
export interface Known {
  readonly source: Source;
  /** What was persisted last. */
  readonly shown: Entry;
  /** What is known; ahead of `shown` while it cannot be persisted. */
  readonly known: Entry;
  readonly running: boolean;
}

/** What the budget says of a source. */
export interface Permits {
  readonly allowance: Allowance;
  /** Unix ms from which the requests of a source may leave. */
  readonly opensAt: (source: Source) => number;
}

export function pacesOfKnown(sources: readonly Known[], allowance: Allowance): ReadonlyMap<Source, Pace> {
  const asking = sources.map(({ source, known }) => askingOf(source, known));
  return pacesOf(asking, allowance);
}

/** What the polls of a source were seen to cost, to take and to cover. */
export function askingOf(source: Source, entry: Entry): Asking {
  return {
    source,
    requestsPerPoll: requestsPerPoll(entry),
    msPerPoll: msPerPoll(entry),
    isInVain: isInVain(entry),
    coverage: entry.coverage,
  };
}

/** What is shown of each source, in their order. */
export function viewsOf(sources: readonly Known[], { allowance, opensAt }: Permits, now: number): SourceView[] {
  const paces = pacesOfKnown(sources, allowance);
  return sources.map(({ source, shown, known, running }) => {
    const pace = paceOf(paces, source);
    const { coverage } = pace;
    // What was polled for a longer interval does not get stale because the next one will be shorter.
    const intervalMs = Math.max(pace.intervalMs, shown.intervalMs ?? 0);
    return {
      source,
      entry: shown,
      pace,
      timing: { now, intervalMs, coverage },
      nextAttemptAt: nextAttemptAt(source, known, { now, intervalMs: pace.intervalMs, coverage }, opensAt(source)),
      running,
    };
  });
}

export function paceOf(paces: ReadonlyMap<Source, Pace>, source: Source): Pace {
  const pace = paces.get(source);
  if (!pace) throw new TypeError(`no pace for ${sourceId(source)}`);
  return pace;
}
