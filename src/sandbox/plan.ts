/** Requests per second and per UTC calendar month; without `perMonth` the month is not limited. */
export interface PlanLimits {
  readonly perSecond: number;
  readonly perMonth?: number;
}

const PLANS = {
  free_trial: { perSecond: 1, perMonth: 1000 },
  hobbyist: { perSecond: 1 },
  business: { perSecond: 2 },
  scale: { perSecond: 5 },
} as const satisfies Record<string, PlanLimits>;

/** A plan of api-facts 6.2, or agreed limits. */
export type AccountPlan = keyof typeof PLANS | PlanLimits;

export function limitsOf(plan: AccountPlan): PlanLimits {
  return typeof plan === 'string' ? PLANS[plan] : plan;
}
