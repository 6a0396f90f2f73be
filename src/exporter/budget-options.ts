import type { BudgetOptions } from '../budget/bucket.ts';
import type { Config } from '../config/config.ts';
import { PLANS } from '../lib/plans.ts';

/** The configured budget. */
export function budgetOptionsOf({ budget }: Config): BudgetOptions {
  const { plan, utilization } = budget;
  if (plan === 'auto') return { utilization };
  return { utilization, ...(typeof plan === 'string' ? PLANS[plan] : plan) };
}
