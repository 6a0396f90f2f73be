import type { BudgetOptions } from '../budget/bucket.ts';
import type { Config } from '../config/config.ts';

/** Limits of the named plans (api-facts 6.2). The quota of the trial is for its 30 days. */
const PLANS = {
  free_trial: { perSecond: 1, perMonth: 1_000 },
  hobbyist: { perSecond: 1 },
  business: { perSecond: 2 },
  scale: { perSecond: 5 },
} as const satisfies Record<string, Omit<BudgetOptions, 'utilization'>>;

/** The configured budget. */
export function budgetOptionsOf({ budget }: Config): BudgetOptions {
  const { plan, utilization } = budget;
  if (plan === 'auto') return { utilization };
  return { utilization, ...(typeof plan === 'string' ? PLANS[plan] : plan) };
}
