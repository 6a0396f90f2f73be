import { describe, expect, it } from 'vitest';
import { allowedPerDay, EMPTY_BUCKET } from '../../src/budget/bucket.ts';
import { pacesOf } from '../../src/scheduler/paces.ts';
import { sourcesOf } from '../../src/sources/registry.ts';
import type { Source } from '../../src/sources/source.ts';
import { defaultConfig } from '../support/runs/default-config.ts';
import { known } from '../support/runs/known.ts';
import { MINUTE, NOW } from '../support/time/timing.ts';

const OCTOBER = Date.UTC(2026, 9, 1);
const CHAINS = ['mainnet', 'hoodi'] as const;

/** From 1,000 to 1,000,000, each 12 % larger than the one before, and those at which a third was once left idle. */
const QUOTAS = [
  ...Array.from({ length: 61 }, (_, i) => Math.round(1_000 * 10 ** (i / 20))),
  20_000,
  25_000,
  30_000,
  35_481,
];

/** Requests of one sweep of 1 or 3, 50 and 1,000 machines (docs/budget.md). */
const SWEEPS = [1, 7, 126];

function sources(chains: number, slashingsMs: number): Source[] {
  const base = defaultConfig();
  return sourcesOf({
    ...base,
    chains: CHAINS.slice(0, chains).map((name) => ({ name, v1BaseUrl: '' })),
    slashings: { ...base.slashings, intervalMs: slashingsMs },
  });
}

/** The planned, allowed and demanded requests of a monthly quota. */
function planned(of: readonly Source[], sweep: number, perMonth: number) {
  const allowed = allowedPerDay(EMPTY_BUCKET, { utilization: 0.9, perSecond: 1_000, perMonth }, OCTOBER);
  const asking = of.map((source) => known(source, { costs: Array(2).fill(source.name === 'machines' ? sweep : 1) }));
  const demandOf = (perDay: number): number =>
    [...pacesOf(asking, { bucketOf: () => '', allowedPerDay: () => perDay }, NOW).values()]
      .flatMap((reads) => [...reads.values()])
      .reduce((sum, { requestsPerDay }) => sum + requestsPerDay, 0);
  return { allowed, demand: demandOf(Number.POSITIVE_INFINITY), planned: demandOf(allowed) };
}

describe('budget/planner: share', () => {
  describe.each([1, 2])('of a monthly quota on %i chains', (chains) => {
    it.each(SWEEPS)('is planned to at least 97 % if demand exceeds it, with sweeps of %i requests', (sweep) => {
      const idle = QUOTAS.map((quota) => ({ quota, ...planned(sources(chains, MINUTE), sweep, quota) }))
        .filter(({ demand, allowed }) => demand > allowed)
        .filter(({ planned, allowed }) => planned < 0.97 * allowed || planned > 1.000_001 * allowed);
      expect(idle).toEqual([]);
    });
  });
});
