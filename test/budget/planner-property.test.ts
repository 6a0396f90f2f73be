import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { allowedPerDay, EMPTY_BUCKET } from '../../src/budget/bucket.ts';
import { sourceId } from '../../src/scheduler/entry.ts';
import { pacesOf, type ReadPace } from '../../src/scheduler/paces.ts';
import type { Read } from '../../src/sources/read.ts';
import { sourcesOf } from '../../src/sources/registry.ts';
import type { Source } from '../../src/sources/source.ts';
import { defaultConfig } from '../support/runs/default-config.ts';
import { known } from '../support/runs/known.ts';
import { DAY, HOUR, MINUTE, NOW } from '../support/time/timing.ts';
import { cases, PATIENT } from '../support/vitest/fuzz.ts';
import { OCTOBER } from './told.ts';

/** A share is a quotient of sums, so it is exact up to a few roundings. */
const EXACT = 1e-9;

const KEYS = ['machines', 'dailyReturns', 'slashings', 'syncCommittee'] as const;

const setting = fc.record({
  intervalMs: fc.oneof(
    fc.constantFrom(1_000, MINUTE, 384_000, HOUR, DAY, 40 * DAY),
    fc.integer({ min: 1_000, max: 2 * DAY }),
  ),
  enabled: fc.boolean(),
});

const setup = fc.record({
  chains: fc.constantFrom<('mainnet' | 'hoodi')[][]>(['mainnet'], ['hoodi'], ['mainnet', 'hoodi']),
  machines: setting,
  dailyReturns: setting,
  slashings: setting,
  syncCommittee: setting,
  /** Requests of one sweep. */
  sweep: fc.integer({ min: 1, max: 400 }),
});
type Setup = typeof setup extends fc.Arbitrary<infer T> ? T : never;

/** Requests a day: from nothing to more than the largest plan. */
const budget = fc.oneof(
  fc.constantFrom(0, 1, 29, 225, 450, 675, 1_780, 77_760),
  fc.double({ min: 0, max: 100, noNaN: true }),
  fc.double({ min: 0, max: 1_000_000, noNaN: true }),
);

function sourcesIn(given: Setup): Source[] {
  const base = defaultConfig();
  const chains = given.chains.map((name) => ({ name, v1BaseUrl: 'http://v1' }));
  const settings = Object.fromEntries(KEYS.map((key) => [key, { ...base[key], ...given[key] }]));
  return sourcesOf({ ...base, chains, ...settings });
}

type Paced = readonly [id: string, read: Read<unknown>, pace: ReadPace];

/** The pace of each read that is on. `sweep`: requests of one sweep. */
function paced(sources: readonly Source[], sweep: number, perDay: number): Paced[] {
  const asking = sources.map((source) =>
    known(source, { costs: Array(2).fill(source.name === 'machines' ? sweep : 1) }),
  );
  const paces = pacesOf(asking, { bucketOf: () => 'default', allowedPerDay: () => perDay }, NOW);
  return sources.flatMap((source) =>
    source.reads.flatMap((read): Paced[] => {
      const pace = paces.get(source)?.get(read.name);
      return pace ? [[`${sourceId(source)} ${read.name}`, read, pace]] : [];
    }),
  );
}

function pacesIn(given: Setup, perDay: number): Paced[] {
  return paced(sourcesIn(given), given.sweep, perDay);
}

function demandOf(paces: readonly Paced[]): number {
  return paces.reduce((sum, [, , pace]) => sum + pace.requestsPerDay, 0);
}

describe('budget/planner: property', PATIENT, () => {
  it('never plans more than is allowed, except for reads at their longest interval', () => {
    fc.assert(
      fc.property(setup, budget, (given, allowed) => {
        const paces = pacesIn(given, allowed);
        const slowest = paces.filter(([, { everyMs }, pace]) => pace.intervalMs >= Math.max(31 * DAY, everyMs));
        expect(demandOf(paces)).toBeLessThanOrEqual((allowed + demandOf(slowest)) * (1 + EXACT));
        expect(paces.every(([, , pace]) => Number.isFinite(pace.intervalMs) && pace.requestsPerDay >= 0)).toBe(true);
      }),
      cases(200),
    );
  });

  it('plans the configured intervals if they fit, and never shorter ones', () => {
    fc.assert(
      fc.property(setup, budget, fc.double({ min: 0, max: 3, noNaN: true }), (given, allowed, spare) => {
        const configured = pacesIn(given, Number.POSITIVE_INFINITY);
        for (const [id, { everyMs }, pace] of configured) expect(pace.intervalMs, id).toBe(everyMs);
        const wanted = demandOf(configured);
        const pacesOnly = (all: readonly Paced[]) => all.map(([id, , pace]) => [id, pace]);
        expect(pacesOnly(pacesIn(given, wanted * (1 + EXACT + spare)))).toEqual(pacesOnly(configured));
        for (const [id, { everyMs }, pace] of pacesIn(given, allowed)) {
          expect(pace.intervalMs, id).toBeGreaterThanOrEqual(everyMs * (1 - EXACT));
        }
      }),
      cases(200),
    );
  });
});

/** From 1,000 to 1,000,000 in steps of 12 %, and those at which a third was once left idle. */
const QUOTAS = [
  ...Array.from({ length: 61 }, (_, i) => Math.round(1_000 * 10 ** (i / 20))),
  ...[20_000, 25_000, 30_000, 35_481],
];

describe('budget/planner: share', () => {
  describe.each([1, 2])('of a monthly quota on %i chains', (chains) => {
    const base = defaultConfig();
    const sources = sourcesOf({
      ...base,
      chains: (['mainnet', 'hoodi'] as const).slice(0, chains).map((name) => ({ name, v1BaseUrl: '' })),
      slashings: { ...base.slashings, intervalMs: MINUTE },
      validators: { ...base.validators, watch: { mainnet: [{ first: 1, last: 1 }], hoodi: [] } },
    });

    it('shortens intervals evenly as the month grows from 500 to 20,000', () => {
      const months = Array.from({ length: 187 }, (_, i) => paced(sources, 1, (500 * 1.02 ** i * 0.9) / 30));
      const odd = months.slice(1).flatMap((paces, i) => {
        const before = new Map(months[i]?.map(([id, , { intervalMs }]) => [id, intervalMs]));
        const falls = paces.map(
          ([id, , { intervalMs }]) => [id, intervalMs / (before.get(id) ?? intervalMs), i] as const,
        );
        // The interval of slashings falls the fastest where their weight begins to rise.
        return falls.filter(([, to]) => to > 1 + EXACT || to < 0.85);
      });
      expect(odd).toEqual([]);
    });

    // Requests of one sweep of 1 or 3, 50 and 1,000 machines (docs/budget.md).
    it.each([1, 7, 126])(
      'is planned to at least 97 % if demand exceeds the quota, with sweeps of %i requests',
      (sweep) => {
        const demand = demandOf(paced(sources, sweep, Number.POSITIVE_INFINITY));
        const idle = QUOTAS.map((perMonth) => {
          const allowed = allowedPerDay(EMPTY_BUCKET, { utilization: 0.9, perSecond: 1_000, perMonth }, OCTOBER);
          return { perMonth, demand, allowed, planned: demandOf(paced(sources, sweep, allowed)) };
        })
          .filter(({ demand, allowed }) => demand > allowed)
          .filter(({ planned, allowed }) => planned < 0.97 * allowed || planned > 1.000_001 * allowed);
        expect(idle).toEqual([]);
      },
    );
  });
});
