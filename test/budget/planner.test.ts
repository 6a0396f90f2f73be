import { expect, it } from 'vitest';
import { type Demand, plan } from '../../src/budget/planner.ts';

interface Pace {
  readonly requestsPerDay: number;
  readonly configured: boolean;
}

/** A demand that can use any number of requests up to `wanted` a day. */
function demand(id: string, wanted: number, overrides: Partial<Demand<string, Pace>> = {}): Demand<string, Pace> {
  return {
    id,
    weight: 1,
    floor: 0,
    fit: (requestsPerDay) => ({
      requestsPerDay: Math.min(wanted, requestsPerDay),
      configured: wanted <= requestsPerDay,
    }),
    ...overrides,
  };
}

function shares(demands: readonly Demand<string, Pace>[], allowedPerDay: number): Record<string, number> {
  return Object.fromEntries([...plan(demands, allowedPerDay)].map(([id, pace]) => [id, pace.requestsPerDay]));
}

it('divides a scarce budget by weight, and then the unused parts of shares by weight', () => {
  const demands = [demand('a', 1_000, { weight: 3 }), demand('b', 1_000), demand('small', 4, { weight: 4 })];
  expect(shares(demands, 64)).toEqual({ a: 45, b: 15, small: 4 });
});

it('pays the floor of each demand first, in proportion if the budget is below their sum', () => {
  const small = demand('small', 1_000, { floor: 1, weight: 0.1 });
  const large = demand('large', 1_000, { floor: 1, weight: 99.9 });
  expect(shares([small, large], 100)).toEqual({ small: 1, large: 99 });
  expect(shares([small, large], 1)).toEqual({ small: 0.5, large: 0.5 });
  expect(shares([small, large], 0)).toEqual({ small: 0, large: 0 });
  expect(
    shares(
      [
        demand('all', 95, { weight: 100 }),
        ...['a', 'b', 'c', 'd', 'e', 'f'].map((id) => demand(id, 9, { floor: 1, weight: 0.1 })),
      ],
      100,
    ),
  ).toMatchObject({ all: 94, a: 1, f: 1 });
});

/** A demand whose paces cost one of `costs`. */
const steps = (id: string, costs: readonly number[], weight = 1): Demand<string, Pace> =>
  demand(id, 0, {
    weight,
    fit: (share) => {
      const requestsPerDay = costs.findLast((cost) => cost <= share) ?? 0;
      return { requestsPerDay, configured: requestsPerDay === costs.at(-1) };
    },
  });

it('gives the rest of a share to the others if it does not pay for the next pace', () => {
  expect(shares([steps('a', [20, 90]), demand('b', 1_000)], 100)).toEqual({ a: 20, b: 80 });
  expect(shares([steps('a', [20, 90]), steps('b', [10, 30]), demand('c', 1_000)], 90)).toEqual({
    a: 20,
    b: 30,
    c: 40,
  });
});

it('raises a pace with the unused parts of all shares, the heaviest demand first', () => {
  expect(shares([steps('a', [20, 70]), demand('b', 30)], 100)).toEqual({ a: 70, b: 30 });
  expect(shares([steps('a', [20, 70]), steps('b', [20, 70], 1.1)], 100)).toEqual({ a: 20, b: 70 });
  expect(shares([steps('a', [20, 70]), steps('b', [20, 70])], 139)).toEqual({ a: 70, b: 20 });
});
