import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { sourceId } from '../../src/scheduler/entry.ts';
import { pacesOf, type ReadPace } from '../../src/scheduler/paces.ts';
import type { Read } from '../../src/sources/read.ts';
import { sourcesOf } from '../../src/sources/registry.ts';
import type { Source } from '../../src/sources/source.ts';
import { defaultConfig } from '../support/runs/default-config.ts';
import { known } from '../support/runs/known.ts';
import { DAY, HOUR, MINUTE, NOW } from '../support/time/timing.ts';
import { cases, PATIENT } from '../support/vitest/fuzz.ts';

/** A share is a quotient of sums: equal up to a few roundings. */
const EXACT = 1e-9;

interface Setting {
  readonly intervalMs: number;
  readonly enabled: boolean;
}

interface Setup {
  readonly chains: ('mainnet' | 'hoodi')[];
  readonly machines: Setting;
  readonly dailyReturns: Setting;
  readonly slashings: Setting;
  readonly syncCommittee: Setting;
  /** Requests of one sweep. */
  readonly sweep: number;
}

type SourceKey = 'machines' | 'dailyReturns' | 'slashings' | 'syncCommittee';
const KEYS: readonly SourceKey[] = ['machines', 'dailyReturns', 'slashings', 'syncCommittee'];

const setting = fc.record({
  intervalMs: fc.oneof(
    fc.constantFrom(1_000, MINUTE, 384_000, HOUR, DAY, 40 * DAY),
    fc.integer({ min: 1_000, max: 2 * DAY }),
  ),
  enabled: fc.boolean(),
});

const setup: fc.Arbitrary<Setup> = fc.record({
  chains: fc.constantFrom<Setup['chains'][]>(['mainnet'], ['hoodi'], ['mainnet', 'hoodi']),
  machines: setting,
  dailyReturns: setting,
  slashings: setting,
  syncCommittee: setting,
  sweep: fc.integer({ min: 1, max: 400 }),
});

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

/** The pace of each read that is on. */
function pacesIn(given: Setup, allowedPerDay: number): Paced[] {
  const sources = sourcesIn(given).map((source) =>
    known(source, { costs: Array(2).fill(source.name === 'machines' ? given.sweep : 1) }),
  );
  const paces = pacesOf(sources, { bucketOf: () => 'default', allowedPerDay: () => allowedPerDay }, NOW);
  return sources.flatMap(({ source }) =>
    source.reads.flatMap((read): Paced[] => {
      const pace = paces.get(source)?.get(read.name);
      return pace ? [[`${sourceId(source)} ${read.name}`, read, pace]] : [];
    }),
  );
}

function demandOf(paces: readonly Paced[]): number {
  return paces.reduce((sum, [, , pace]) => sum + pace.requestsPerDay, 0);
}

describe('budget/planner: property', PATIENT, () => {
  it('never plans more than is allowed, except for sources whose interval cannot be longer', () => {
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

  it('is as configured wherever that fits, and never faster than configured', () => {
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
