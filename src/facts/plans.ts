/** Without `perMonth` the month is not limited. */
export interface PlanLimits {
  readonly perSecond: number;
  readonly perMonth?: number;
}

/** Limits of the named plans (api-facts 6.2). The quota of the trial is for its 30 days. */
export const PLANS = {
  free_trial: { perSecond: 1, perMonth: 1_000 },
  hobbyist: { perSecond: 1 },
  business: { perSecond: 2 },
  scale: { perSecond: 5 },
} as const satisfies Record<string, PlanLimits>;
