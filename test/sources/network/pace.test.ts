import { describe, expect, it } from 'vitest';
import { allowedPerDay, EMPTY_BUCKET } from '../../../src/budget/bucket.ts';
import { sourceId } from '../../../src/scheduler/entry.ts';
import { pacesOf, type ReadPace } from '../../../src/scheduler/paces.ts';
import { type Config, sourcesOf } from '../../../src/sources/registry.ts';
import { BOTH_CHAINS, defaultConfig } from '../../support/runs/default-config.ts';
import { known } from '../../support/runs/known.ts';
import { DAY, HOUR, NOW } from '../../support/time/timing.ts';

const OCTOBER = Date.UTC(2026, 9, 1);
const TRIAL = { perSecond: 1, perMonth: 1_000 };
const HOBBYIST = { perSecond: 1 };

function configOf(overrides: Partial<Config> = {}): Config {
  const config = defaultConfig();
  const watch = { mainnet: [{ first: 1, last: 1 }], hoodi: overrides.chains ? [{ first: 1, last: 1 }] : [] };
  return { ...config, validators: { ...config.validators, watch }, ...overrides };
}

/** The intervals of the reads of each source, with three machines and one validator on each chain. */
function planned(config: Config, limits: typeof HOBBYIST): Record<string, Record<string, number>> {
  const perDay = allowedPerDay(EMPTY_BUCKET, { utilization: 0.9, ...limits }, OCTOBER);
  const asking = sourcesOf(config).map((source) => known(source, { costs: [1, 1] }));
  const paces = pacesOf(asking, { bucketOf: () => '', allowedPerDay: () => perDay }, NOW);
  const intervals = (reads: ReadonlyMap<string, ReadPace>) =>
    Object.fromEntries([...reads].map(([name, { intervalMs }]) => [name, Math.round(intervalMs)]));
  return Object.fromEntries([...paces].map(([source, reads]) => [sourceId(source), intervals(reads)]));
}

describe('the pace of the network', () => {
  it.each<[string, Config, typeof HOBBYIST, intervals: Record<string, number>]>([
    ['one chain on a trial', configOf(), TRIAL, { duties: DAY }],
    ['two chains on a trial', configOf(BOTH_CHAINS), TRIAL, { duties: DAY }],
    ['one chain on Hobbyist', configOf(), HOBBYIST, { duties: HOUR, queues: HOUR }],
    ['two chains on Hobbyist', configOf(BOTH_CHAINS), HOBBYIST, { duties: HOUR, queues: HOUR }],
    [
      'a longer interval on a trial',
      configOf({ network: { enabled: true, intervalMs: 3 * DAY } }),
      TRIAL,
      { duties: 3 * DAY, queues: 3 * DAY },
    ],
  ])('of %s: the queues only where the budget has room for them', (_, config, limits, intervals) => {
    const paces = planned(config, limits);
    for (const { name } of config.chains) expect(paces[`network-${name}`], name).toEqual(intervals);
  });
});
