import { parseExposition, type ReadSample } from './exposition-parser.ts';
import { onlyValue } from './samples.ts';

/** All series of an exposition, in either format. */
export function seriesOf(text: string): ReadSample[] {
  return parseExposition(text.replace(/# EOF\n$/, '')).flatMap(({ samples }) => samples);
}

/** The value of the only series with these labels. It may have others as well. undefined: there is none. */
export function seriesValue(text: string, name: string, labels?: Readonly<Record<string, string>>): number | undefined {
  const named = seriesOf(text).filter((series) => series.name === name);
  return onlyValue(named, name, labels);
}

/** Counters that a restart does not reset: not those of a machine, and not what a process counts of itself. */
export function isKeptCounter(name: string): boolean {
  return /^beaconchain_(?!machine_|api_|source_|budget_|exporter_)\w+(_total|_bucket|_sum|_count)$/.test(name);
}

/** The counters that are lower or absent in `after`. Those of machines may be reset. */
export function steppedBack(before: string, after: string): string[] {
  const now = new Map(seriesOf(after).map(({ name, labels, value }) => [name + JSON.stringify(labels), value]));
  return seriesOf(before)
    .filter(({ name }) => /^(?!beaconchain_machine_)\w+_(total|bucket|sum|count)$/.test(name))
    .map(({ name, labels, value }) => ({ series: name + JSON.stringify(labels), value }))
    .filter(({ series, value }) => !((now.get(series) ?? Number.NaN) >= value))
    .map(({ series, value }) => `${series} was ${value}, is ${now.get(series)}`);
}
