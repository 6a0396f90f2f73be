import type { Config } from '../config/config.ts';
import type { Chain } from '../lib/chain.ts';
import { parseDuration, SECONDS_PER_DAY } from '../lib/duration.ts';
import type { UnixMs, UnixSeconds } from '../lib/time.ts';
import { type PastRange, WINDOWS } from '../sources/history.ts';
import { RECORDS_KEPT_SECONDS } from '../sources/machines/lookback.ts';
import type { Flags } from './flag-table.ts';
import { UsageError } from './flags.ts';

/** What is read of the past, and how it is written. Times are Unix seconds. */
export interface BackfillOptions {
  readonly source: 'daily_returns' | 'machines';
  readonly chains: readonly Chain[];
  readonly range: PastRange;
  readonly labels: Readonly<Record<string, string>>;
  readonly step: number | undefined;
  readonly maxSamples: number;
  readonly fullResolution: boolean;
  /** Whether `range` ends where the user said, not at `now`. */
  readonly isEndGiven: boolean;
}

/** The flags that decide what is read and written. A run is resumed only with the same ones. */
export const DECIDING = [
  'source',
  'chain',
  'window',
  'start',
  'end',
  'label',
  'step',
  'full-resolution',
  'max-samples',
] as const satisfies readonly (keyof Flags)[];

const SOURCES = { 'daily-returns': 'daily_returns', machines: 'machines' } as const;
const DEFAULT_MAX_SAMPLES = 5_000_000;
/** This much time may pass between working out --start and running the program. */
const SLACK_SECONDS = 3_600;

/** Labels of the families themselves. --label cannot set them. */
export const OWN_LABELS: ReadonlySet<string> = new Set([
  'chain',
  'machine',
  'process',
  'os',
  'exporter_version',
  'client_name',
  'client_version',
  'client_build',
  'layer',
  'window',
]);

/** Reads the flags of backfill. @throws UsageError */
export function backfillOptions(flags: Flags, config: Config, now: UnixMs): BackfillOptions {
  const source = sourceOf(flags.source);
  const isDaily = source === 'daily_returns';
  if (isDaily && flags['full-resolution']) refuse('--full-resolution requires --source=machines');
  if (!isDaily && flags.step !== undefined) refuse('--step requires --source=daily-returns');
  if (!isDaily && flags.window !== undefined) {
    refuse('--window requires --source=daily-returns; for machines, use --start and --end');
  }
  const seconds = Math.floor(now / 1000);
  return {
    source,
    chains: chainsOf(flags.chain, config),
    range: isDaily ? daysOf(flags, seconds) : spanOf(flags, seconds),
    labels: labelsOf(flags.label ?? []),
    step: stepOf(flags.step),
    maxSamples: countOf(flags['max-samples']),
    fullResolution: flags['full-resolution'] ?? false,
    isEndGiven: flags.end !== undefined,
  };
}

/** Where to write. @throws UsageError */
export function outputOf({ output }: Flags): string {
  if (output === undefined) refuse('--output=FILE is required');
  if (output.endsWith('/')) refuse(`--output: expected a file, got the directory ${output}`);
  return output;
}

function refuse(message: string): never {
  throw new UsageError(message);
}

function sourceOf(text: string | undefined): BackfillOptions['source'] {
  if (text === undefined) refuse('--source is required: daily-returns or machines');
  const source = Object.entries(SOURCES).find(([name]) => name === text)?.[1];
  return source ?? refuse(`--source: expected daily-returns or machines, got ${JSON.stringify(text)}`);
}

function chainsOf(text: string | undefined, config: Config): Chain[] {
  const configured = config.chains.map(({ name }) => name);
  if (text === undefined) return configured;
  const chain = configured.find((name) => name === text);
  return chain
    ? [chain]
    : refuse(`--chain: expected a configured chain (${configured.join(', ')}), got ${JSON.stringify(text)}`);
}

function labelsOf(texts: readonly string[]): Record<string, string> {
  const labels: Record<string, string> = {};
  for (const text of texts) {
    const [, name, value] = /^([^=]*)=(.*)$/su.exec(text) ?? [];
    if (name === undefined || value === undefined) refuse(`--label: expected NAME=VALUE, got ${JSON.stringify(text)}`);
    if (!/^[a-zA-Z_][a-zA-Z0-9_]*$/.test(name) || name.startsWith('__')) {
      refuse(
        `--label: ${JSON.stringify(name)} is not a valid label name: use letters, digits and _, and do not start with __ or a digit`,
      );
    }
    if (OWN_LABELS.has(name)) refuse(`--label: the series already have a label ${name}`);
    if (name in labels) refuse(`--label: ${name} is given twice`);
    // For Prometheus an empty label does not exist.
    if (value === '') refuse(`--label: ${name} is empty`);
    labels[name] = value;
  }
  return labels;
}

function stepOf(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const ms = parseDuration(text);
  const isStep = ms !== undefined && ms >= 1_000 && ms % 1_000 === 0 && ms <= 1_000 * SECONDS_PER_DAY;
  return isStep
    ? ms / 1_000
    : refuse(`--step: expected whole seconds up to a day, such as 5m, got ${JSON.stringify(text)}`);
}

function countOf(text: string | undefined): number {
  if (text === undefined) return DEFAULT_MAX_SAMPLES;
  return /^[1-9]\d{0,14}$/.test(text)
    ? Number(text)
    : refuse(`--max-samples: expected a whole number of at least 1, got ${JSON.stringify(text)}`);
}

function daysOf(flags: Flags, now: UnixSeconds): PastRange {
  const { window, start, end } = flags;
  if (start === undefined && end === undefined) {
    const known = WINDOWS.find((name) => name === (window ?? 'all_time'));
    if (!known) refuse(`--window: expected ${WINDOWS.join(', ')}, got ${JSON.stringify(window)}`);
    return { window: known };
  }
  if (window !== undefined) refuse('--window cannot be combined with --start and --end, because it always ends now');
  return ordered(
    start === undefined ? 0 : timeOf('--start', start, now),
    Math.min(now, end === undefined ? now : timeOf('--end', end, now)),
  );
}

function spanOf({ start: from, end: to }: Flags, now: UnixSeconds): PastRange {
  const end = Math.min(now, to === undefined ? now : timeOf('--end', to, now));
  const start = from === undefined ? now - RECORDS_KEPT_SECONDS : timeOf('--start', from, now);
  if (start < now - RECORDS_KEPT_SECONDS - SLACK_SECONDS) {
    const earliest = new Date((now - RECORDS_KEPT_SECONDS) * 1000).toISOString();
    refuse(`--start: the service keeps machine metrics for 31 days, expected ${earliest} or later`);
  }
  return ordered(start, end);
}

function ordered(start: number, end: number): PastRange {
  if (start >= end) refuse('--start must be before --end, and before now');
  return { start, end };
}

/** A date alone is its midnight, UTC. */
const RFC_3339 = /^\d{4}-\d{2}-\d{2}([Tt ]\d{2}:\d{2}:\d{2}(\.\d+)?([Zz]|[+-]\d{2}:\d{2}))?$/;

/** Reads a time: Unix seconds, RFC 3339, `now`, or a duration before it such as `-6h`. */
function timeOf(flag: string, text: string, now: UnixSeconds): UnixSeconds {
  if (text === 'now') return now;
  const before = text.startsWith('-') ? parseDuration(text.slice(1)) : undefined;
  if (before !== undefined) return now - Math.floor(before / 1000);
  if (/^\d{1,11}$/.test(text)) return Number(text);
  const ms = RFC_3339.test(text) ? Date.parse(text) : Number.NaN;
  if (ms >= 0) return Math.floor(ms / 1000);
  refuse(`${flag}: expected now, -6h, 2026-11-01, 2026-11-01T18:00:00Z or Unix seconds, got ${JSON.stringify(text)}`);
}
