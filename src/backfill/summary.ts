import type { WrittenWindow } from './plan.ts';

export interface Told {
  readonly written: readonly WrittenWindow[];
  /** Records that could not be read, or are of another time. */
  readonly bad: number;
  /** How sequences ended that the service did not end. */
  readonly endings: readonly string[];
  readonly isDaily: boolean;
  readonly fullResolution: boolean;
}

const MINUTE_SECONDS = 60;
/** A record late by half a minute still follows the one before it. */
const SPARSE_SECONDS = 1.5 * MINUTE_SECONDS;

/** What was written, and what is not in it. */
export function summary({ written, bad, endings, isDaily, fullResolution }: Told): string {
  const parts = written.flatMap((window) => window.parts);
  const sum = (value: (window: WrittenWindow) => number): number =>
    written.reduce((total, window) => total + value(window), 0);
  const records = sum((window) => window.records);
  if (records === 0) return 'There are no records in this time: nothing was written.\n';
  const samples = parts.reduce((total, part) => total + part.samples, 0);
  const bytes = parts.reduce((total, part) => total + part.bytes, 0);
  const files = parts.length === 1 ? '1 file' : `${parts.length} files`;
  const lines = [`${records} records, ${samples} samples in ${files}, ${(bytes / 1e6).toFixed(1)} MB.`];
  const duplicates = sum((window) => window.duplicates);
  if (duplicates > 0) lines.push(`${duplicates} records came more than once and are told once.`);
  if (bad > 0) lines.push(`${bad} records could not be read, or are of another time, and are left out.`);
  const missing = sum((window) => window.missingDays);
  if (missing > 0) lines.push(`${missing} days are missing at the service.`);
  if (endings.length > 0)
    lines.push(`Data may be missing: ${endings.map((ending) => ENDINGS[ending] ?? ending).join('; ')}.`);
  const spacings = written.flatMap(({ spacingSeconds }) => spacingSeconds ?? []);
  const furthest = Math.max(0, ...spacings);
  if (!isDaily && furthest > SPARSE_SECONDS) lines.push(sparseText(Math.min(...spacings), furthest, fullResolution));
  return `${lines.join('\n')}\n`;
}

const ENDINGS: Readonly<Record<string, string>> = {
  repeated_cursor: 'the service led back to pages that had been read',
  empty_pages: 'the service sent page after page without a record',
};

function sparseText(least: number, most: number, fullResolution: boolean): string {
  const [from, to] = [Math.round(least), Math.round(most)];
  const apart = from === to ? `${from} s` : `${from} to ${to} s`;
  return fullResolution
    ? `Records are ${apart} apart, also in the shortest spans: so often do these machines report.`
    : `Records are ${apart} apart: the service leaves some out of spans of a day. --full-resolution reads them all.`;
}
