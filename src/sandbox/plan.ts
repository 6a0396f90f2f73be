/** Requests per second and per UTC calendar month; without `perMonth` the month is not limited. */
export interface Limits {
  readonly perSecond: number;
  readonly perMonth?: number;
}

const PLANS = {
  free_trial: { perSecond: 1, perMonth: 1000 },
  hobbyist: { perSecond: 1 },
  business: { perSecond: 2 },
  scale: { perSecond: 5 },
} as const satisfies Record<string, Limits>;

/** A plan of api-facts 6.2, or agreed limits. */
export type Plan = keyof typeof PLANS | Limits;

export function limitsOf(plan: Plan): Limits {
  return typeof plan === 'string' ? PLANS[plan] : plan;
}
