import type * as z from 'zod';
import type { Priority } from '../budget/permit.ts';
import type { Chain } from '../facts/chain.ts';
import type { UnixSeconds } from '../toolkit/lib/time.ts';
import { DailyReturnsPage, Datapoint } from './answers/daily-returns.ts';
import { MachineMetricsPage, MachineName, MachineNames, RECORDS } from './answers/machines.ts';
import { NetworkPerformanceAnswer, QueuesAnswer } from './answers/network.ts';
import { AttesterSlashing, ProposerSlashing, SlotRow, V1List } from './answers/slots.ts';
import { MembersAnswer, SyncCommitteeAnswer } from './answers/sync-committee.ts';
import { PerformanceAnswer, RewardsAnswer, ValidatorRow, ValidatorsAnswer } from './answers/validators.ts';

/** An endpoint of the service. Each request to it costs one of the quota (api-facts 6.1). */
interface Definition<Q, A> {
  /** v2 is a POST with a JSON body; v1 is a GET at the host of a chain. */
  readonly version: 'v1' | 'v2';
  /** The part of a source that needs it, which has a switch of its own or may be refused; none: every one. */
  readonly part?: Part;
  readonly priority: Priority | ((query: Q) => Priority);
  readonly path: string | ((query: Q) => string);
  /** Of v2 alone. */
  readonly body?: (query: Q) => object;
  /** The form of the answer; default: JSON in the only form. */
  readonly accept?: string;
  /** The structure around the records. */
  readonly envelope: z.ZodType<A>;
  /** Whether a 404 says that none of the validators is known. */
  readonly is404None?: true;
  /** The schema of the records in each list, by the path of the list. Empty: the answer is the only record. */
  readonly records: Readonly<Record<string, z.ZodType>>;
}

/** The parts of sources that the service may refuse, each for itself. */
export type Part =
  | 'machine_names'
  | 'status'
  | 'performance'
  | 'rewards'
  | 'sync_committee'
  | 'proposer_slashings'
  | 'network'
  | 'queues';

/**
 * The most records of a page, in each list of an answer (api-facts 7.2). The rows of so many validators need no cursor.
 */
export const PAGE_SIZE = 10;

/** The most identifiers of a request for an aggregate: of paid plans, and of all plans (api-facts 10). */
export const IDENTIFIERS_OF_AGGREGATE = [100, 20] as const;

/** The path of the specification, and the one of the public documentation (api-facts 3.1). */
export const DAILY_RETURNS_PATHS = ['/api/v2/ethereum/benchmark-store', '/api/v2/ethereum/eth-store'] as const;

/** Both ends are inclusive. */
export interface Span {
  readonly start: UnixSeconds;
  readonly end: UnixSeconds;
}

/** The evaluation windows of the service, which always end now (api-facts 3.1). */
export const EVALUATION_WINDOWS = ['24h', '7d', '30d', '90d', 'all_time'] as const;

/** One sequence of pages. */
export type PastRange = Span | { readonly window: (typeof EVALUATION_WINDOWS)[number] };

interface Cursor {
  /** Undefined: the first page. */
  readonly cursor?: string | undefined;
}

interface OfChain {
  readonly chain: Chain;
}

interface OfValidators extends OfChain {
  readonly identifiers: readonly number[];
}

interface OfSlot extends OfChain {
  readonly slot: number;
}

interface MachinesQuery extends Cursor {
  readonly range: Span;
  /** Up to 20; undefined: all machines. */
  readonly names?: readonly string[] | undefined;
}

interface DaysQuery extends OfChain, Cursor {
  readonly path: (typeof DAILY_RETURNS_PATHS)[number];
  readonly range: PastRange;
}

interface EpochQuery extends OfChain {
  readonly epoch: number | 'latest' | 'finalized';
  readonly priority: Priority;
}

interface MembersQuery extends OfChain {
  readonly period: number | 'latest' | 'next';
}

/** A row of the table, whose types follow from its body and its envelope. */
function define<Q, A>(definition: Definition<Q, A>): Definition<Q, A> {
  return definition;
}

/**
 * Every request that this program can make, by the name of its endpoint in metric labels. The forms of the requests are
 * those of recordings and of the documentation (docs/internals/api-facts.md).
 */
export const ENDPOINTS = {
  machine_metrics: define({
    version: 'v2',
    priority: 'machines',
    path: '/api/v2/machine-metrics',
    body: ({ range, names, cursor }: MachinesQuery) => ({
      range: { timestamp: { start: range.start, end: range.end } },
      ...(names && { machines: names }),
      ...pageAt(cursor),
    }),
    envelope: MachineMetricsPage,
    records: {
      'data.system_metrics': RECORDS.system,
      'data.validator_metrics': RECORDS.validator,
      'data.node_metrics': RECORDS.node,
    },
  }),
  machine_names: define({
    version: 'v2',
    part: 'machine_names',
    priority: 'machines',
    path: '/api/v2/machine-metrics/machine-names',
    body: (_: object) => ({}),
    envelope: MachineNames,
    records: { data: MachineName },
  }),
  daily_returns: define({
    version: 'v2',
    priority: 'daily_returns',
    path: ({ path }: DaysQuery) => path,
    body: ({ chain, range, cursor }: DaysQuery) => ({
      chain,
      range:
        'window' in range ? { evaluation_window: range.window } : { timestamp: { start: range.start, end: range.end } },
      ...pageAt(cursor),
    }),
    envelope: DailyReturnsPage,
    records: { data: Datapoint },
  }),
  sync_committee: define({
    version: 'v2',
    priority: 'sync_committee',
    path: '/api/v2/ethereum/sync-committee',
    body: ({ chain }: OfChain) => ({ sync_committee_period: { view: 'latest' }, chain }),
    envelope: SyncCommitteeAnswer,
    records: {},
  }),
  validators: define({
    version: 'v2',
    part: 'status',
    priority: 'validators',
    path: '/api/v2/ethereum/validators',
    body: (query: OfValidators) => ({ ...selectorOf(query), page_size: PAGE_SIZE }),
    envelope: ValidatorsAnswer,
    is404None: true,
    records: { data: ValidatorRow },
  }),
  validators_performance: define({
    version: 'v2',
    part: 'performance',
    priority: 'validators',
    path: '/api/v2/ethereum/validators/performance-aggregate',
    body: (query: OfValidators) => ({ ...selectorOf(query), range: { evaluation_window: '24h' } }),
    envelope: PerformanceAnswer,
    is404None: true,
    records: {},
  }),
  validators_rewards: define({
    version: 'v2',
    part: 'rewards',
    priority: 'validators',
    path: '/api/v2/ethereum/validators/rewards-aggregate',
    body: (query: OfValidators) => ({ ...selectorOf(query), range: { evaluation_window: '24h' } }),
    envelope: RewardsAnswer,
    is404None: true,
    records: {},
  }),
  network_performance: define({
    version: 'v2',
    part: 'network',
    priority: 'network',
    path: '/api/v2/ethereum/performance-aggregate',
    body: ({ chain }: OfChain) => ({ chain, range: { evaluation_window: '24h' } }),
    envelope: NetworkPerformanceAnswer,
    records: {},
  }),
  queues: define({
    version: 'v2',
    part: 'queues',
    priority: 'network',
    path: '/api/v2/ethereum/queues',
    body: ({ chain }: OfChain) => ({ chain }),
    accept: 'application/vnd.beaconcha.in.v2.1+json',
    envelope: QueuesAnswer,
    records: {},
  }),
  epoch_slots: define({
    version: 'v1',
    priority: ({ priority }: EpochQuery) => priority,
    path: ({ epoch }: EpochQuery) => `/api/v1/epoch/${epoch}/slots`,
    envelope: V1List,
    records: { data: SlotRow },
  }),
  attester_slashings: define({
    version: 'v1',
    priority: 'slashing_details',
    path: ({ slot }: OfSlot) => `/api/v1/slot/${slot}/attesterslashings`,
    envelope: V1List,
    records: { data: AttesterSlashing },
  }),
  proposer_slashings: define({
    version: 'v1',
    part: 'proposer_slashings',
    priority: 'slashing_details',
    path: ({ slot }: OfSlot) => `/api/v1/slot/${slot}/proposerslashings`,
    envelope: V1List,
    records: { data: ProposerSlashing },
  }),
  sync_committee_members: define({
    version: 'v1',
    part: 'sync_committee',
    priority: 'sync_committee',
    path: ({ period }: MembersQuery) => `/api/v1/sync_committee/${period}`,
    envelope: MembersAnswer,
    records: {},
  }),
};

export type Endpoint = keyof typeof ENDPOINTS;
export const ENDPOINT_NAMES = Object.keys(ENDPOINTS) as [Endpoint, ...Endpoint[]];
/** What a request to an endpoint asks for. */
export type Query<E extends Endpoint> = (typeof ENDPOINTS)[E] extends Definition<infer Q, infer _> ? Q : never;
/** The body of an answer, as its envelope reads it. */
export type AnswerOf<E extends Endpoint> = z.output<(typeof ENDPOINTS)[E]['envelope']>;

function pageAt(cursor: string | undefined): object {
  return { page_size: PAGE_SIZE, ...(cursor !== undefined && { cursor }) };
}

/** The selector of validators is an object of its own in every endpoint (api-facts 10). */
function selectorOf({ chain, identifiers }: OfValidators): object {
  return { chain, validator: { validator_identifiers: identifiers } };
}

/** A request without its host and key. */
export interface ApiRequest<A = unknown> {
  readonly endpoint: Endpoint;
  readonly priority: Priority;
  /** Selects the v1 host; a v2 request names the chain in its body. */
  readonly chain?: Chain;
  readonly path: string;
  /** The JSON of a v2 request. */
  readonly body?: object;
  readonly accept?: string;
  /** Reads the body of a 200. */
  readonly envelope: z.ZodType<A>;
}

export function requestTo<E extends Endpoint>(endpoint: E, query: Query<E>): ApiRequest<AnswerOf<E>> {
  // The compiler does not see that the parts of one row fit each other.
  const definition = ENDPOINTS[endpoint] as unknown as Definition<Query<E>, AnswerOf<E>>;
  const { version, priority, path, body, accept, envelope } = definition;
  return {
    endpoint,
    priority: typeof priority === 'function' ? priority(query) : priority,
    ...(version === 'v1' && { chain: (query as OfChain).chain }),
    path: typeof path === 'function' ? path(query) : path,
    ...(body && { body: body(query) }),
    ...(accept !== undefined && { accept }),
    envelope,
  };
}
