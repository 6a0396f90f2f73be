import {
  allowedPerDay,
  type Bucket,
  type BudgetOptions,
  isRateWindowRepeated,
  usedByOthers,
} from '../budget/bucket.ts';
import { WINDOWS } from '../budget/headers.ts';
import type { Ledger } from '../budget/ledger.ts';
import { LONG_WINDOWS } from '../budget/long-window.ts';
import { takenPerDay } from '../budget/taken-by-others.ts';
import type { Seconds, UnixMs } from '../lib/time.ts';
import { REVISION, VERSION } from '../lib/version.ts';
import type { Family, Sample } from '../metrics/family.ts';
import { requestFamilies } from '../metrics/self.ts';
import { totalOf } from '../metrics/totals.ts';
import type { SourceView } from '../scheduler/views.ts';
import { driftFamily } from './drift.ts';
import type { State } from './state.ts';

function gauge(name: string, help: string, samples: readonly Sample[]): Family {
  return { name: `beaconchain_${name}`, type: 'gauge', help: `${help}.`, samples };
}

/** beaconchain_ratelimit_* and what is known of the key. */
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
    perWindow(WINDOWS, (known, window) => (isRateWindowRepeated(known, window) ? undefined : known[field][window]));
  const resets = buckets.flatMap(([bucket, { resetAt }]): Sample[] =>
    resetAt === undefined ? [] : [{ labels: { bucket }, value: resetAt / 1000 }],
  );
  return [
    gauge(
      'api_key_valid',
      '0 if the service refused the key (401, or ratelimit-validapikey: false), otherwise 1; absent before the first response',
      standing === 'unknown' ? [] : [{ labels: {}, value: Number(valid) }],
    ),
    gauge(
      'api_access_revoked',
      '1 after a 429 in which all limits are 0 (trial over or subscription cancelled), otherwise 0',
      [{ labels: {}, value: Number(standing === 'revoked') }],
    ),
    gauge(
      'ratelimit_limit',
      'Requests allowed per window, as reported by the last response (x-ratelimit-limit-*)',
      reported('limits'),
    ),
    gauge(
      'ratelimit_remaining',
      'Requests left in the window, as reported by the last response (x-ratelimit-remaining-*)',
      reported('remaining'),
    ),
    gauge(
      'ratelimit_reset_timestamp_seconds',
      'Unix time at which the reported window resets (ratelimit-reset)',
      resets,
    ),
    gauge(
      'ratelimit_used_by_others',
      'Requests that other users of the account made in the current hour or month, as of the last response: the limit minus the remaining requests minus those of this exporter; absent if the window has no limit',
      perWindow(LONG_WINDOWS, usedByOthers),
    ),
  ];
}

export interface BudgetFigures {
  /** Requests per day that the limits allow this exporter, by bucket. */
  readonly allowedPerDay: ReadonlyMap<string, number>;
  /** Requests per day that this exporter lacks because of others, by bucket. */
  readonly takenPerDay: ReadonlyMap<string, number>;
  readonly waitedSeconds: Seconds;
}

export const BUDGET_WAIT = 'beaconchain_budget_wait_seconds_total';

/** beaconchain_budget_*: the cost of the polls and the budget for them. */
export function budgetFamilies(views: readonly SourceView[], figures: BudgetFigures): Family[] {
  const bySource = Map.groupBy(views, ({ source }) => source.name);
  const perSource = (value: (group: readonly SourceView[]) => number): Sample[] =>
    [...bySource].map(([source, group]) => ({ labels: { source }, value: value(group) }));
  return [
    gauge(
      'budget_planned_requests_per_day',
      'Requests per day at the effective intervals; while a source waits for the quota, the requests per day that are left for it',
      perSource((group) => group.reduce((sum, view) => sum + view.pace.requestsPerDay, 0)),
    ),
    gauge(
      'budget_allowed_requests_per_day',
      'Requests per day that the limits allow this exporter',
      [...figures.allowedPerDay].map(([bucket, value]) => ({ labels: { bucket }, value })),
    ),
    gauge(
      'budget_taken_by_others_requests_per_day',
      'Additional requests per day that the limits would allow this exporter if nothing else used the monthly quota; at most the daily share of a full quota',
      [...figures.takenPerDay].map(([bucket, value]) => ({ labels: { bucket }, value })),
    ),
    gauge(
      'budget_stretch_ratio',
      'Effective interval divided by configured interval; 1 = as configured',
      perSource((group) => Math.max(...group.map(({ source, pace }) => pace.intervalMs / source.intervalMs))),
    ),
    {
      name: BUDGET_WAIT,
      type: 'counter',
      help: 'Time that requests waited for the budget.',
      samples: [{ labels: {}, value: figures.waitedSeconds }],
    },
  ];
}

export interface LastReload {
  /** Whether the configuration was read without a mistake when it was last read. */
  readonly isSuccessful: boolean;
  /** When it last was. */
  readonly successAt: UnixMs;
}

export const STATE_WRITE_FAILURES = 'beaconchain_exporter_state_write_failures_total';

/** beaconchain_exporter_*: the program itself. */
function exporterFamilies({ lastReload, stateWriteFailures, isLeader }: OwnFigures): Family[] {
  const one = (value: number): Sample[] => [{ labels: {}, value }];
  return [
    gauge('exporter_build_info', 'Version of the exporter and of Node; always 1', [
      { labels: { version: VERSION, revision: REVISION, node_version: process.version }, value: 1 },
    ]),
    gauge(
      'exporter_config_last_reload_successful',
      '1 if the last load of the configuration succeeded, otherwise 0',
      one(Number(lastReload.isSuccessful)),
    ),
    gauge(
      'exporter_config_last_reload_success_timestamp_seconds',
      'Unix time of the last successful load of the configuration',
      one(lastReload.successAt / 1000),
    ),
    {
      name: STATE_WRITE_FAILURES,
      type: 'counter',
      help: 'Failed writes of the state; the exposed values stay the same until a write succeeds.',
      samples: one(stateWriteFailures),
    },
    gauge(
      'exporter_leader',
      '1 on the replica that polls, otherwise 0; always 1 with file state',
      one(Number(isLeader)),
    ),
  ];
}

interface OwnFigures {
  readonly now: UnixMs;
  readonly budgetOptions: BudgetOptions;
  readonly lastReload: LastReload;
  readonly stateWriteFailures: number;
  readonly drift: readonly Sample[];
  /** Whether this process polls. */
  readonly isLeader: boolean;
  /** Whether the counters belong to several replicas: then the families of one replica come last. */
  readonly isShared: boolean;
}

/** Pure. The exporter's own metrics without those of the process: account, budget, requests and program. */
export function ownFamilies(
  { ledger, totals }: Pick<State, 'ledger' | 'totals'>,
  views: readonly SourceView[],
  figures: OwnFigures,
): Family[] {
  const { now, budgetOptions, isShared } = figures;
  const buckets = Object.entries(ledger.buckets);
  const requests = [...requestFamilies(totals), driftFamily(figures.drift)];
  const program = exporterFamilies(figures);
  return [
    ...accountFamilies(ledger),
    ...budgetFamilies(views, {
      allowedPerDay: new Map(buckets.map(([name, bucket]) => [name, allowedPerDay(bucket, budgetOptions, now)])),
      takenPerDay: new Map(buckets.map(([name, bucket]) => [name, takenPerDay(bucket, budgetOptions, now)])),
      waitedSeconds: totalOf(BUDGET_WAIT, totals),
    }),
    ...(isShared ? [...requests, ...program] : [...program, ...requests]),
  ];
}
