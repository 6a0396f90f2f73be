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
const VALIDATORS = `${ETHEREUM}/validators`;
const range = { start: 1, end: 2 };
const [one, key] = [{ chain, identifiers: [5235] }, `0x${'ab'.repeat(48)}`] as const;
const epoch = { chain, priority: 'head_pass' } as const;
const [epochs, caughtUp] = [
  { ...one, epoch: 490_000, priority: 'background' },
  { ...one, epoch: 490_000, cursor: 'x', priority: 'catch_up' },
] as const;
/** Parts of bodies. */
const TIMES = '"range":{"timestamp":{"start":1,"end":2}}';
const DAY = '"chain":"mainnet","range":{"evaluation_window":"24h"}';
const OWN = '"chain":"mainnet","validator":{"validator_identifiers":[5235]}';
const V2_1 = 'application/vnd.beaconcha.in.v2.1+json';
const [SPECIFIED, PUBLIC] = ['/api/v2/ethereum/benchmark-store', '/api/v2/ethereum/eth-store'] as const;

/** The request forms of docs/internals/api-facts.md, from recordings, documents and other public clients. */
const FORMS: readonly Form[] = [
  ['machine_metrics', { range }, METRICS, `{${TIMES},"page_size":10}`],
  [
    'machine_metrics',
    { range, names: ['a'], cursor: 'x' },
    METRICS,
    `{${TIMES},"machines":["a"],"page_size":10,"cursor":"x"}`,
  ],
  ['machine_names', {}, `${METRICS}/machine-names`, '{}'],
  ['daily_returns', { chain, path: SPECIFIED, range: { window: '24h' } }, SPECIFIED, `{${DAY},"page_size":10}`],
  [
    'daily_returns',
    { chain, path: PUBLIC, range, cursor: 'x' },
    PUBLIC,
    `{"chain":"mainnet",${TIMES},"page_size":10,"cursor":"x"}`,
  ],
  [
    'sync_committee',
    { chain },
    `${ETHEREUM}/sync-committee`,
    '{"sync_committee_period":{"view":"latest"},"chain":"mainnet"}',
  ],
  ['validators', one, VALIDATORS, `{${OWN},"page_size":10}`],
  ['validators', { chain, identifiers: [5235, key] }, VALIDATORS, `{${OWN.replace(']', `,"${key}"]`)},"page_size":10}`],
  [
    'validators_performance',
    one,
    `${VALIDATORS}/performance-aggregate`,
    `{${OWN},"range":{"evaluation_window":"24h"}}`,
  ],
  ['validators_rewards', one, `${VALIDATORS}/rewards-aggregate`, `{${OWN},"range":{"evaluation_window":"24h"}}`],
  ['block_rewards', { chain, number: 7 }, `${ETHEREUM}/block/rewards`, '{"chain":"mainnet","block":{"number":7}}'],
  ['validators_performance_list', epochs, `${VALIDATORS}/performance-list`, `{${OWN},"epoch":490000,"page_size":10}`],
  [
    'validators_rewards_list',
    caughtUp,
    `${VALIDATORS}/rewards-list`,
    `{${OWN},"epoch":490000,"page_size":10,"cursor":"x"}`,
  ],
  ['network_performance', { chain }, `${ETHEREUM}/performance-aggregate`, `{${DAY}}`],
  ['queues', { chain }, `${ETHEREUM}/queues`, '{"chain":"mainnet"}', V2_1],
  ['epoch_slots', { ...epoch, epoch: 'latest' }, '/api/v1/epoch/latest/slots'],
  ['epoch_slots', { ...epoch, epoch: 'finalized' }, '/api/v1/epoch/finalized/slots'],
  ['epoch_slots', { ...epoch, epoch: 7 }, '/api/v1/epoch/7/slots'],
  ['attester_slashings', { chain, slot: 7 }, '/api/v1/slot/7/attesterslashings'],
  ['proposer_slashings', { chain, slot: 7 }, '/api/v1/slot/7/proposerslashings'],
  ['sync_committee_members', { chain, period: 'latest' }, '/api/v1/sync_committee/latest'],
  ['sync_committee_members', { chain, period: 'next' }, '/api/v1/sync_committee/next'],
  ['sync_committee_members', { chain, period: 7 }, '/api/v1/sync_committee/7'],
];

it('has a form for each endpoint', () => {
  expect(new Set(FORMS.map(([endpoint]) => endpoint))).toEqual(new Set(ENDPOINT_NAMES));
});

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

it.for(FORMS)('api-facts.md shows the evidence of %s: %j %s %s', ([, , path, body, accept = '']) => {
  const row = EVIDENCE.find(({ isOf }) => isOf(path));
  expect(row?.request).toContain(body === undefined ? 'no body' : accept);
  for (const [key] of (body ?? '').matchAll(/"\w+":/g)) expect(row?.request).toContain(key);
});

it.for(FORMS)('requests %s in the documented form: %j %s %s', ([endpoint, query, path, body, accept]) => {
  const request = requestTo(endpoint, query as never);
  expect([request.path, request.accept]).toEqual([path, accept]);
  expect(JSON.parse(JSON.stringify(request.body ?? null))).toEqual(JSON.parse(body ?? 'null'));
  // The sandbox has a table of its own.
  for (const form of [undefined, accept]) expect(refusalOf({ path, body, accept: form })).toBeUndefined();
});

it.each([
  ['identifiers beside the chain', VALIDATORS, '{"chain":"mainnet","validator_identifiers":[5]}'],
  ['identifiers as text', VALIDATORS, `{${OWN.replace('5235', '"5235"')}}`],
  ['no range', METRICS, '{"page_size":10}'],
  ['a range that ends before it starts', METRICS, `{${TIMES.replace('"end":2', '"end":0')},"page_size":10}`],
  ['two ranges', SPECIFIED, `{${DAY.replace('}', ',"timestamp":{"start":0,"end":1}}')},"page_size":10}`],
  ['an unknown chain', `${ETHEREUM}/sync-committee`, '{"sync_committee_period":{"view":"latest"},"chain":"goerli"}'],
  ['no chain', `${ETHEREUM}/sync-committee`, '{"sync_committee_period":{"view":"latest"}}'],
  ['an unknown key', `${METRICS}/machine-names`, '{"page_size":10}'],
  ['a page that is too large', METRICS, `{${TIMES},"page_size":11}`],
  ['a range without its object', METRICS, '{"range":{"start":1,"end":2},"page_size":10}'],
  ['a window that does not exist', `${ETHEREUM}/performance-aggregate`, `{${DAY.replace('24h', '1h')}}`],
  ['identifiers of a network', `${ETHEREUM}/queues`, `{${OWN}}`],
  ['an epoch of rewards', `${VALIDATORS}/rewards-aggregate`, `{${OWN},"epoch":490000}`],
  ['another form of queues', `${ETHEREUM}/queues`, '{"chain":"mainnet"}', V2_1.replace('2.1', '3')],
  ['a form that the network lacks', `${ETHEREUM}/performance-aggregate`, `{${DAY}}`, V2_1],
])('the sandbox refuses %s with a 400, like the service', (_, path, body, accept = 'application/json') => {
  expect(refusalOf({ path, body, accept })?.status).toBe(400);
});

it('the age of the head is that of most rows, so that one wrong row of a later epoch hides no delay', () => {
  const request = { endpoint: 'epoch_slots', chain: 'mainnet', path: '/api/v1/epoch/latest/slots' } as const;
  const data = [100, 100, 100, 120].map((epoch) => ({ epoch }));
  const at = epochEnd('mainnet', 100);
  expect(freshnessAfter({}, request, { data }, at + HOUR, undefined)).toEqual({ dataAt: at, behindMs: HOUR });
});
