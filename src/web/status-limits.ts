import { isRateWindowRepeated, quotaOf } from '../budget/bucket.ts';
import { LONG_WINDOWS } from '../budget/long-window.ts';
import type { UnixMs } from '../lib/time.ts';
import { absolute, percent, relative } from '../lib/words.ts';
import type { Wait } from '../scheduler/schedules.ts';
import { firing, THRESHOLDS } from '../sources/conditions.ts';
import { type Notice, notice } from '../sources/content.ts';
import type { StatusInput } from './status-input.ts';
import { nameOf } from './status-sources.ts';

const LIMITS = {
  hour: 'the hourly quota',
  month: 'the monthly quota',
  '429': 'the service, which responded with 429',
} as const satisfies Record<Wait['limit'], string>;

export function waitNotices({ views, ledger, budgetOptions }: StatusInput, now: UnixMs): Notice[] {
  const waiting = Map.groupBy(
    views.flatMap((view) => (view.wait ? [{ view, ...view.wait }] : [])),
    ({ limit, until }) => `${LIMITS[limit]}, until ${absolute(until, now)} (${relative(until, now)})`,
  );
  if (waiting.size > 0) {
    return [...waiting].map(([what, group]) => {
      const names = group.map(({ view }) => nameOf(view));
      return firing('SourceWaitsForQuota', names, what);
    });
  }
  const opensAt = Object.values(ledger.buckets).map((bucket) => quotaOf(bucket, budgetOptions, now).opensAt);
  const last = Math.max(0, ...opensAt);
  if (last <= now) return [];
  return [notice('warning', `No requests are allowed now. They resume ${relative(last, now)}.`)];
}

/** As reported by the last responses. An hour that repeats the month is not a real window. */
export function nearlyUsedNotices({ ledger }: StatusInput): Notice[] {
  return Object.values(ledger.buckets).flatMap((bucket) =>
    LONG_WINDOWS.flatMap((window): Notice[] => {
      const { limits, remaining } = bucket;
      const [limit, left] = [limits[window], remaining[window]];
      if (!limit || left === undefined || isRateWindowRepeated(bucket, window)) return [];
      if (window === 'hour' && limit === limits.month) return [];
      if (left / limit >= THRESHOLDS.budget_remaining_ratio) return [];
      return [firing('BudgetNearlyUsed', [window], percent(left / limit))];
    }),
  );
}
