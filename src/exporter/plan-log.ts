import { formatDuration } from '../lib/duration.ts';
import type { Logger } from '../lib/log.ts';
import type { Wait } from '../scheduler/schedule.ts';
import type { Pace, Source } from '../sources/source.ts';
import { sourceId } from '../state/entry.ts';

/** One line for the whole plan: what runs how often, and what that costs. */
export function logPlan(log: Logger, paces: ReadonlyMap<Source, Pace>): void {
  const intervals = Object.fromEntries([...paces].map(([source, pace]) => [sourceId(source), describePace(pace)]));
  const stretched = [...paces].some(([source, pace]) => pace.intervalMs > source.intervalMs);
  const perDay = Math.ceil([...paces.values()].reduce((sum, pace) => sum + pace.requestsPerDay, 0));
  const fields = { intervals, requests_per_day: perDay };
  if (stretched) log.warn(fields, 'the budget does not allow the configured intervals: intervals are stretched');
  else log.info(fields, 'the budget allows the configured intervals');
}

const COVERAGE: Readonly<Record<Pace['coverage'], string>> = {
  full: '',
  finalized: ' (no head passes)',
  sampled: ' (newest finalized epoch only, the others are skipped)',
};

function describePace({ intervalMs, coverage }: Pace): string {
  return `${formatDuration(Math.round(intervalMs / 1000) * 1000)}${COVERAGE[coverage]}`;
}

const LIMITS: Readonly<Record<Wait['limit'], string>> = {
  hour: 'hourly quota',
  month: 'monthly quota',
  '429': 'refused with 429',
};

/** One line for all sources that wait: what for, and until when. */
export function logWaits(log: Logger, waits: ReadonlyMap<Source, Wait>): void {
  const described = [...waits].map(([source, { limit, until }]) => [
    sourceId(source),
    `${LIMITS[limit]}, until ${new Date(until).toISOString()}`,
  ]);
  log.warn({ waits: Object.fromEntries(described) }, 'sources wait for the quota');
}
