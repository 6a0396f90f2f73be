import type { Family, Labels, MetricType } from '../metrics/family.ts';
import type { SourceView } from '../scheduler/views.ts';

type SourceColumn = readonly [name: string, type: MetricType, help: string, value: (view: SourceView) => number];

const SOURCE_COLUMNS: readonly SourceColumn[] = [
  [
    'up',
    'gauge',
    '1 if the last poll succeeded, 0 if it failed or no poll has been made',
    ({ entry }) => Number(isUp(entry)),
  ],
  ['attempts_total', 'counter', 'Number of polls', ({ entry }) => entry.attempts],
  ['failures_total', 'counter', 'Number of failed polls', ({ entry }) => entry.failures],
  [
    'last_attempt_timestamp_seconds',
    'gauge',
    'Unix time at which the last poll started; 0 before the first',
    ({ entry }) => (entry.lastAttemptAt ?? 0) / 1000,
  ],
  [
    'last_success_timestamp_seconds',
    'gauge',
    'Unix time at which the last successful poll ended; 0 before the first',
    ({ entry }) => (entry.lastSuccessAt ?? 0) / 1000,
  ],
  [
    'next_attempt_timestamp_seconds',
    'gauge',
    'Unix time of the next poll, after any wait for a reset or for the quota; +Inf while access is revoked',
    (view) => view.nextAttemptAt / 1000,
  ],
  [
    'quota_wait_end_timestamp_seconds',
    'gauge',
    'Unix time until which the source waits because the remaining quota is too small for its interval; 0 if it does not wait',
    ({ wait }) => (wait?.until ?? 0) / 1000,
  ],
  [
    'interval_seconds',
    'gauge',
    'Effective interval between polls, as stretched by the budget. While the source waits for the quota, this is the interval of its last poll. For slashings, this is the interval of the head passes, or of the finalized passes if the budget allows no head passes',
    ({ pace }) => pace.intervalMs / 1000,
  ],
  [
    'duration_seconds',
    'gauge',
    'Duration of the last poll, including waits for the budget',
    ({ entry }) => entry.durationMs / 1000,
  ],
];

function isUp(entry: SourceView['entry']): boolean {
  return entry.attempts > 0 && entry.failuresInARow === 0;
}

/** beaconchain_source_*: the attempts of each source. */
export function sourceFamilies(views: readonly SourceView[]): Family[] {
  return SOURCE_COLUMNS.map(([name, type, help, value]) => ({
    name: `beaconchain_source_${name}`,
    type,
    help: `${help}.`,
    samples: views.map((view) => ({ labels: labelsOf(view), value: value(view) })),
  }));
}

function labelsOf({ source }: SourceView): Labels {
  return source.chain ? { source: source.name, chain: source.chain } : { source: source.name };
}
