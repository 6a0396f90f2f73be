import { type Entry, emptyEntry } from '../../../src/scheduler/entry.ts';
import type { Source } from '../../../src/sources/source.ts';

/** A source with its entry. */
export function known(source: Source, polls: Partial<Entry> = {}): { source: Source; current: Entry } {
  return { source, current: { ...emptyEntry(source), ...polls } };
}
