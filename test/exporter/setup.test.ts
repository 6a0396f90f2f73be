import { expect, it } from 'vitest';
import { EMPTY_BUCKET, NO_WAIT } from '../../src/budget/bucket.ts';
import { emptyLedger, type Ledger } from '../../src/budget/ledger.ts';
import { budgetViewOf, endpointsOf, setupOf } from '../../src/exporter/setup.ts';
import type { Chain } from '../../src/facts/chain.ts';
import { type Config, SOURCE_NAMES, sourcesOf } from '../../src/sources/registry.ts';
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

it('each source has the name of its section of /metrics', () => {
  expect([...new Set(sourcesOf(watching()).map(({ name }) => name))]).toEqual(SOURCE_NAMES);
});

it.each([
  ['none if nothing is watched', CONFIG, []],
  ['all that are on', watching(), ['validators', ...AGGREGATES, 'proposer_slashings', 'sync_committee_members']],
  ['none whose part is off', watching({ status: false, proposerSlashings: false }), ['sync_committee_members']],
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
  expect(
    endpointsOf(sourcesOf(config))
      .filter((endpoint) => OF_WATCHED.has(endpoint))
      .sort(),
  ).toEqual(expected.toSorted());
});

it.each([
  ['auto', ['mainnet']],
  [true, ['mainnet', 'hoodi']],
  [false, []],
] as const)('reads the network where enabled is %s', (enabled, chains) => {
  const sources = sourcesOf({ ...watching(), network: { enabled, intervalMs: HOUR } });
  expect(sources.filter(({ name }) => name === 'network').map(({ chain }) => chain)).toEqual(chains);
  expect(endpointsOf(sources).includes('queues')).toBe(chains.length > 0);
});

it('each read draws from the bucket of its endpoint on the host of its chain', () => {
  const setup = setupOf(watching());
  const ledger: Ledger = {
    ...emptyLedger(),
    buckets: { others: EMPTY_BUCKET, slow: { ...EMPTY_BUCKET, wait: { ...NO_WAIT, until: NOW + HOUR } } },
    otherRoutes: 'others',
    routes: { 'epoch_slots https://other.test': 'slow', 'sync_committee_members https://one.test': 'v1' },
  };
  const { bucketOf, allowedPerDay, quotaOf } = budgetViewOf(setup, ledger, NOW);
  const bucketsOf = (wanted: string, ofChain: Chain): object => {
    const source = setup.sources.find(({ name, chain }) => name === wanted && chain === ofChain);
    return Object.fromEntries(source?.reads.map((read) => [read.name, bucketOf(source, read)]) ?? []);
  };
  expect(bucketsOf('slashings', 'mainnet')).toEqual({ head: 'others', finalized: 'others', blocks: 'others' });
  expect(bucketsOf('slashings', 'hoodi')).toEqual({ head: 'slow', finalized: 'slow' });
  expect(bucketsOf('validators', 'mainnet')).toMatchObject({ status: 'others', members: 'v1' });
  expect(quotaOf('others').closedUntil).toBe(0);
  expect(quotaOf('slow').closedUntil).toBe(NOW + HOUR);
  expect(allowedPerDay('others')).toBe(0.9 * 86_400);
});
