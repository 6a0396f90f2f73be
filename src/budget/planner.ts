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
   * never cost less for a larger share; may cost less than the share, where the next better pace costs more.
   */
  fit(requestsPerDay: number): P;
}

/**
 * Divides what the limits allow per day among the sources. If all fits, each runs as configured. If not, the share of
 * each is by weight, and what a source cannot use of its share goes to the others. The demand of the result never
 * exceeds `allowedPerDay`, unless some cost more than their share at their slowest.
 *
 * Where every source can use any share up to what it wants, a larger budget never gives any of them less. One whose paces
 * lie apart leaves something to the others before it can afford the next pace, and takes it back then.
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

/** A share is a quotient of sums: equal up to a few roundings. */
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
    const content = offers.filter(({ pace, wanted }) => pace.requestsPerDay >= wanted);
    const modest = offers.filter(({ pace, share }) => pace.requestsPerDay < share * (1 - ROUNDING));
    // What the content leave may be enough for the next pace of a modest one: they come first.
    const settled = [content, modest, offers].find((some) => some.length > 0) ?? [];
    for (const { demand, pace } of settled) paces.set(demand.id, pace);
    open = open.filter((demand) => !paces.has(demand.id));
  }
  return lifted(demands, paces, allowedPerDay);
}

/** What nobody could use of a share may together be enough for the next pace of one: of the heaviest, if of any. */
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
