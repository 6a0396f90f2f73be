/** What something costs. */
interface Priced {
  readonly requestsPerDay: number;
}

/** What somebody wants of the budget. */
export interface Demand<Id, P extends Priced> {
  readonly id: Id;
  /** Share of a scarce budget, against the others. */
  readonly weight: number;
  /** Cheap work of once a day is served before the rest. */
  readonly first: boolean;
  /**
   * The fastest pace, no faster than configured, that costs at most `requestsPerDay` (Infinity: as configured). Must
   * never be slower for a larger share.
   */
  fit(requestsPerDay: number): P;
}

/**
 * Divides what the limits allow per day among the sources. If all fits, each runs as configured. If not, the share of
 * each is by weight, and what a source does not need of its share goes to the others. The demand of the result never
 * exceeds `allowedPerDay`, and a larger budget never makes an interval longer.
 */
export function plan<Id, P extends Priced>(demands: readonly Demand<Id, P>[], allowedPerDay: number): Map<Id, P> {
  const first = demands.filter((demand) => demand.first);
  const rest = demands.filter((demand) => !demand.first);
  const paces = divide(first, allowedPerDay);
  const spent = [...paces.values()].reduce((sum, pace) => sum + pace.requestsPerDay, 0);
  for (const [id, pace] of divide(rest, allowedPerDay - spent)) paces.set(id, pace);
  return paces;
}

function divide<Id, P extends Priced>(demands: readonly Demand<Id, P>[], allowedPerDay: number): Map<Id, P> {
  const paces = new Map<Id, P>();
  let open = demands;
  let left = allowedPerDay;
  for (;;) {
    const weights = open.reduce((sum, demand) => sum + demand.weight, 0);
    const shareOf = (demand: Demand<Id, P>): number => (Math.max(0, left) * demand.weight) / weights;
    const content = open.filter((demand) => demand.fit(Number.POSITIVE_INFINITY).requestsPerDay <= shareOf(demand));
    if (content.length === 0) {
      for (const demand of open) paces.set(demand.id, demand.fit(shareOf(demand)));
      return paces;
    }
    for (const demand of content) {
      const pace = demand.fit(Number.POSITIVE_INFINITY);
      paces.set(demand.id, pace);
      left -= pace.requestsPerDay;
    }
    open = open.filter((demand) => !content.includes(demand));
    if (open.length === 0) return paces;
  }
}
