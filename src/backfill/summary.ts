import type { WrittenSpan } from './plan.ts';
import { isSparse } from './spacing.ts';

export interface BackfillResult {
  readonly written: readonly WrittenSpan[];
  /** Records that could not be read, or are of another time. */
  readonly bad: number;
  /** Why sequences of pages ended early. */
  readonly endings: readonly string[];
  readonly isDaily: boolean;
  readonly fullResolution: boolean;
}

/** What was written, and what is missing in it. */
export function summary({ written, bad, endings, isDaily, fullResolution }: BackfillResult): string {
  const records = sumOf(written, (span) => span.records);
  if (records === 0) return 'There are no records in this time range. Nothing was written.\n';
  const parts = written.flatMap((span) => span.parts);
  if (parts.length === 0) return 'Scrapes already cover this time range. Nothing was written.\n';
  const samples = sumOf(parts, (part) => part.samples);
  const bytes = sumOf(parts, (part) => part.bytes);
  const files = parts.length === 1 ? '1 file' : `${parts.length} files`;
  const lines = [`${records} records, ${samples} samples in ${files}, ${(bytes / 1e6).toFixed(1)} MB.`];
  const duplicates = sumOf(written, (span) => span.duplicates);
  if (duplicates > 0) lines.push(`${duplicates} duplicate records were dropped.`);
  if (bad > 0) lines.push(`${bad} records were dropped: they could not be read, or are outside the time range.`);
  const missing = sumOf(written, (span) => span.missingDays);
  if (missing > 0) lines.push(`The service has no data for ${missing} days.`);
  if (endings.length > 0) {
    lines.push(`Data may be missing: ${endings.map((ending) => ENDINGS[ending] ?? ending).join('; ')}.`);
  }
  const spacings = written.flatMap(({ spacingSeconds }) => spacingSeconds ?? []);
  const max = Math.max(0, ...spacings);
  if (!isDaily && isSparse(max)) lines.push(sparseText(Math.min(...spacings), max, fullResolution));
  return `${lines.join('\n')}\n`;
}

function sumOf<T>(items: readonly T[], amount: (item: T) => number): number {
  return items.reduce((sum, item) => sum + amount(item), 0);
}

const ENDINGS: Readonly<Record<string, string>> = {
  repeated_cursor: 'the service repeated pages that were already read',
  empty_pages: 'the service sent several pages in a row without records',
};

function sparseText(min: number, max: number, fullResolution: boolean): string {
  const [from, to] = [Math.round(min), Math.round(max)];
  const apart = from === to ? `${from} s` : `${from} to ${to} s`;
  return fullResolution
    ? `Records are ${apart} apart, even in the shortest spans: this is how often these machines report.`
    : `Records are ${apart} apart: the service leaves out some records in spans of a day. Use --full-resolution to read all of them.`;
}
