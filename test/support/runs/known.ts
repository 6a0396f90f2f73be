import { type Attempt, type Entry, emptyEntry } from '../../../src/scheduler/entry.ts';
import type { Source } from '../../../src/sources/source.ts';

/** The entry of a source each of whose reads has these results. */
export function entryOf(source: Source, attempt: Partial<Attempt> = {}, rest: Partial<Entry> = {}): Entry {
  const reads = source.reads.map(({ name }) => [name, { failuresInARow: 0, durationMs: 0, ...attempt }]);
  return { ...emptyEntry(source), reads: Object.fromEntries(reads), ...rest };
}

/** A source with such an entry. */
export function known(source: Source, attempt: Partial<Attempt> = {}, rest: Partial<Entry> = {}) {
  return { source, current: entryOf(source, attempt, rest) };
}
