interface Priced {
  readonly requestsPerDay: number;
}

/** The demand of one source. */
export interface Demand<Id, P extends Priced> {
  readonly id: Id;
  /** Its share of a scarce budget relative to the others. */
  readonly weight: number;
  /** Whether it is served before the rest, as cheap daily work is. */
  readonly first: boolean;
  /**
   * The fastest pace, no faster than configured, that costs at most `requestsPerDay` (Infinity: as configured). A
   * larger share must never give a cheaper pace. The pace may cost less than the share if the next faster one costs
   * more.
   */
  fit(requestsPerDay: number): P;
}

/**
 * Divides the allowed requests per day among the sources. If they suffice, each source runs as configured. If not, each
 * gets a share by weight, and what it cannot use of its share goes to the others. The result never costs more than
 * `allowedPerDay`, unless some sources cost more than their share at their slowest.
 *
 * If every source can use a share of any size, a larger budget never slows one of them down. A source with only a few
 * possible paces leaves part of its share to the others until it can afford its next pace; then the others get less.
 */
export function plan<Id, P extends Priced>(demands: readonly Demand<Id, P>[], allowedPerDay: number): Map<Id, P> {
  const first = divide(
    demands.filter((demand) => demand.first),
    allowedPerDay,
  );
  const rest = divide(
    demands.filter((demand) => !demand.first),
    allowedPerDay - costOf(first),
  );
  return new Map([...first, ...rest]);
}

/** The tolerance for rounding errors in shares. */
const ROUNDING = 1e-9;

function divide<Id, P extends Priced>(demands: readonly Demand<Id, P>[], allowedPerDay: number): Map<Id, P> {
  const paces = new Map<Id, P>();
  let open = demands;
  while (open.length > 0) {
    const left = Math.max(0, allowedPerDay - costOf(paces));
    const weights = open.reduce((sum, demand) => sum + demand.weight, 0);
    const offers = open.map((demand) => {
      const share = (left * demand.weight) / weights;
      return { demand, share, pace: demand.fit(share), wanted: demand.fit(Number.POSITIVE_INFINITY).requestsPerDay };
    });
    const satisfied = offers.filter(({ pace, wanted }) => pace.requestsPerDay >= wanted);
    const belowShare = offers.filter(({ pace, share }) => pace.requestsPerDay < share * (1 - ROUNDING));
    // Satisfied sources come first, because what they leave may pay for the next pace of a source that could not use
    // its share.
    const settled = [satisfied, belowShare, offers].find((some) => some.length > 0) ?? [];
    for (const { demand, pace } of settled) paces.set(demand.id, pace);
    open = open.filter((demand) => !paces.has(demand.id));
  }
  return lifted(demands, paces, allowedPerDay);
}

/**
 * Adds up the unused parts of all shares, which may pay for the next pace of a source. The one with the most weight
 * comes first.
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

function costOf<P extends Priced>(paces: ReadonlyMap<unknown, P>): number {
  return [...paces.values()].reduce((sum, { requestsPerDay }) => sum + requestsPerDay, 0);
}
