import type * as z from 'zod';
import type { Priority } from '../budget/permit.ts';
import { type Chain, DATED_AHEAD_MS, epochEnd, MS_PER_EPOCH, USUAL_AGE } from '../facts/chain.ts';
import type { Identifier } from '../facts/watch.ts';
import { median } from '../toolkit/lib/median.ts';
import type { Milliseconds, UnixMs, UnixSeconds } from '../toolkit/lib/time.ts';
import { valueAt } from '../toolkit/yaml/value-at.ts';
import { BlockRewardsAnswer } from './answers/blocks.ts';
import { DailyReturnsPage, Datapoint } from './answers/daily-returns.ts';
import { EpochDutiesRow, EpochPage, EpochRewardsRow } from './answers/epochs.ts';
import { Index } from './answers/fields.ts';
import { MachineMetricsPage, MachineName, MachineNames, RECORDS } from './answers/machines.ts';
import { NetworkPerformanceAnswer, QueuesAnswer } from './answers/network.ts';
import { AttesterSlashing, ProposerSlashing, SlotRow, V1List } from './answers/slots.ts';
import { MembersAnswer, SyncCommitteeAnswer } from './answers/sync-committee.ts';
import { PerformanceAnswer, RewardsAnswer, ValidatorRow, ValidatorsAnswer } from './answers/validators.ts';

/** An endpoint of the service. Each request costs one of the quota (api-facts 6.1). */
export interface Definition<Q, A> {
  /** The optional part of a source that needs this endpoint. Absent if the source cannot work without. */
  readonly part?: Part;
  readonly priority: Priority | ((query: Q) => Priority);
  readonly path: string | ((query: Q) => string);
  /** The JSON of v2, which is a POST. Absent: v1, a GET at the host of a chain. */
  readonly body?: (query: Q) => object;
  /** The media type to ask for. Default: JSON. */
  readonly accept?: string;
  /** The structure around the records. */
  readonly envelope: z.ZodType<A>;
  /** Absent if nothing dates a response, or its age proves nothing. */
  readonly dated?: Dating<NoInfer<A>>;
  /** 404 means that the service has nothing of what the request names. */
  readonly is404None?: true;
  /** Whether 403 may mean that the plan allows fewer identifiers per request. */
  readonly mayBeTooLarge?: (query: Q) => boolean;
  /** The schema of the records in each list, by the path of the list. Empty if the response is the only record. */
  readonly records: Readonly<Record<string, z.ZodType>>;
}

/** A response is as old as its data, not as the request. */
interface Dating<A> {
  /** When the data ended. Undefined if this response does not say. */
  at(answer: A, request: DatedRequest): UnixMs | undefined;
  /** How old the data usually are when the response arrives. */
  readonly usualAgeMs: Milliseconds;
  /** The data are of finalized epochs, and can be no newer. */
  readonly isFinal?: true;
}

interface DatedRequest {
  readonly chain: Chain;
  readonly path: string;
}

/** The optional parts of sources, in words. The service may refuse each alone. */
export const PARTS = {
  machine_names: 'the list of machines',
  status: 'the status of validators',
  performance: 'the duties of validators',
  rewards: 'the rewards of validators',
  epoch_duties: 'the duties of validators by epoch',
  epoch_rewards: 'the rewards of validators by epoch',
  sync_committee: 'the members of sync committees',
  proposer_slashings: 'the names of slashed proposers',
  block_rewards: 'what your blocks earned',
  network: 'the duties of the network',
  queues: 'the queues',
} as const;
export type Part = keyof typeof PARTS;

/** The most records of a page, in each list (api-facts 7.2). The rows of this many validators need no cursor. */
export const PAGE_SIZE = 10;

/** The most identifiers of a request for an aggregate, on paid plans and on all plans (api-facts 10). */
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

export type PastRange = Span | { readonly window: (typeof EVALUATION_WINDOWS)[number] };

interface Cursor {
  /** Undefined for the first page. */
  readonly cursor?: string | undefined;
}

interface OfChain {
  readonly chain: Chain;
}

interface OfValidators extends OfChain {
  readonly identifiers: readonly Identifier[];
}

interface EpochPageQuery extends OfValidators, Cursor {
  readonly epoch: number;
  readonly priority: Priority;
}

interface OfSlot extends OfChain {
  readonly slot: number;
}

interface OfBlock extends OfChain {
  /** On the execution layer. */
  readonly number: number;
}

interface MachinesQuery extends Cursor {
  readonly range: Span;
  /** Up to 20. Undefined for all machines. */
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

/** A row of the table. Infers its types from body and envelope. */
function define<Q, A>(definition: Definition<Q, A>): Definition<Q, A> {
  return definition;
}

/**
 * Every request that this program can make, by the endpoint's name in metric labels. Recordings and documentation show these forms
 * (docs/internals/api-facts.md).
 */
export const ENDPOINTS = {
  machine_metrics: define({
    priority: 'fleet',
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
    part: 'machine_names',
    priority: 'fleet',
    path: '/api/v2/machine-metrics/machine-names',
    body: (_: object) => ({}),
    envelope: MachineNames,
    records: { data: MachineName },
  }),
  daily_returns: define({
    priority: 'once_a_day',
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
    priority: 'once_a_day',
    path: '/api/v2/ethereum/sync-committee',
    body: ({ chain }: OfChain) => ({ sync_committee_period: { view: 'latest' }, chain }),
    envelope: SyncCommitteeAnswer,
    records: {},
  }),
  validators: define({
    part: 'status',
    priority: 'own_validators',
    path: '/api/v2/ethereum/validators',
    body: (query: OfValidators) => ({ ...selectorOf(query), page_size: PAGE_SIZE }),
    envelope: ValidatorsAnswer,
    dated: { at: endOfRange, usualAgeMs: USUAL_AGE.status },
    is404None: true,
    records: { data: ValidatorRow },
  }),
  validators_performance: define({
    part: 'performance',
    priority: 'own_validators',
    path: '/api/v2/ethereum/validators/performance-aggregate',
    body: (query: OfValidators) => ({ ...selectorOf(query), range: { evaluation_window: '24h' } }),
    envelope: PerformanceAnswer,
    dated: { at: endOfRange, usualAgeMs: USUAL_AGE.sums, isFinal: true },
    is404None: true,
    mayBeTooLarge,
    records: {},
  }),
  validators_rewards: define({
    part: 'rewards',
    priority: 'own_validators',
    path: '/api/v2/ethereum/validators/rewards-aggregate',
    body: (query: OfValidators) => ({ ...selectorOf(query), range: { evaluation_window: '24h' } }),
    envelope: RewardsAnswer,
    dated: { at: endOfRange, usualAgeMs: USUAL_AGE.sums, isFinal: true },
    is404None: true,
    mayBeTooLarge,
    records: {},
  }),
  validators_performance_list: define({
    part: 'epoch_duties',
    priority: ({ priority }: EpochPageQuery) => priority,
    path: '/api/v2/ethereum/validators/performance-list',
    body: epochPageOf,
    envelope: EpochPage,
    is404None: true,
    records: { data: EpochDutiesRow },
  }),
  validators_rewards_list: define({
    part: 'epoch_rewards',
    priority: ({ priority }: EpochPageQuery) => priority,
    path: '/api/v2/ethereum/validators/rewards-list',
    body: epochPageOf,
    envelope: EpochPage,
    is404None: true,
    records: { data: EpochRewardsRow },
  }),
  block_rewards: define({
    part: 'block_rewards',
    priority: 'own_validators',
    path: '/api/v2/ethereum/block/rewards',
    body: ({ chain, number }: OfBlock) => ({ chain, block: { number } }),
    envelope: BlockRewardsAnswer,
    is404None: true,
    records: {},
  }),
  network_performance: define({
    part: 'network',
    priority: 'background',
    path: '/api/v2/ethereum/performance-aggregate',
    body: ({ chain }: OfChain) => ({ chain, range: { evaluation_window: '24h' } }),
    envelope: NetworkPerformanceAnswer,
    dated: { at: endOfRange, usualAgeMs: USUAL_AGE.sums, isFinal: true },
    records: {},
  }),
  queues: define({
    part: 'queues',
    priority: 'background',
    path: '/api/v2/ethereum/queues',
    body: ({ chain }: OfChain) => ({ chain }),
    accept: 'application/vnd.beaconcha.in.v2.1+json',
    envelope: QueuesAnswer,
    records: {},
  }),
  epoch_slots: define({
    priority: ({ priority }: EpochQuery) => priority,
    path: ({ epoch }: EpochQuery) => `/api/v1/epoch/${epoch}/slots`,
    envelope: V1List,
    dated: { at: endOfLatest, usualAgeMs: USUAL_AGE.head },
    records: { data: SlotRow },
  }),
  attester_slashings: define({
    priority: 'slashing_details',
    path: ({ slot }: OfSlot) => `/api/v1/slot/${slot}/attesterslashings`,
    envelope: V1List,
    records: { data: AttesterSlashing },
  }),
  proposer_slashings: define({
    part: 'proposer_slashings',
    priority: 'slashing_details',
    path: ({ slot }: OfSlot) => `/api/v1/slot/${slot}/proposerslashings`,
    envelope: V1List,
    records: { data: ProposerSlashing },
  }),
  sync_committee_members: define({
    part: 'sync_committee',
    priority: 'once_a_day',
    path: ({ period }: MembersQuery) => `/api/v1/sync_committee/${period}`,
    envelope: MembersAnswer,
    records: {},
  }),
};

export type Endpoint = keyof typeof ENDPOINTS;
export const ENDPOINT_NAMES = Object.keys(ENDPOINTS) as [Endpoint, ...Endpoint[]];
export type Query<E extends Endpoint> = (typeof ENDPOINTS)[E] extends Definition<infer Q, infer _> ? Q : never;
/** The body of a response, as its envelope reads it. */
export type AnswerOf<E extends Endpoint> = z.output<(typeof ENDPOINTS)[E]['envelope']>;

function pageAt(cursor: string | undefined): object {
  return { page_size: PAGE_SIZE, ...(cursor !== undefined && { cursor }) };
}

/** The epoch is a bare integer (api-facts 11.5). */
function epochPageOf({ epoch, cursor, ...query }: EpochPageQuery) {
  return { ...selectorOf(query), epoch, ...pageAt(cursor) };
}

/** Every endpoint expects the selector as an object of its own (api-facts 10). */
function selectorOf({ chain, identifiers }: OfValidators): object {
  return { chain, validator: { validator_identifiers: identifiers } };
}

function mayBeTooLarge({ identifiers }: OfValidators): boolean {
  return identifiers.length > IDENTIFIERS_OF_AGGREGATE[1];
}

/** A response that may name its last epoch. */
export interface Ranged {
  readonly range?: { readonly epoch: number } | null | undefined;
}

function endOfRange({ range }: Ranged, { chain }: DatedRequest): UnixMs | undefined {
  return range ? epochEnd(chain, range.epoch) : undefined;
}

/** Only the age of the latest view proves something. Takes the middle row, because a single wrong row must not decide. */
function endOfLatest(
  { data }: { readonly data: readonly unknown[] },
  { chain, path }: DatedRequest,
): UnixMs | undefined {
  if (!path.includes('/latest/')) return undefined;
  const epochs = data.flatMap((row) => Index.safeParse(valueAt(row, ['epoch'])).data ?? []);
  const epoch = median(epochs);
  return epoch === undefined ? undefined : epochEnd(chain, epoch);
}

/** When the newest final epoch ended, and when the exporter read that. */
export interface Finality {
  readonly at: UnixMs;
  readonly readAt: UnixMs;
}

/** How new the data of the service are, by the responses to a read. */
export interface Freshness {
  /** When its newest data ended. Absent if no response says. */
  readonly dataAt?: UnixMs;
  /** Their age at the last response, if older than usual, otherwise 0. Absent if unknown. */
  readonly behindMs?: Milliseconds;
}

/** Knowledge of finality counts as current for this long. */
const FINALITY_KNOWN_MS = 4 * MS_PER_EPOCH;
/** Finality is two epochs old at best. This is the rest of the usual age of sums. */
const SUMS_AFTER_FINALITY_MS = USUAL_AGE.sums - 2 * MS_PER_EPOCH;

/**
 * The freshness after another response. An older response does not replace the newest data, which have aged meanwhile.
 * @param finality Undefined if unknown: then old sums prove nothing
 */
export function freshnessAfter(
  { dataAt: newestAt }: Freshness,
  { endpoint, chain, body, path }: Pick<ApiRequest, 'endpoint' | 'chain' | 'body' | 'path'>,
  answer: unknown,
  now: UnixMs,
  finality: Finality | undefined,
): Freshness {
  const { dated } = ENDPOINTS[endpoint] as Definition<never, unknown>;
  const of = chain ?? (body as Partial<OfChain> | undefined)?.chain;
  const at = of && dated?.at(answer, { chain: of, path });
  // A time ahead of our clock is wrong, or was read before the clock was set back.
  const times = [at, newestAt].flatMap((one) => (one !== undefined && one - now <= DATED_AHEAD_MS ? [one] : []));
  if (!dated || at === undefined || times.length === 0) return {};
  const dataAt = Math.max(...times);
  const ageMs = now - dataAt;
  if (ageMs <= dated.usualAgeMs) return { dataAt, behindMs: 0 };
  if (!dated.isFinal) return { dataAt, behindMs: ageMs };
  if (finality && finality.at - dataAt <= SUMS_AFTER_FINALITY_MS) return { dataAt, behindMs: 0 };
  const isKnown = finality && Math.abs(now - finality.readAt) <= FINALITY_KNOWN_MS;
  return { dataAt, ...(isKnown && { behindMs: ageMs }) };
}

/** A request without its host and key. */
export interface ApiRequest<A = unknown> extends Pick<Definition<never, A>, 'accept' | 'envelope'> {
  readonly endpoint: Endpoint;
  readonly priority: Priority;
  /** Selects the v1 host; a v2 request names the chain in its body. */
  readonly chain?: Chain;
  readonly path: string;
  readonly body?: object;
  readonly mayBeTooLarge?: true;
}

export function requestTo<E extends Endpoint>(endpoint: E, query: Query<E>): ApiRequest<AnswerOf<E>> {
  // The compiler cannot see that the parts of one row fit together.
  const definition = ENDPOINTS[endpoint] as unknown as Definition<Query<E>, AnswerOf<E>>;
  const { priority, path, body, accept, envelope, mayBeTooLarge } = definition;
  return {
    endpoint,
    priority: typeof priority === 'function' ? priority(query) : priority,
    path: typeof path === 'function' ? path(query) : path,
    ...(body ? { body: body(query) } : { chain: (query as OfChain).chain }),
    ...(accept !== undefined && { accept }),
    ...(mayBeTooLarge?.(query) && { mayBeTooLarge: true }),
    envelope,
  };
}
