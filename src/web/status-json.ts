import { allowedPerDay, planOf, windowAt } from '../budget/bucket.ts';
import { LONG_WINDOWS } from '../budget/long-window.ts';
import type { UnixMs } from '../lib/time.ts';
import type { SourceView } from '../scheduler/schedules.ts';
import type { Notice, Tone } from '../sources/content.ts';
import { type PlainObject, plainNumber } from '../sources/plain.ts';
import { pacePerDay } from './status-budget.ts';
import type { StatusInput } from './status-input.ts';
import type { StatusModel } from './status-model.ts';
import { stateOf } from './status-sources.ts';

/** Increased when a field is removed or changes its meaning, not when one is added. */
const VERSION = 1;

const SEVERITIES = { bad: 'critical', warning: 'warning', neutral: 'info', good: 'ok' } as const satisfies Record<
  Tone,
  string
>;

/** The status for scripts, from the model of the page, in pieces of about a machine. */
export function* jsonPieces({ input, now, summaries, notices, verdict }: StatusModel): Generator<string> {
  const { views, ledger, version, startedAt } = input;
  const head = {
    version: VERSION,
    exporter_version: version,
    timestamp_seconds: now / 1000,
    start_timestamp_seconds: startedAt / 1000,
    is_simulated: input.isSimulated ?? false,
    severity: SEVERITIES[verdict.tone],
    headline: verdict.text,
    notices: notices.map(plainNotice),
    sources: views.map((view) => plainSource(view, now)),
    chains: chainsOf(summaries),
    budget: Object.keys(ledger.buckets).map((name) => plainBucket(input, name, now)),
  };
  yield `${JSON.stringify(head).slice(0, -1)},"machines":[`;
  let separator = '\n';
  for (const { summary } of summaries) {
    for (const machine of summary.machines ?? []) {
      yield `${separator}${JSON.stringify(machine)}`;
      separator = ',\n';
    }
  }
  yield ']}\n';
}

function plainNotice({ tone, text, alert }: Notice): PlainObject {
  return { severity: SEVERITIES[tone], alert: alert ?? null, text };
}

function plainSource(view: SourceView, now: UnixMs): PlainObject {
  const { source, entry, pace, nextAttemptAt, wait } = view;
  const { lastError } = entry;
  return {
    source: source.name,
    chain: source.chain ?? null,
    is_up: entry.lastAttemptAt !== undefined && entry.failuresInARow === 0,
    state: stateOf(view, now).text,
    failures_in_a_row: entry.failuresInARow,
    last_attempt_timestamp_seconds: seconds(entry.lastAttemptAt),
    last_success_timestamp_seconds: seconds(entry.lastSuccessAt),
    next_attempt_timestamp_seconds: seconds(nextAttemptAt),
    quota_wait_end_timestamp_seconds: seconds(wait?.until),
    interval_seconds: pace.intervalMs / 1000,
    configured_interval_seconds: source.intervalMs / 1000,
    planned_requests_per_day: pace.requestsPerDay,
    last_error: lastError ? { timestamp_seconds: lastError.at / 1000, reason: lastError.reason } : null,
  };
}

/** The data of all sources about a chain. */
function chainsOf(summaries: StatusModel['summaries']): PlainObject[] {
  const known = summaries.flatMap(({ view, summary }) =>
    view.source.chain && summary.chain ? [{ chain: view.source.chain, ...summary.chain }] : [],
  );
  return [...Map.groupBy(known, ({ chain }) => chain).values()].map(
    (parts): PlainObject => Object.assign({}, ...parts),
  );
}

function plainBucket(input: StatusInput, name: string, now: UnixMs): PlainObject {
  const { ledger, budgetOptions } = input;
  const bucket = ledger.buckets[name];
  if (!bucket) return {};
  const isRevoked = ledger.key.standing === 'revoked';
  return {
    bucket: name,
    plan: planOf(bucket) ?? null,
    planned_requests_per_day: pacePerDay(input, name),
    allowed_requests_per_day: isRevoked ? 0 : plainNumber(allowedPerDay(bucket, budgetOptions, now)),
    closed_until_timestamp_seconds: bucket.closedUntil > now ? seconds(bucket.closedUntil) : null,
    windows: LONG_WINDOWS.flatMap((window): PlainObject[] => {
      const state = windowAt(bucket, window, budgetOptions, now);
      if (!state) return [];
      return [
        {
          window,
          limit_requests: state.limit,
          used_requests: state.own,
          remaining_requests: plainNumber(state.remaining),
          left_requests: state.left,
          lasts_until_timestamp_seconds: seconds(state.end),
        },
      ];
    }),
  };
}

function seconds(at: UnixMs | undefined): number | null {
  return plainNumber(at === undefined ? undefined : at / 1000);
}
