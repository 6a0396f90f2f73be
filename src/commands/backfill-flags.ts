import { EVALUATION_WINDOWS, type PastRange } from '../api/endpoints.ts';
import type { Chain } from '../facts/chain.ts';
import type { Past } from '../sources/history.ts';
import { type Config, PASTS } from '../sources/registry.ts';
import { UsageError } from '../toolkit/flags/flags.ts';
import { parseDuration, SECONDS_PER_DAY } from '../toolkit/lib/duration.ts';
import type { UnixMs, UnixSeconds } from '../toolkit/lib/time.ts';
import { either } from '../toolkit/yaml/fields.ts';
import { BACKFILL, type Flags } from './flag-table.ts';

/** What to read, and how to write it. */
export interface BackfillOptions {
  readonly source: string;
  readonly past: Past;
  /** Undefined: all. */
  readonly chain: Chain | undefined;
  /** Daily returns without `start`. */
  readonly window: (typeof EVALUATION_WINDOWS)[number] | undefined;
  readonly start: UnixSeconds | undefined;
  /** Undefined: the first start of the exporter if that is known, otherwise now. */
  readonly end: UnixSeconds | undefined;
  readonly labels: Readonly<Record<string, string>>;
  readonly step: number | undefined;
  readonly fullResolution: boolean;
}

/** The flags that decide neither what is read nor what is written. A run is resumed only if all others are the same. */
const NOT_DECIDING = ['output', 'resume', 'yes'];

/** The user may work out --start this long before the run. */
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
  'status',
  'vote',
  'duty',
  'validator',
  'part',
]);

/** Reads the flags of backfill. @throws UsageError */
export function backfillOptions(flags: Flags, config: Config, now: UnixMs): BackfillOptions {
  const all = Object.keys(PASTS).map((name) => name.replaceAll('_', '-'));
  if (flags.source === undefined) refuse(`--source is required: ${either(all)}`);
  const given = oneOf('--source', all, flags.source);
  const source = given.replaceAll('-', '_');
  const past = PASTS[source] as Past;
  for (const flag of ['window', 'step', 'full-resolution'] as const) {
    if (flags[flag] === undefined || past.flags.includes(flag)) continue;
    const others = all.filter((name) => PASTS[name.replaceAll('-', '_')]?.flags.includes(flag));
    refuse(`--${flag} requires --source=${either(others)}`);
  }
  if (flags.start === undefined && !past.isDaily && past.keptSeconds === undefined) {
    refuse(`--start is required with --source=${given}`);
  }
  const seconds = Math.floor(now / 1000);
  const start = flags.start === undefined ? undefined : timeOf('--start', flags.start, seconds);
  const end = flags.end === undefined ? undefined : Math.min(seconds, timeOf('--end', flags.end, seconds));
  if (start !== undefined && start >= (end ?? seconds)) refuse('--start must be before --end, and before now');
  refuseOldStart(past, start, seconds);
  const chains = config.chains.map(({ name }) => name);
  return {
    source,
    past,
    chain: flags.chain === undefined ? undefined : oneOf('--chain', chains, flags.chain),
    window: past.isDaily ? windowOf(flags) : undefined,
    start,
    end,
    labels: labelsOf(flags.label ?? [], config),
    step: stepOf(flags.step),
    fullResolution: flags['full-resolution'] ?? false,
  };
}

/** The range to request. A window always ends now; records after `end` are not written. */
export function rangeOf({ window, start, past }: BackfillOptions, end: UnixSeconds, now: UnixSeconds): PastRange {
  return window === undefined ? { start: start ?? now - (past.keptSeconds ?? now), end } : { window };
}

/** The flags of this command line that decide what is read and written. */
export function decidingFlags(flags: Flags): Flags {
  const names = Object.keys(flags).filter((name) => name in BACKFILL && !NOT_DECIDING.includes(name));
  return Object.fromEntries(names.map((name) => [name, flags[name as keyof Flags]]));
}

/** The file to write. @throws UsageError */
export function outputOf({ output }: Flags): string {
  if (output === undefined) refuse('--output=FILE is required');
  if (output.endsWith('/')) refuse(`--output: expected a file, got the directory ${output}`);
  return output;
}

function refuse(message: string): never {
  throw new UsageError(message);
}

function oneOf<T extends string>(flag: string, names: readonly T[], text: string): T {
  const found = names.find((name) => name === text);
  return found ?? refuse(`${flag}: expected ${names.join(', ')}, got ${JSON.stringify(text)}`);
}

function labelsOf(texts: readonly string[], { groups }: Config): Record<string, string> {
  const labels: Record<string, string> = {};
  for (const text of texts) {
    const [, name, value] = /^([^=]*)=(.*)$/su.exec(text) ?? [];
    if (name === undefined || value === undefined) refuse(`--label: expected NAME=VALUE, got ${JSON.stringify(text)}`);
    if (!/^[a-zA-Z_][a-zA-Z0-9_]*$/.test(name) || name.startsWith('__')) {
      refuse(
        `--label: ${JSON.stringify(name)} is not a valid label name: use letters, digits and _, and do not start with __ or a digit`,
      );
    }
    const isOwn = OWN_LABELS.has(name) || (name === 'group' && groups.length > 0);
    if (isOwn) refuse(`--label: the series already have a label ${name}`);
    if (name in labels) refuse(`--label: ${name} is given twice`);
    // To Prometheus an empty label is an absent one.
    if (value === '') refuse(`--label: ${name} is empty`);
    labels[name] = value;
  }
  return labels;
}

function stepOf(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const ms = parseDuration(text);
  const isStep = ms !== undefined && ms >= 1_000 && ms % 1_000 === 0 && ms <= 1_000 * SECONDS_PER_DAY;
  if (!isStep) refuse(`--step: expected whole seconds up to a day, such as 5m, got ${JSON.stringify(text)}`);
  return ms / 1_000;
}

function windowOf({ window, start }: Flags): BackfillOptions['window'] {
  if (start === undefined) return oneOf('--window', EVALUATION_WINDOWS, window ?? 'all_time');
  if (window !== undefined) refuse('--window cannot be combined with --start');
  return undefined;
}

function refuseOldStart(past: Past, start: UnixSeconds | undefined, now: UnixSeconds): void {
  const { what, keptSeconds = now } = past;
  if (start === undefined || start >= now - keptSeconds - SLACK_SECONDS) return;
  const earliest = new Date((now - keptSeconds) * 1000).toISOString();
  const days = keptSeconds / SECONDS_PER_DAY;
  refuse(`--start: the service keeps ${what} for ${days} days, expected ${earliest} or later`);
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
