/** The tolerance for rounding errors in shares. */
const ROUNDING = 1e-9;

interface Priced {
  readonly requestsPerDay: number;
}

/** The demand of one source. */
export interface Demand<Id, P extends Priced> {
  readonly id: Id;
  /** Its relative share of a scarce budget. */
  readonly weight: number;
  /** Requests a day that come before all shares, for cheap daily work. */
  readonly floor: number;
  /**
   * The fastest pace, no faster than configured, that costs at most `requestsPerDay` (Infinity: as configured). A larger share must
   * never give a cheaper pace. The pace costs less than the share if the next faster pace would cost more.
   */
  fit(requestsPerDay: number): P;
}

/**
 * Divides the allowed requests per day among the sources. If they suffice, each source runs as configured. Otherwise each gets a share by
 * weight, at least its floor, and the others get what it cannot use. The result costs at most `allowedPerDay`, unless some sources cost
 * more than their share at their slowest.
 *
 * If every source can use any share, a larger budget never slows a source down. A source with only a few possible paces leaves part of
 * its share to the others until it can afford its next pace; then the others get less.
 */
export function plan<Id, P extends Priced>(demands: readonly Demand<Id, P>[], allowedPerDay: number): Map<Id, P> {
  const paces = new Map<Id, P>();
  const floors = demands.reduce((sum, { floor }) => sum + floor, 0);
  const affordable = floors > allowedPerDay ? allowedPerDay / floors : 1;
  let open = demands;
  while (open.length > 0) {
    const left = Math.max(0, allowedPerDay - costOf(paces));
    const weights = open.reduce((sum, demand) => sum + demand.weight, 0);
    const offers = open.map((demand) => {
      const [floor, byWeight] = [demand.floor * affordable, (left * demand.weight) / weights];
      const share = Math.max(floor, byWeight);
      const pace = demand.fit(share);
      const isSatisfied = pace.requestsPerDay >= demand.fit(Number.POSITIVE_INFINITY).requestsPerDay;
      return { demand, share, pace, isSatisfied, isAtFloor: floor > byWeight, added: pace.requestsPerDay - byWeight };
    });
    const satisfied = offers.filter(({ isSatisfied }) => isSatisfied);
    const atFloor = offers.filter(({ isAtFloor }) => isAtFloor);
    const belowShare = offers.filter(({ pace, share }) => pace.requestsPerDay < share * (1 - ROUNDING));
    // If satisfied sources leave more than the floors add, a source at its floor may get more by weight. Otherwise its interval
    // would jump when the share exceeds the floor.
    const added = offers.reduce((sum, one) => (one.isSatisfied || one.isAtFloor ? sum + one.added : sum), 0);
    const firsts = added < 0 ? satisfied : atFloor;
    // What satisfied sources leave may pay for the next pace of a source that could not use its share.
    const settled = [firsts, satisfied, belowShare, offers].find((some) => some.length > 0) ?? [];
    for (const { demand, pace } of settled) paces.set(demand.id, pace);
    open = open.filter((demand) => !paces.has(demand.id));
  }
  return lifted(demands, paces, allowedPerDay);
}

/**
 * Adds up the unused parts of all shares, which may pay for the next pace of a source, the heaviest source first.
 */
function lifted<Id, P extends Priced>(
  demands: readonly Demand<Id, P>[],
  given: ReadonlyMap<Id, P>,
  allowedPerDay: number,
): Map<Id, P> {
  const paces = new Map(given);
  for (const demand of demands.toSorted((a, b) => b.weight - a.weight)) {
    const cost = paces.get(demand.id)?.requestsPerDay ?? 0;
    const left = Math.max(0, allowedPerDay - costOf(paces));
    const better = demand.fit(cost + left);
    if (better.requestsPerDay > cost * (1 + ROUNDING)) paces.set(demand.id, better);
  }
  return paces;
}

export function costOf(paces: Iterable<readonly [unknown, Priced]>): number {
  return [...paces].reduce((sum, [, { requestsPerDay }]) => sum + requestsPerDay, 0);
}
