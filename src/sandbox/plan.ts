import { PLANS, type PlanLimits } from '../facts/plans.ts';

/** A plan of api-facts 6.2, or agreed limits. */
export type AccountPlan = keyof typeof PLANS | PlanLimits;

export function limitsOf(plan: AccountPlan): PlanLimits {
  return typeof plan === 'string' ? PLANS[plan] : plan;
}
