import { MINUTE } from '../../support/timing.ts';
import { type Life, lastsToMonthEnd } from './drawn-life.ts';
import type { LifeSeen } from './drawn-seen.ts';

/** After this part of the span the program knows how many requests polls need and how long they take. */
const LEARNED = 0.4;
/** After this part of the span the program stretches a quota. */
const BEGUN = 0.1;
const SPENT = 0.97;
/** The share of the rate that must be used. Latency leaves some of it idle. */
const USED = 0.9;

/** Requests that the program could have sent and did not: of the rate at any time, of a quota by its end. */
export function idle(life: Life, seen: LifeSeen): string[] {
  const { perDay, others, restarts, start, end } = life;
  if (others.kind !== 'none' || restarts.length > 0) return [];
  const isByRate = perDay.byRate <= perDay.allowed;
  const from = isByRate ? start + LEARNED * (end - start) : start + BEGUN * (end - start);
  const isStretched = seen.moments
    .filter(({ at }) => at >= from)
    .every(({ sources }) => (sources.get('machines')?.intervalMs ?? 0) > 1.02 * MINUTE);
  if (!isStretched) return [];
  return isByRate ? idleRate(life, seen) : idleQuota(life, seen);
}

function idleRate({ start, end, limits, utilization, outages }: Life, { exchanges }: LifeSeen): string[] {
  if (outages.length > 0) return [];
  const from = start + LEARNED * (end - start);
  const sent = exchanges.filter(({ at }) => at >= from).length;
  const used = sent / (((end - from) / 1_000) * limits.perSecond * utilization);
  return used >= USED ? [] : [`only ${percent(used)} of the rate is used`];
}

/** After an outage that ends before this part of the span there is time to spend the quota. */
const EARLY = 0.6;

function idleQuota(life: Life, { exchanges, polls, ownBefore }: LifeSeen): string[] {
  const { limits, utilization, monthEnds, outages } = life;
  const isLate = outages.some(({ at, length }) => at + length > EARLY);
  if (monthEnds !== 1 || limits.perMonth === undefined || !lastsToMonthEnd(life) || isLate) return [];
  const allowed = Math.floor(limits.perMonth * utilization) - ownBefore;
  const spent = exchanges.filter(({ status }) => status === 200).length;
  const pages = exchanges.filter(({ path }) => path.endsWith('/machine-metrics')).length;
  const perSweep = pages / polls.filter(({ id }) => id === 'machines').length;
  // The rest may be too small for one more poll of each source.
  const least = SPENT * allowed - 2 - 1.3 * perSweep;
  return spent >= least ? [] : [`only ${spent} of ${allowed} are spent, ${percent(spent / allowed)}`];
}

function percent(share: number): string {
  return `${(100 * share).toFixed(1)} %`;
}
