import type { Seconds } from '../toolkit/lib/time.ts';
import type { Written } from './plan.ts';

export interface BackfillResult {
  readonly source: 'daily_returns' | 'machines';
  readonly written: readonly Written[];
  /** Records that could not be read, or are of another time. */
  readonly bad: number;
  /** Why sequences of pages ended early. */
  readonly endings: readonly string[];
  readonly fullResolution: boolean;
  /** Whether the labels include `job` and `instance`, so that the series continue those that Prometheus scrapes. */
  readonly hasTargetLabels: boolean;
}

/** The written files, and the data that are missing in them. */
export function summary({ source, written, bad, endings, fullResolution }: BackfillResult): string {
  const records = sumOf(written, (one) => one.records);
  if (records === 0) return 'There are no records in this time range. Nothing was written.\n';
  const files = written.filter(({ file }) => file !== undefined).length;
  const samples = sumOf(written, (one) => one.samples);
  const bytes = sumOf(written, (one) => one.bytes);
  const total = `${records} records, ${samples} samples in ${files === 1 ? '1 file' : `${files} files`}`;
  const lines = [`${total}, ${(bytes / 1e6).toFixed(1)} MB.`];
  if (bad > 0) lines.push(`${bad} records were dropped: they could not be read, or are outside the time range.`);
  if (endings.length > 0) {
    lines.push(`Data may be missing: ${endings.map((ending) => ENDINGS[ending] ?? ending).join('; ')}.`);
  }
  const gap = Math.min(...written.map(({ gapSeconds }) => gapSeconds ?? Number.POSITIVE_INFINITY));
  if (source === 'machines' && Number.isFinite(gap) && gap > MAX_GAP_SECONDS) lines.push(thinned(gap, fullResolution));
  return `${lines.join('\n')}\n`;
}

function sumOf<T>(items: readonly T[], amount: (item: T) => number): number {
  return items.reduce((sum, item) => sum + amount(item), 0);
}

const ENDINGS: Readonly<Record<string, string>> = {
  repeated_cursor: 'the service repeated pages that were already read',
  empty_pages: 'the service sent several pages in a row without records',
};

/** Clients push once a minute (api-facts 1.1). A push that is half a minute late is no gap. */
const MAX_GAP_SECONDS: Seconds = 90;

function thinned(gap: Seconds, fullResolution: boolean): string {
  const apart = `Records are ${Math.round(gap)} s apart, although clients push every 60 s`;
  return fullResolution
    ? `${apart}: these machines push less often, or the service leaves out records of 12 hours too.`
    : `${apart}: the service leaves out records of long ranges. Use --full-resolution to read all of them.`;
}

/**
 * For promtool, which makes blocks of two hours by default and reads the whole file for each. Prometheus merges every
 * block with all blocks that it overlaps, regardless of the job, so longer blocks would result in one huge block of all
 * data (docs/backfill.md).
 */
const BLOCK_DURATION = { daily_returns: '744h', machines: '24h' } as const;

/** The next steps for the user; '' if nothing was written. */
export function nextSteps({ source, written, hasTargetLabels }: BackfillResult): string {
  const create = `promtool tsdb create-blocks-from openmetrics --max-block-duration=${BLOCK_DURATION[source]}`;
  const files = written.flatMap(({ file }) => file ?? []);
  if (files.length === 0) return '';
  return [
    'Next, create blocks in the data directory of Prometheus (--storage.tsdb.path), as the user that runs Prometheus:',
    '',
    ...files.map((file) => `  ${create} ${quote(file)} /var/lib/prometheus`),
    '',
    'Prometheus loads them within a minute. If it runs in a container, promtool is in its image, and docs/backfill.md has',
    'the commands for Compose and Kubernetes.',
    'Prometheus deletes blocks older than --storage.tsdb.retention.time (default 15 days): raise it first.',
    ...(hasTargetLabels
      ? []
      : ['Without --label job=... --label instance=..., these series do not join the series that Prometheus scrapes.']),
    '',
  ].join('\n');
}

/** For a POSIX shell. */
function quote(text: string): string {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}
