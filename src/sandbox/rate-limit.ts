import { PLANS, type PlanLimits } from '../facts/plans.ts';
import type { UnixMs } from '../toolkit/lib/time.ts';

/** A plan of api-facts 6.2, or agreed limits. */
export type AccountPlan = keyof typeof PLANS | PlanLimits;

export function limitsOf(plan: AccountPlan): PlanLimits {
  return typeof plan === 'string' ? PLANS[plan] : plan;
}

/** The limits after access was revoked (api-facts 6.3). */
export const NO_ACCESS: PlanLimits = { perSecond: 0, perMonth: 0 };

export interface Usage {
  secondOpenedAt: UnixMs;
  inSecond: number;
  monthEndsAt: UnixMs;
  inMonth: number;
}

/** Counts requests of any user of the account in both windows. The window of a second opens with its first request. */
export function spend(usage: Usage, requests: number, now: UnixMs): void {
  // Also after the clock was set back, because a window in the future would never end.
  if (now >= usage.secondOpenedAt + 1000 || now < usage.secondOpenedAt) {
    usage.secondOpenedAt = now;
    usage.inSecond = 0;
  }
  const date = new Date(now);
  const monthEndsAt = Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + 1);
  if (monthEndsAt !== usage.monthEndsAt) {
    usage.monthEndsAt = monthEndsAt;
    usage.inMonth = 0;
  }
  usage.inSecond += requests;
  usage.inMonth += requests;
}

/** Charges one request and returns the headers of its answer (api-facts 6.1). A 429 is refunded, after they showed it. */
export function charge(usage: Usage, limits: PlanLimits, now: UnixMs) {
  spend(usage, 1, now);
  const { perSecond, perMonth = perSecond } = limits;
  const isMonthLimited = limits.perMonth !== undefined;
  const leftInSecond = Math.max(0, perSecond - usage.inSecond);
  const leftInMonth = isMonthLimited ? Math.max(0, perMonth - usage.inMonth) : leftInSecond;
  const overMonth = isMonthLimited && usage.inMonth > perMonth;
  const refused = overMonth || usage.inSecond > perSecond;
  if (refused) usage.inMonth -= 1;
  // The headers report the longest window that is exceeded. Its rest is rounded down to whole seconds, as by the service: a
  // caller that waits exactly this long can be too early.
  const reset = overMonth ? Math.floor((usage.monthEndsAt - now) / 1000) : 1;
  return {
    refused,
    headers: {
      'ratelimit-limit': String(overMonth ? perMonth : perSecond),
      'ratelimit-remaining': String(overMonth ? 0 : leftInSecond),
      'ratelimit-reset': String(reset),
      'ratelimit-window': overMonth ? 'month' : 'second',
      ...(refused ? { 'retry-after': String(reset) } : {}),
      ...perWindow('limit', perSecond, perMonth),
      ...perWindow('remaining', leftInSecond, leftInMonth),
    },
  };
}

/** Only second and month exist; the windows between them repeat the month's figures. */
function perWindow(what: 'limit' | 'remaining', second: number, month: number): Record<string, string> {
  const longer = ['minute', 'hour', 'day', 'month'].map((window) => [`x-ratelimit-${what}-${window}`, String(month)]);
  return { [`x-ratelimit-${what}-second`]: String(second), ...Object.fromEntries(longer) };
}
