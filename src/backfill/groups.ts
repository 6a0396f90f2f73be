import type { Clock } from '../lib/clock.ts';
import type { History } from '../sources/history.ts';
import type { OutputSpan } from './output-spans.ts';
import type { Store } from './store.ts';

export interface Group {
  readonly history: History;
  /** In ascending time, without duplicates. */
  readonly records: readonly unknown[];
  readonly duplicates: number;
}

export interface GroupsOptions {
  readonly store: Store;
  readonly clock: Clock;
  /** By the id of the source. */
  readonly histories: ReadonlyMap<string, History>;
}

/** The groups of a span, in an order that does not depend on the one in which records came. */
export async function* groupsIn(
  { store, clock, histories }: GroupsOptions,
  span: OutputSpan,
  signal: AbortSignal,
): AsyncGenerator<Group> {
  for (const [source, history] of histories) {
    for (const records of wholeGroups(store.sorted(source, span))) {
      // The store responds synchronously: without a pause, signals would not be handled.
      await clock.sleep(1, signal);
      yield { history, ...withoutDuplicates(history, records) };
    }
  }
}

function* wholeGroups(sorted: Iterable<{ group: string; record: unknown }>): Generator<unknown[]> {
  let current: string | undefined;
  let records: unknown[] = [];
  for (const { group, record } of sorted) {
    if (group !== current && records.length > 0) {
      yield records;
      records = [];
    }
    current = group;
    records.push(record);
  }
  if (records.length > 0) yield records;
}

/** The first of several duplicates counts, as when the data are polled. */
function withoutDuplicates(history: History, records: readonly unknown[]): { records: unknown[]; duplicates: number } {
  const last = new Map<string, number>();
  const unique = records.filter((record) => {
    const stream = history.stream(record);
    const at = history.at(record);
    const isNew = last.get(stream) !== at;
    last.set(stream, at);
    return isNew;
  });
  return { records: unique, duplicates: records.length - unique.length };
}
