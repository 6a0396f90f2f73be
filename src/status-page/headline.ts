import { PARTS } from '../api/endpoints.ts';
import type { BudgetOptions } from '../budget/bucket.ts';
import { ASK_AGAIN_AFTER_MS, isKeyClosed, type Ledger } from '../budget/ledger.ts';
import { hasEnded } from '../scheduler/attempts.ts';
import { attemptOf } from '../scheduler/entry.ts';
import { isRefused, partsOf } from '../scheduler/refusals.ts';
import { behindOf, lastOf, type QuotaWait, type SourceView } from '../scheduler/schedules.ts';
import { firing, firingIf, THRESHOLDS } from '../sources/conditions.ts';
import { type Notice, notice, type Summary, type Tone } from '../sources/content.ts';
import { MS_PER_HOUR, MS_PER_MINUTE } from '../toolkit/lib/duration.ts';
import type { Milliseconds, UnixMs } from '../toolkit/lib/time.ts';
import { absolute, count, cropped, listed, plural, relative, span } from '../toolkit/lib/words.ts';
import { nameOf, stateOf } from './status-sources.ts';

/** Everything that the status page shows, apart from the time. The views are those of /metrics. */
export interface StatusInput {
  readonly views: readonly SourceView[];
  readonly ledger: Ledger;
  readonly budgetOptions: BudgetOptions;
  readonly startedAt: UnixMs;
  readonly telemetryPath: string;
  /** Why the last reload of the configuration failed. Undefined if it succeeded. */
  readonly reloadError?: string | undefined;
  /** When a write of the state last failed. Undefined if none has failed. */
  readonly unwrittenAt?: UnixMs | undefined;
  /** Whether this process polls. Default: true. */
  readonly isLeader?: boolean;
  /** How far the clock of the service is ahead of ours. Undefined before the first answer. */
  readonly clockOffsetMs?: Milliseconds | undefined;
  readonly isSimulated?: boolean | undefined;
}

export interface Summed {
  readonly view: SourceView;
  readonly summary: Summary;
}

const MAX_HEADLINE = 160;

/** The answer to "is it working?". The first condition that applies names what is wrong now, and the list below says the rest. */
export function headlineOf({ views, ledger }: StatusInput, notices: readonly Notice[], now: UnixMs): Notice {
  const { standing } = ledger.key;
  const waiting = views.filter(({ first }) => first.wait).length;
  const [bad, warnings] = [whatOf(notices, 'bad'), whatOf(notices, 'warning')];
  const conditions: readonly (readonly [applies: boolean, tone: Tone, text: string])[] = [
    [standing === 'revoked', 'bad', 'Stopped: access is revoked'],
    [standing === 'refused', 'bad', 'Not working: the key is refused'],
    [waiting > 0 && waiting === views.length, 'bad', 'Not working: polling paused until the quota resets'],
    [views.length > 0 && views.every((view) => lastOf(view).lastAttemptAt === undefined), 'neutral', 'Starting'],
    [isOutage(views, now), 'bad', 'Not working: sources are failing'],
    [bad.length > 0, 'bad', `${bad.length > 1 ? `${bad.length} critical` : 'Critical'}: ${bad[0]}`],
    [waiting > 0, 'warning', `Waiting for the quota: ${waiting} of ${plural(views.length, 'source')}`],
    [warnings.length > 0, 'warning', `Working, ${plural(warnings.length, 'warning')}: ${warnings[0]}`],
  ];
  const [, tone, text] = conditions.find(([applies]) => applies) ?? [true, 'good', 'Working'];
  return notice(tone, cropped(text, MAX_HEADLINE));
}

/** `15 of 15 validators online, 5 of 5 machines healthy`, over all chains. Sources are listed cheapest first. */
export function countsOf(summaries: readonly Summed[]): string {
  const tallies = summaries.toReversed().flatMap(({ summary }) => summary.tally ?? []);
  const parts = [...Map.groupBy(tallies, ({ noun }) => noun)].flatMap(([noun, own]) => {
    const sum = (of: 'well' | 'known' | 'unknown'): number => own.reduce((total, one) => total + one[of], 0);
    const known = `${count(sum('well'))} of ${plural(sum('known'), noun)} ${noun === 'machine' ? 'healthy' : 'online'}`;
    const unknown = `${plural(sum('unknown'), noun)} of unknown state`;
    return [sum('known') > 0 ? known : [], sum('unknown') > 0 ? unknown : []].flat();
  });
  return parts.join(', ');
}

function whatOf(notices: readonly Notice[], tone: Tone): string[] {
  return notices.flatMap((one) => (one.tone === tone ? [one.what] : []));
}

/** Whether all sources fail that are read often. A rare read may not have run since the outage began. */
function isOutage(views: readonly SourceView[], now: UnixMs): boolean {
  const often = views.filter(({ source }) =>
    source.reads.some(({ period, everyMs }) => !period && everyMs < MS_PER_HOUR),
  );
  const asked = often.length > 0 ? often : views;
  return asked.length > 0 && asked.every((view) => stateOf(view, now).isFailing);
}

/** Notices about the configuration, the state, the key, the sources and the budget. */
export function noticesOf(input: StatusInput, now: UnixMs): Notice[] {
  return [
    ...firingIf('BeaconchainConfigReloadFailed', [input.reloadError ?? []].flat()),
    ...stateNotices(input, now),
    ...clockNotices(input),
    ...keyNotices(input.ledger, now),
    // If the key is not accepted, nothing else matters.
    ...(isKeyClosed(input.ledger) ? [] : sourceNotices(input, now)),
  ];
}

/** The range of the alert. */
const UNWRITTEN_MS = 15 * MS_PER_MINUTE;

function stateNotices({ unwrittenAt = Number.NEGATIVE_INFINITY }: StatusInput, now: UnixMs): Notice[] {
  return now - unwrittenAt > UNWRITTEN_MS
    ? []
    : [firing('BeaconchainStateWriteFailing', [], relative(unwrittenAt, now))];
}

function clockNotices({ clockOffsetMs = 0 }: StatusInput): Notice[] {
  if (Math.abs(clockOffsetMs) <= THRESHOLDS.clock_offset_seconds * 1000) return [];
  const detail = `${span(Math.abs(clockOffsetMs))} ${clockOffsetMs < 0 ? 'fast' : 'slow'}`;
  return [firing('BeaconchainClockWrong', [], detail)];
}

function keyNotices({ key }: Ledger, now: UnixMs): Notice[] {
  const { standing, since, validHeader } = key;
  if (standing === 'revoked') {
    const at = since + ASK_AGAIN_AFTER_MS;
    const from = `${absolute(at, now)} (${relative(at, now)})`;
    return [firing('BeaconchainAccessRevoked', [from], relative(since, now))];
  }
  if (standing === 'refused') {
    const advice = [
      'The exporter tries the key again after a minute, then every 10 minutes.',
      'If the service still refuses it, create or renew a key at beaconcha.in and set it.',
    ];
    return [firing('BeaconchainApiKeyInvalid', advice, `The service refused the key ${relative(since, now)}`)];
  }
  if (validHeader !== false) return [];
  return [firing('BeaconchainApiKeyInvalid', [], 'The service reports that the key is not valid')];
}

function sourceNotices(input: StatusInput, now: UnixMs): Notice[] {
  const { validHeader } = input.ledger.key;
  return [
    ...firingIf(
      'BeaconchainSourceFailing',
      input.views.filter((view) => stateOf(view, now).isFailing).map(nameOf),
      plural(input.views.length, 'source'),
    ),
    ...refusalNotices(input.views),
    ...endNotices(input.views),
    ...behindNotices(input.views),
    ...(validHeader === false ? [] : staleNotices(input, now)),
    ...waitNotices(input, now),
    ...stretchNotices(input.views),
  ];
}

function refusalNotices(views: readonly SourceView[]): Notice[] {
  const names = views.flatMap(({ source: { chain, reads }, entry: { refusals } }) =>
    partsOf(reads)
      .filter((part) => isRefused(refusals, part))
      .map((part) => `${PARTS[part]}${chain ? ` (${chain})` : ''}`),
  );
  return firingIf('BeaconchainPartRefused', names);
}

function endNotices(views: readonly SourceView[]): Notice[] {
  const ended = views.flatMap((view) => {
    const reads = view.source.reads.filter((read) => hasEnded(attemptOf(view.entry, read)));
    return reads.length > 0 ? [`${nameOf(view)} (${listed(reads.map(({ name }) => name))})`] : [];
  });
  if (ended.length === 0) return [];
  const rest = '. The exporter polls once an hour. Look for a newer version of the exporter.';
  return [notice('warning', `404 for an hour where the service had data before: ${listed(ended)}`, rest)];
}

function behindNotices(views: readonly SourceView[]): Notice[] {
  const ages = views.map((view) => behindOf(view) ?? 0);
  const behind = views.filter((_, i) => Number(ages[i]) > 0);
  return firingIf('BeaconchainServiceBehind', behind.map(nameOf), span(Math.max(0, ...ages)));
}

/** A replica that does not poll has no overdue sources. */
function staleNotices({ views, isLeader = true }: StatusInput, now: UnixMs): Notice[] {
  const stale = views.filter(
    ({ first: { nextAttemptAt } }) => nextAttemptAt > 0 && now - nextAttemptAt > THRESHOLDS.source_stale_seconds * 1000,
  );
  return isLeader ? firingIf('BeaconchainSourceStale', stale.map(nameOf)) : [];
}

function stretchNotices(views: readonly SourceView[]): Notice[] {
  const changes = views.flatMap((view) => {
    const { wait, pace, read } = view.first;
    if (wait || pace.intervalMs <= read.everyMs) return [];
    return [`${nameOf(view)} every ${span(pace.intervalMs)} instead of ${span(read.everyMs)}`];
  });
  return firingIf('BeaconchainBudgetStretched', changes);
}

export const LIMITS = {
  hour: 'the hourly quota',
  month: 'the monthly quota',
  '429': 'the service, which responded with 429',
} as const satisfies Record<QuotaWait['limit'], string>;

function waitNotices({ views }: StatusInput, now: UnixMs): Notice[] {
  const waiting = Map.groupBy(
    views.flatMap((view) => (view.first.wait ? [{ view, ...view.first.wait }] : [])),
    ({ limit, until }) => `${LIMITS[limit]}, until ${absolute(until, now)} (${relative(until, now)})`,
  );
  return [...waiting].map(([what, group]) => {
    const names = group.map(({ view }) => nameOf(view));
    return firing('BeaconchainSourceWaitsForQuota', names, what);
  });
}
