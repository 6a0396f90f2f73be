import { parseExposition, type ReadSample } from './exposition-parser.ts';

/** The series of an exposition in either format. */
export function seriesOf(text: string): ReadSample[] {
  return parseExposition(text.replace(/# EOF\n$/, '')).flatMap(({ samples }) => samples);
}

/** The value of the one series with these labels (and others); undefined: none. */
export function seriesValue(
  text: string,
  name: string,
  labels: Readonly<Record<string, string>> = {},
): number | undefined {
  const matching = seriesOf(text).filter(
    (series) =>
      series.name === name && Object.entries(labels).every(([label, value]) => series.labels[label] === value),
  );
  if (matching.length > 1) throw new Error(`${matching.length} series of ${name} match`);
  return matching[0]?.value;
}
