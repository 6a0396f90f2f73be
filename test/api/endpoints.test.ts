import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { ENDPOINT_NAMES, type Endpoint, freshnessAfter, type Query, requestTo } from '../../src/api/endpoints.ts';
import { epochEnd } from '../../src/facts/chain.ts';
import { refusalOf } from '../support/answers/known-request.ts';
import { HOUR } from '../support/time/timing.ts';

/** The body as text, copied from the documents and recordings. */
type FormOf<E extends Endpoint> = readonly [endpoint: E, query: Query<E>, path: string, body?: string, accept?: string];
type Form = { [E in Endpoint]: FormOf<E> }[Endpoint];

const chain = 'mainnet';
const METRICS = '/api/v2/machine-metrics';
const ETHEREUM = '/api/v2/ethereum';
const range = { start: 1, end: 2 };
const epoch = { chain, priority: 'head_pass' } as const;

/** The forms of docs/internals/api-facts.md: those of recordings, documents and other public clients. */
const FORMS: readonly Form[] = [
  ['machine_metrics', { range }, METRICS, '{"range":{"timestamp":{"start":1,"end":2}},"page_size":10}'],
  [
    'machine_metrics',
    { range, names: ['a'], cursor: 'x' },
    METRICS,
    '{"range":{"timestamp":{"start":1,"end":2}},"machines":["a"],"page_size":10,"cursor":"x"}',
  ],
  ['machine_names', {}, `${METRICS}/machine-names`, '{}'],
  [
    'daily_returns',
    { chain, path: '/api/v2/ethereum/benchmark-store', range: { window: '24h' } },
    `${ETHEREUM}/benchmark-store`,
    '{"chain":"mainnet","range":{"evaluation_window":"24h"},"page_size":10}',
  ],
  [
    'daily_returns',
    { chain, path: '/api/v2/ethereum/eth-store', range, cursor: 'x' },
    `${ETHEREUM}/eth-store`,
    '{"chain":"mainnet","range":{"timestamp":{"start":1,"end":2}},"page_size":10,"cursor":"x"}',
  ],
  [
    'sync_committee',
    { chain },
    `${ETHEREUM}/sync-committee`,
    '{"sync_committee_period":{"view":"latest"},"chain":"mainnet"}',
  ],
  [
    'validators',
    { chain, identifiers: [5235] },
    `${ETHEREUM}/validators`,
    '{"chain":"mainnet","validator":{"validator_identifiers":[5235]},"page_size":10}',
  ],
  [
    'validators',
    { chain, identifiers: [5235, `0x${'ab'.repeat(48)}`] },
    `${ETHEREUM}/validators`,
    `{"chain":"mainnet","validator":{"validator_identifiers":[5235,"0x${'ab'.repeat(48)}"]},"page_size":10}`,
  ],
  [
    'validators_performance',
    { chain, identifiers: [5235] },
    `${ETHEREUM}/validators/performance-aggregate`,
    '{"chain":"mainnet","validator":{"validator_identifiers":[5235]},"range":{"evaluation_window":"24h"}}',
  ],
  [
    'validators_rewards',
    { chain, identifiers: [5235] },
    `${ETHEREUM}/validators/rewards-aggregate`,
    '{"chain":"mainnet","validator":{"validator_identifiers":[5235]},"range":{"evaluation_window":"24h"}}',
  ],
  [
    'block_rewards',
    { chain, number: 22199466 },
    `${ETHEREUM}/block/rewards`,
    '{"chain":"mainnet","block":{"number":22199466}}',
  ],
  [
    'validators_performance_list',
    { chain, identifiers: [5235], epoch: 490_000, priority: 'background' },
    `${ETHEREUM}/validators/performance-list`,
    '{"chain":"mainnet","validator":{"validator_identifiers":[5235]},"epoch":490000,"page_size":10}',
  ],
  [
    'validators_rewards_list',
    { chain, identifiers: [5235], epoch: 490_000, cursor: 'x', priority: 'catch_up' },
    `${ETHEREUM}/validators/rewards-list`,
    '{"chain":"mainnet","validator":{"validator_identifiers":[5235]},"epoch":490000,"page_size":10,"cursor":"x"}',
  ],
  [
    'network_performance',
    { chain },
    `${ETHEREUM}/performance-aggregate`,
    '{"chain":"mainnet","range":{"evaluation_window":"24h"}}',
  ],
  ['queues', { chain }, `${ETHEREUM}/queues`, '{"chain":"mainnet"}', 'application/vnd.beaconcha.in.v2.1+json'],
  ['epoch_slots', { ...epoch, epoch: 'latest' }, '/api/v1/epoch/latest/slots'],
  ['epoch_slots', { ...epoch, epoch: 'finalized' }, '/api/v1/epoch/finalized/slots'],
  ['epoch_slots', { ...epoch, epoch: 7 }, '/api/v1/epoch/7/slots'],
  ['attester_slashings', { chain, slot: 7 }, '/api/v1/slot/7/attesterslashings'],
  ['proposer_slashings', { chain, slot: 7 }, '/api/v1/slot/7/proposerslashings'],
  ['sync_committee_members', { chain, period: 'latest' }, '/api/v1/sync_committee/latest'],
  ['sync_committee_members', { chain, period: 'next' }, '/api/v1/sync_committee/next'],
  ['sync_committee_members', { chain, period: 7 }, '/api/v1/sync_committee/7'],
];

const FACTS = readFileSync(join(import.meta.dirname, '../../docs/internals/api-facts.md'), 'utf8');

/** The rows of its table of evidence, with the abbreviations written out. */
const EVIDENCE = FACTS.split('\n')
  .filter((line) => line.startsWith('| `/api/'))
  .map((line) => {
    const [, paths = '', request = ''] = line.split('|');
    const patterns = [...paths.matchAll(/`(.+?)`/g)].map(([, path = '']) =>
      path.replace('N', '\\d+').replace(/\{(.+?)\}/, (_, choice: string) => `(${choice.replaceAll(',', '|')})`),
    );
    return {
      isOf: (path: string) => patterns.some((pattern) => new RegExp(`^${pattern}$`).test(path)),
      request: request.replace(
        /[A-Z]{6,}/g,
        (name) => new RegExp(`\`${name}\` is\\s\`(.+?)\``).exec(FACTS)?.[1] ?? name,
      ),
    };
  });

it('has a form for each endpoint', () => {
  expect(new Set(FORMS.map(([endpoint]) => endpoint))).toEqual(new Set(ENDPOINT_NAMES));
});

it.for(FORMS)('api-facts.md has evidence of %s: %j %s %s', ([, , path, body, accept = '']) => {
  const row = EVIDENCE.find(({ isOf }) => isOf(path));
  expect(row?.request).toContain(body === undefined ? 'no body' : accept);
  for (const [key] of (body ?? '').matchAll(/"\w+":/g)) expect(row?.request).toContain(key);
});

it.for(FORMS)('asks %s in the documented form: %j %s %s', ([endpoint, query, path, body, accept]) => {
  const request = requestTo(endpoint, query as never);
  expect([request.path, request.accept]).toEqual([path, accept]);
  expect(JSON.parse(JSON.stringify(request.body ?? null))).toEqual(JSON.parse(body ?? 'null'));
  // The table of the sandbox was written apart from that of the client.
  for (const form of [undefined, accept]) expect(refusalOf({ path, body, accept: form })).toBeUndefined();
});

it.each([
  ['identifiers beside the chain', `${ETHEREUM}/validators`, '{"chain":"mainnet","validator_identifiers":[5]}'],
  ['identifiers as text', `${ETHEREUM}/validators`, '{"chain":"mainnet","validator":{"validator_identifiers":["5"]}}'],
  ['no range', METRICS, '{"page_size":10}'],
  ['a range that ends before it starts', METRICS, '{"range":{"timestamp":{"start":2,"end":1}},"page_size":10}'],
  [
    'two ranges',
    `${ETHEREUM}/benchmark-store`,
    '{"chain":"mainnet","range":{"evaluation_window":"7d","timestamp":{"start":0,"end":1}},"page_size":10}',
  ],
  ['an unknown chain', `${ETHEREUM}/sync-committee`, '{"sync_committee_period":{"view":"latest"},"chain":"goerli"}'],
  ['an unknown key', `${METRICS}/machine-names`, '{"page_size":10}'],
  ['a page that is too large', METRICS, '{"range":{"timestamp":{"start":1,"end":2}},"page_size":11}'],
  ['a range without its object', METRICS, '{"range":{"start":1,"end":2},"page_size":10}'],
  [
    'a window that does not exist',
    `${ETHEREUM}/performance-aggregate`,
    '{"chain":"mainnet","range":{"evaluation_window":"1h"}}',
  ],
  ['identifiers of a network', `${ETHEREUM}/queues`, '{"chain":"mainnet","validator":{"validator_identifiers":[5]}}'],
  [
    'an epoch of rewards',
    `${ETHEREUM}/validators/rewards-aggregate`,
    '{"chain":"mainnet","validator":{"validator_identifiers":[5]},"epoch":490000}',
  ],
  ['no chain', `${ETHEREUM}/sync-committee`, '{"sync_committee_period":{"view":"latest"}}'],
])('the doubles refuse %s with the 400 of the service', (_, path, body) => {
  expect(refusalOf({ path, body })?.status).toBe(400);
});

it.each([
  [`${ETHEREUM}/queues`, 'application/vnd.beaconcha.in.v3+json', 400],
  [`${ETHEREUM}/performance-aggregate`, 'application/vnd.beaconcha.in.v2.1+json', 400],
  [`${ETHEREUM}/queues`, 'application/json', undefined],
])('of %s the doubles answer the form %s with %s', (path, accept, status) => {
  const body = path.endsWith('/queues')
    ? '{"chain":"mainnet"}'
    : '{"chain":"mainnet","range":{"evaluation_window":"24h"}}';
  expect(refusalOf({ path, body, accept })?.status).toBe(status);
});

it('the head is as new as most rows of the latest epoch say: one wrong row of a later epoch hides no delay', () => {
  const request = { endpoint: 'epoch_slots', chain: 'mainnet', path: '/api/v1/epoch/latest/slots' } as const;
  const data = [100, 100, 100, 120].map((epoch) => ({ epoch }));
  const at = epochEnd('mainnet', 100);
  expect(freshnessAfter({}, request, { data }, at + HOUR, undefined)).toEqual({ dataAt: at, behindMs: HOUR });
});
