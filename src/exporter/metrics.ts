import { allowedPerDay, type Bucket, usedByOthers } from '../budget/bucket.ts';
import { WINDOWS } from '../budget/headers.ts';
import type { Ledger } from '../budget/ledger.ts';
import { LONG_WINDOWS } from '../budget/long-window.ts';
import { REVISION, VERSION } from '../facts/version.ts';
import { isRefused, partsOf } from '../scheduler/refusals.ts';
import {
  behindOf,
  failuresOf,
  lastOf,
  lastSuccessAt,
  requestsPerDay,
  type SourceView,
  wasAttempted,
} from '../scheduler/schedules.ts';
import { family } from '../sources/families.ts';
import { SOURCE_NAMES } from '../sources/registry.ts';
import type { Source } from '../sources/source.ts';
import type { StatusInput } from '../status-page/headline.ts';
import type { Section } from '../toolkit/exposition/exposition.ts';
import { type Family, mergeFamilies, type Sample } from '../toolkit/exposition/family.ts';
import type { Milliseconds, UnixMs } from '../toolkit/lib/time.ts';
import type { OwnMetrics } from './own-metrics.ts';

/** The section with the attempts of the sources, the budget and the exporter itself: it changes with each poll. */
export const OWN = 'own';

/** What the exporter knows at one moment. /metrics and the page show it. */
export interface Snapshot extends StatusInput {
  readonly now: UnixMs;
  readonly isLeader: boolean;
  /** When the configuration was last read and valid. */
  readonly reloadedAt: UnixMs;
  /** The number of lines of the log that could not be written. */
  readonly linesDropped: number;
  readonly externalUrl: string | null;
}

/**
 * /metrics in its order: a section for each kind of source, then the exporter's own metrics.
 * @param everyMs How often the exporter's own metrics are rendered, which change by themselves
 */
export function sectionsOf(own: Pick<OwnMetrics, 'families'>, everyMs: Milliseconds): Section<Snapshot>[] {
  return [
    ...SOURCE_NAMES.map((name) => ({
      name,
      families: ({ views }: Snapshot) =>
        joined(
          views
            .filter(({ source }) => source.name === name)
            .map(({ source, entry, timing, inputs }) => source.metrics(entry.value, timing, inputs)),
        ),
    })),
    { name: OWN, families: async (snapshot) => [...ownFamilies(snapshot), ...(await own.families())], everyMs },
  ];
}

/** The families of a single source are passed on unchanged, because they compute their samples on demand. */
function joined([first = [], ...others]: readonly Family[][]): Family[] {
  return others.length === 0 ? first : mergeFamilies([first, ...others].flat());
}

/** Pure. The exporter's own gauges: sources, account, budget and program. */
export function ownFamilies(snapshot: Snapshot): Family[] {
  return [
    ...sourceFamilies(snapshot.views),
    ...accountFamilies(snapshot.ledger),
    ...budgetFamilies(snapshot),
    ...exporterFamilies(snapshot),
  ];
}

/** The end of HELP where a value is that of one read. */
const FIRST = 'Of the first enabled read';

const SOURCE_COLUMNS: readonly (readonly [name: string, help: string, value: (view: SourceView) => number])[] = [
  [
    'up',
    '0 if the last attempt of any read failed, or before the first attempt; otherwise 1',
    (view) => Number(wasAttempted(view) && failuresOf(view).length === 0),
  ],
  [
    'last_attempt_timestamp_seconds',
    `Start of the last attempt, Unix time; 0 before the first. ${FIRST}`,
    (view) => (lastOf(view).lastAttemptAt ?? 0) / 1000,
  ],
  [
    'last_success_timestamp_seconds',
    `End of the last successful attempt, Unix time; 0 before the first. ${FIRST} that was attempted`,
    (view) => (lastSuccessAt(view) ?? 0) / 1000,
  ],
  [
    'next_attempt_timestamp_seconds',
    `Unix time of the next attempt, after any wait for a reset or the quota; +Inf while access is revoked. ${FIRST}`,
    ({ first }) => first.nextAttemptAt / 1000,
  ],
  [
    'quota_wait_end_timestamp_seconds',
    'End of a pause because the remaining quota is too small, Unix time; 0 without a pause',
    ({ first }) => (first.wait?.until ?? 0) / 1000,
  ],
  [
    'interval_seconds',
    `Effective interval; during a pause that of the last attempt. ${FIRST}: for slashings head passes, or finalized passes without these`,
    ({ first }) => first.pace.intervalMs / 1000,
  ],
  [
    'duration_seconds',
    `Duration of the last attempt, including waits for the budget. ${FIRST}`,
    (view) => lastOf(view).durationMs / 1000,
  ],
];

/** beaconchain_source_*: the attempts of each source. One that the budget leaves out as a whole has no series: it is not down. */
export function sourceFamilies(all: readonly SourceView[]): Family[] {
  const views = all.filter(({ first, leftOut }) => !leftOut.includes(first.read.name));
  const refused = views.flatMap(({ source, entry }) =>
    partsOf(source.reads).map((part) => ({
      labels: { ...labelsOf(source), part },
      value: Number(isRefused(entry.refusals, part)),
    })),
  );
  const behind = views.flatMap((view) => {
    const ageMs = behindOf(view);
    return ageMs === undefined ? [] : [{ labels: labelsOf(view.source), value: ageMs / 1000 }];
  });
  return [
    ...SOURCE_COLUMNS.map(([name, help, value]) => {
      const samples = views.map((view) => ({ labels: labelsOf(view.source), value: value(view) }));
      return family(`source_${name}`, help, samples);
    }),
    family(
      'source_part_refused',
      '1 if the service refuses this part, which the exporter then requests once a day and after a start or reload; otherwise 0',
      refused,
    ),
    family(
      'service_behind_seconds',
      'Age of the newest data in the last response, if older than usual, otherwise 0; absent if no response shows it',
      behind,
    ),
  ];
}

export function labelsOf({ name, chain }: Source): { readonly source: string; readonly chain?: string } {
  return chain ? { source: name, chain } : { source: name };
}

function one(value: number): Sample[] {
  return [{ labels: {}, value }];
}

/** beaconchain_ratelimit_* and the status of the key. */
export function accountFamilies(ledger: Ledger): Family[] {
  const { standing, validHeader } = ledger.key;
  const valid = standing !== 'refused' && validHeader !== false;
  const buckets = Object.entries(ledger.buckets);
  const perWindow = <W extends string>(
    windows: readonly W[],
    valueIn: (known: Bucket, window: W) => number | undefined,
  ): Sample[] =>
    buckets.flatMap(([bucket, known]) =>
      windows.flatMap((window): Sample[] => {
        const value = valueIn(known, window);
        return value === undefined ? [] : [{ labels: { bucket, window }, value }];
      }),
    );
  const reported = (field: 'limits' | 'remaining'): Sample[] =>
    perWindow(WINDOWS, (known, window) => known[field][window]);
  const resets = buckets.flatMap(([bucket, { resetAt }]): Sample[] =>
    resetAt === undefined ? [] : [{ labels: { bucket }, value: resetAt / 1000 }],
  );
  return [
    family(
      'api_key_valid',
      '0 if the service refused the key (401, or ratelimit-validapikey: false), otherwise 1; absent before the first response',
      standing === 'unknown' ? [] : one(Number(valid)),
    ),
    family(
      'api_access_revoked',
      '1 after a 429 in which all limits are 0 (trial over or subscription cancelled), otherwise 0',
      one(Number(standing === 'revoked')),
    ),
    family('ratelimit_limit', 'Requests allowed per window (x-ratelimit-limit-*)', reported('limits')),
    family('ratelimit_remaining', 'Requests left in the window (x-ratelimit-remaining-*)', reported('remaining')),
    family(
      'ratelimit_reset_timestamp_seconds',
      'Unix time at which the window that applies resets (ratelimit-reset)',
      resets,
    ),
    family(
      'ratelimit_used_by_others',
      'Requests of others on the account in the current hour or month: limit minus remaining minus own; absent without a limit',
      perWindow(LONG_WINDOWS, usedByOthers),
    ),
  ];
}

/** beaconchain_budget_*: the cost of the polls and the budget for them. */
function budgetFamilies({ views, ledger, budgetOptions, now }: Snapshot): Family[] {
  const bySource = Map.groupBy(views, ({ source }) => source.name);
  const perSource = (value: (group: readonly SourceView[]) => number): Sample[] =>
    [...bySource].map(([source, group]) => ({ labels: { source }, value: value(group) }));
  const perBucket = (value: (bucket: Bucket) => number): Sample[] =>
    Object.entries(ledger.buckets).map(([bucket, known]) => ({ labels: { bucket }, value: value(known) }));
  return [
    family(
      'budget_planned_requests_per_day',
      'Requests per day at the effective intervals; 0 during a pause for the quota',
      perSource((group) => group.reduce((sum, view) => sum + requestsPerDay(view), 0)),
    ),
    family(
      'budget_allowed_requests_per_day',
      'Requests per day that the limits allow this exporter',
      perBucket((bucket) => allowedPerDay(bucket, budgetOptions, now)),
    ),
    family(
      'budget_stretch_ratio',
      'Effective interval divided by configured interval; 1 = as configured',
      perSource((group) => Math.max(...group.map(({ first: { pace, read } }) => pace.intervalMs / read.everyMs))),
    ),
  ];
}

/** beaconchain_exporter_*: the program itself. */
function exporterFamilies(snapshot: Snapshot): Family[] {
  const { reloadError, reloadedAt, isLeader, linesDropped, clockOffsetMs, externalUrl } = snapshot;
  return [
    family('exporter_build_info', 'Version of the exporter and of Node; always 1', [
      { labels: { version: VERSION, revision: REVISION, node_version: process.version }, value: 1 },
    ]),
    family(
      'exporter_external_url_info',
      'URL at which people reach the exporter; absent if not set',
      externalUrl === null ? [] : [{ labels: { url: externalUrl }, value: 1 }],
    ),
    family(
      'exporter_config_last_reload_successful',
      '1 if the last load of the configuration succeeded, otherwise 0',
      one(Number(reloadError === undefined)),
    ),
    family(
      'exporter_config_last_reload_success_timestamp_seconds',
      'Unix time of the last successful load of the configuration',
      one(reloadedAt / 1000),
    ),
    family(
      'exporter_leader',
      '1 on the replica that polls, otherwise 0; always 1 with file state',
      one(Number(isLeader)),
    ),
    family(
      'exporter_clock_offset_seconds',
      "How far the service's clock is ahead of the exporter's: the median of the last five responses within an hour; absent before the first response and after a step of the exporter's clock",
      clockOffsetMs === undefined ? [] : one(clockOffsetMs / 1000),
    ),
    family(
      'exporter_log_lines_dropped_total',
      'Log lines that were lost because writing failed or their reader had stopped',
      one(linesDropped),
    ),
  ];
}
