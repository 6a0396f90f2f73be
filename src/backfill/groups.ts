import { SECONDS_PER_DAY } from '../lib/duration.ts';
import type { History } from '../sources/history.ts';

/** Sorts records into groups, each in ascending time. Of duplicates the first counts, as it does when it is polled. */
export function groupsOf(history: History, records: readonly unknown[]): { records: unknown[]; duplicates: number }[] {
  const groups = new Map<string, unknown[]>();
  for (const record of records) {
    const group = history.group(record);
    const known = groups.get(group);
    if (known) known.push(record);
    else groups.set(group, [record]);
  }
  // By name: the output does not depend on the order in which records came.
  const names = [...groups.keys()].sort();
  return names.map((name) => {
    const group = groups.get(name) ?? [];
    group.sort((a, b) => history.at(a) - history.at(b));
    const last = new Map<string, number>();
    const unique = group.filter((record) => {
      const stream = history.stream(record);
      const at = history.at(record);
      const isNew = last.get(stream) !== at;
      last.set(stream, at);
      return isNew;
    });
    return { records: unique, duplicates: group.length - unique.length };
  });
}

/** Days without a record between the first and the last, for a source with one record a day. */
export function missingDays(history: History, records: readonly unknown[]): number {
  if (!history.isDaily) return 0;
  const [first, last] = [records[0], records.at(-1)];
  if (first === undefined || last === undefined) return 0;
  return Math.round((history.at(last) - history.at(first)) / SECONDS_PER_DAY) + 1 - records.length;
}
