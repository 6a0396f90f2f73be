import { describe, expect, it } from 'vitest';
import { EMPTY_BUCKET, NO_WAIT } from '../../src/budget/bucket.ts';
import { emptyLedger, type Ledger } from '../../src/budget/ledger.ts';
import type { Config } from '../../src/config/config.ts';
import {
  budgetViewOf,
  endpointsOf,
  endpointsOn,
  planOf,
  SOURCE_NAMES,
  type SourcePlan,
} from '../../src/exporter/sources.ts';
import { sourceId } from '../../src/scheduler/entry.ts';
import { defaultConfig } from '../support/runs/default-config.ts';
import { HOUR, NOW } from '../support/time/timing.ts';

const CONFIG: Config = {
  ...defaultConfig(),
  chains: [
    { name: 'mainnet', v1BaseUrl: 'https://one.test' },
    { name: 'hoodi', v1BaseUrl: 'https://other.test' },
  ],
};

const AGGREGATES = ['validators_performance', 'validators_rewards'];
const OF_WATCHED = new Set(['validators', ...AGGREGATES, 'proposer_slashings', 'sync_committee_members']);

function watching(settings: Partial<Config['validators']> = {}): Config {
  const watch = { mainnet: [{ first: 7, last: 7 }], hoodi: [] };
  return { ...CONFIG, validators: { ...CONFIG.validators, watch, ...settings } };
}

function sourceIn({ sources }: SourcePlan, id: string) {
  const source = sources.find((one) => sourceId(one) === id);
  if (!source) throw new TypeError(`no source ${id}`);
  return source;
}

describe('exporter/sources', () => {
  it('names each source as its section of /metrics', () => {
    const { sources } = planOf(watching());
    expect([...new Set(sources.map(({ name }) => name))]).toEqual(SOURCE_NAMES);
  });

  it.each([
    ['none where nothing is watched', CONFIG, []],
    ['all that are on', watching(), ['validators', ...AGGREGATES, 'proposer_slashings', 'sync_committee_members']],
    ['none that is off', watching({ status: false, proposerSlashings: false }), ['sync_committee_members']],
    [
      'no seats, if these are off',
      watching({ syncCommittee: false, proposerSlashings: false }),
      ['validators', ...AGGREGATES],
    ],
    [
      'no rewards, if these are off',
      watching({ syncCommittee: false, proposerSlashings: false, rewards: false }),
      ['validators', 'validators_performance'],
    ],
  ])('counts requests to endpoints of watched validators: %s', (_, config, expected) => {
    const { sources } = planOf(config);
    expect(
      endpointsOf(sources)
        .filter((endpoint) => OF_WATCHED.has(endpoint))
        .sort(),
    ).toEqual(expected.toSorted());
    const ofMainnet = endpointsOn(config, 'mainnet').filter((endpoint) => OF_WATCHED.has(endpoint));
    expect(ofMainnet.sort()).toEqual(expected.toSorted());
    expect(endpointsOn(config, undefined)).toEqual(['machine_metrics', 'machine_names']);
  });

  it.each([
    ['auto', ['mainnet']],
    [true, ['mainnet', 'hoodi']],
    [false, []],
  ] as const)('reads the network where enabled is %s', (enabled, chains) => {
    const { sources } = planOf({ ...watching(), network: { enabled, intervalMs: HOUR } });
    expect(sources.filter(({ name }) => name === 'network').map(({ chain }) => chain)).toEqual(chains);
    expect(endpointsOf(sources).includes('queues')).toBe(chains.length > 0);
  });

  it('each source draws from the bucket of its route: the endpoint on the host that the chain has', () => {
    const given = planOf(CONFIG);
    const ledger: Ledger = {
      ...emptyLedger(),
      buckets: { others: EMPTY_BUCKET, slow: { ...EMPTY_BUCKET, wait: { ...NO_WAIT, until: NOW + HOUR } } },
      otherRoutes: 'others',
      routes: { 'epoch_slots https://other.test': 'slow' },
    };
    const { bucketOf, allowedPerDay, quotaOf } = budgetViewOf(given, ledger, NOW);
    expect(bucketOf(sourceIn(given, 'slashings-mainnet'))).toBe('others');
    expect(bucketOf(sourceIn(given, 'slashings-hoodi'))).toBe('slow');
    expect(quotaOf('others').closedUntil).toBe(0);
    expect(quotaOf('slow').closedUntil).toBe(NOW + HOUR);
    expect(allowedPerDay('others')).toBe(0.9 * 86_400);
  });
});
