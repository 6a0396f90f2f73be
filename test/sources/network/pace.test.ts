import { describe, expect, it } from 'vitest';
import { allowedPerDay, EMPTY_BUCKET } from '../../../src/budget/bucket.ts';
import type { Config } from '../../../src/config/config.ts';
import { sourcesOf } from '../../../src/exporter/sources.ts';
import { sourceId } from '../../../src/scheduler/entry.ts';
import { pacesOf } from '../../../src/scheduler/schedules.ts';
import { BOTH_CHAINS, defaultConfig } from '../../support/runs/default-config.ts';
import { known } from '../../support/runs/known.ts';
import { runMonth } from '../../support/runs/month.ts';
import { DAY, HOUR, NOW } from '../../support/time/timing.ts';

const OCTOBER = Date.UTC(2026, 9, 1);
const TRIAL = { perSecond: 1, perMonth: 1_000 };
const HOBBYIST = { perSecond: 1 };

function configOf(overrides: Partial<Config> = {}): Config {
  const config = defaultConfig();
  const watch = { mainnet: [{ first: 1, last: 1 }], hoodi: overrides.chains ? [{ first: 1, last: 1 }] : [] };
  return { ...config, validators: { ...config.validators, watch }, ...overrides };
}

/** The interval and the requests a day of each source, with three machines and one validator on each chain. */
function planned(config: Config, limits: typeof HOBBYIST) {
  const perDay = allowedPerDay(EMPTY_BUCKET, { utilization: 0.9, ...limits }, OCTOBER);
  const asking = sourcesOf(config).map((source) => known(source, { costs: [1, 1] }));
  const paces = pacesOf(asking, { bucketOf: () => '', allowedPerDay: () => perDay }, NOW);
  return Object.fromEntries([...paces].map(([source, pace]) => [sourceId(source), pace]));
}

describe('the pace of the network', () => {
  it.each<[string, Config, typeof HOBBYIST, interval: number, requestsPerDay: number]>([
    ['one chain on a trial', configOf(), TRIAL, DAY, 1],
    ['two chains on a trial', configOf(BOTH_CHAINS), TRIAL, DAY, 1],
    ['one chain on Hobbyist', configOf(), HOBBYIST, HOUR, 48],
    ['two chains on Hobbyist', configOf(BOTH_CHAINS), HOBBYIST, HOUR, 48],
    [
      'a longer interval on a trial',
      configOf({ network: { enabled: true, intervalMs: 3 * DAY } }),
      TRIAL,
      3 * DAY,
      2 / 3,
    ],
  ])('of %s: the queues only where the budget has room for them', (_, config, limits, intervalMs, requestsPerDay) => {
    const paces = planned(config, limits);
    for (const { name } of config.chains)
      expect(paces[`network-${name}`], name).toMatchObject({
        intervalMs,
        requestsPerDay: expect.closeTo(requestsPerDay),
      });
  });
  it('a trial month with a watched validator is polled to its last day, and nothing is refused', async () => {
    const { run, refused } = await runMonth({
      start: OCTOBER,
      hours: 31 * 24,
      sandbox: { plan: 'free_trial', machines: 3, slotsPerSlashing: Number.POSITIVE_INFINITY },
      sources: sourcesOf(configOf()),
    });
    expect(refused).toEqual({});
    expect(run.sandbox.account.inMonth).toBeLessThanOrEqual(900);
    for (const { source, entry } of run.scheduler.views())
      expect(entry.lastSuccessAt, source.name).toBeGreaterThan(run.clock.now() - 1.2 * DAY);
    const requests = (path: string): number => run.exchanges.filter((one) => one.path === path).length;
    expect(requests('/api/v2/ethereum/performance-aggregate')).toBe(31);
    expect(requests('/api/v2/ethereum/queues')).toBe(0);
  });
});
