import * as z from 'zod';
import type { QueuesAnswer } from '../../api/answers/network.ts';
import { Wei } from '../../api/answers/validators.ts';
import { requestTo } from '../../api/endpoints.ts';
import { etherOf } from '../../facts/ether.ts';
import type { Family, Sample } from '../../toolkit/exposition/family.ts';
import { MS_PER_DAY } from '../../toolkit/lib/duration.ts';
import { expectPastEpoch } from '../answers.ts';
import type { Summary } from '../content.ts';
import { attestationTable, Performance, performanceFamilies, performanceOf } from '../duties.ts';
import { family, fresh, maxAge, nextShownChange, sample, UNPROVEN } from '../families.ts';
import { partsOf, Refusals, readPart } from '../refusal.ts';
import { type ChainOptions, nextTick, type Poll, type PollContext, type Source, type Timing } from '../source.ts';

/** What is not known is null. */
const Queue = z.object({
  count: z.number().nullable(),
  balance: Wei.nullable(),
  /** Unix seconds at which the last item leaves the queue. */
  end: z.number().nullable(),
});
type Queue = z.infer<typeof Queue>;

/** The state of one chain. `readAt`: Unix ms. */
export const Network = z.object({
  performance: z.object({ readAt: z.number(), epoch: z.number(), sums: Performance }).optional(),
  queues: z.object({ readAt: z.number(), deposit: Queue, topup: Queue, exit: Queue }).optional(),
  refusals: Refusals,
});
export type Network = z.infer<typeof Network>;

/** The duties, and the queues. */
const REQUESTS = 2;
/** The share of a budget up to which polls run at the configured interval. Otherwise there is one a day. */
const MAX_SHARE = 0.1;

/** The duties of all validators of a chain, to compare one's own with, and its queues. */
export function networkSource(options: ChainOptions): Source<Network> {
  const { chain, intervalMs, weight } = options;
  return {
    name: 'network',
    chain,
    endpoints: ['network_performance', 'queues'],
    intervalMs,
    empty: {},
    state: Network,
    due: (_value, attempts, timing) => nextTick(attempts, timing.intervalMs),
    isDaily: true,
    isNeverOverdue: true,
    weight,
    pace(requestsPerDay) {
      const wanted = (REQUESTS * MS_PER_DAY) / intervalMs;
      const isScarce = wanted > requestsPerDay * MAX_SHARE;
      const pacedMs = isScarce ? Math.max(intervalMs, MS_PER_DAY) : intervalMs;
      return { intervalMs: pacedMs, requestsPerDay: isScarce ? MS_PER_DAY / pacedMs : wanted, coverage: 'full' };
    },
    poll: (api, previous, timing, signal) => pollNetwork({ options, api, timing, signal, events: [] }, previous),
    anew: ({ refusals, ...value }) => value,
    parts: partsOf('network', 'queues'),
    families: (value, timing) => networkFamilies(options, value, timing),
    summary: (value, timing) => networkSummary(options, value, timing),
    nextChange: ({ performance, queues }, timing) =>
      nextShownChange(
        [performance, queues].map((one) => [one, maxAge(timing)] as const),
        timing.now,
      ),
  };
}

type Context = PollContext<ChainOptions>;

/** Reads the duties of the whole chain and the queues, one even if the other fails. A stretched interval pays for the first. */
async function pollNetwork(context: Context, previous: Network): Promise<Poll<Network>> {
  const { options, timing, events } = context;
  const read = await readPart(context, 'network', previous, () => readPerformance(context, previous));
  if (timing.intervalMs > options.intervalMs) return { ...read, events };
  const { value, failure } = await readPart(context, 'queues', read.value, () => readQueues(context, read.value));
  return { value, failure: read.failure ?? failure, events };
}

async function readPerformance({ options, api, signal }: Context, previous: Network): Promise<Network> {
  const { chain } = options;
  const { data, range } = await api.request(requestTo('network_performance', { chain }), signal);
  const readAt = api.now();
  expectPastEpoch('network_performance', chain, range.epoch, readAt);
  return { ...previous, performance: { readAt, epoch: range.epoch, sums: performanceOf([data]) } };
}

async function readQueues({ options, api, signal }: Context, previous: Network): Promise<Network> {
  const { data } = await api.request(requestTo('queues', { chain: options.chain }), signal);
  return { ...previous, queues: { readAt: api.now(), ...queuesOf(data) } };
}

/** Pure. In the form before v2.1 there is one balance, of deposits and top-ups. */
function queuesOf({
  deposit_queue: deposit,
  exit_queue: exit,
}: QueuesAnswer['data']): Record<'deposit' | 'topup' | 'exit', Queue> {
  return {
    deposit: queueOf(
      deposit?.deposit_count,
      deposit?.deposit_balance ?? deposit?.balance,
      deposit?.estimated_processed_at,
    ),
    topup: queueOf(deposit?.topup_count, deposit?.topup_balance),
    exit: queueOf(exit?.count ?? exit?.validator_count, exit?.balance, exit?.estimated_processed_at),
  };
}

/** The least that one item can be, in wei: a smaller balance is in another unit, such as gwei. */
const LEAST_ITEM = 10n ** 15n;

function queueOf(count: number | null | undefined, balance: string | null | undefined, end?: number | null): Queue {
  const isWei = balance != null && BigInt(balance) >= BigInt(count ?? 1) * LEAST_ITEM;
  return { count: count ?? null, balance: isWei ? balance : null, end: end || null };
}

function networkSummary(options: ChainOptions, value: Network, timing: Timing): Summary {
  const { performance } = shownNetwork(options, value, timing);
  if (!performance) return {};
  const { sums, readAt } = performance;
  return { tables: attestationTable(options.chain, 'the network', [sums], readAt, timing.now) };
}

/** At a stretched interval the queues are not read any more. */
function shownNetwork({ intervalMs }: ChainOptions, { performance, queues }: Network, timing: Timing): Network {
  return {
    performance: fresh(performance, maxAge(timing), timing.now),
    queues: timing.intervalMs > intervalMs ? undefined : fresh(queues, maxAge(timing), timing.now),
  };
}

function networkFamilies(options: ChainOptions, value: Network, timing: Timing): Family[] {
  const { chain } = options;
  const { performance, queues } = shownNetwork(options, value, timing);
  const each = (of: readonly ('deposit' | 'topup' | 'exit')[], pick: (queue: Queue) => number | null): Sample[] =>
    queues ? of.flatMap((queue) => sample(chain, pick(queues[queue]), { queue })) : [];
  return [
    ...performanceFamilies('network', 'all validators of the chain', [
      { labels: { chain }, performance: performance?.sums },
    ]).map((one) => ({ ...one, help: `${one.help} ${UNPROVEN}.` })),
    family(
      'network_epoch',
      `Last epoch of the 24 hours of beaconchain_network_duties (range.epoch.end). ${UNPROVEN}`,
      sample(chain, performance?.epoch),
    ),
    family(
      'queue_validators',
      `Deposits and exits that wait (deposit_queue.deposit_count, exit_queue.count); in the older form of the answer the deposits include top-ups. ${UNPROVEN}`,
      each(['deposit', 'exit'], ({ count }) => count),
    ),
    family(
      'queue_balance_ether',
      `Ether that waits in a queue (deposit_balance, topup_balance, exit_queue.balance); in the older form of the answer the deposits include top-ups. ${UNPROVEN}`,
      each(['deposit', 'topup', 'exit'], ({ balance }) => (balance === null ? null : etherOf(balance))),
    ),
    family(
      'queue_end_timestamp_seconds',
      `Estimated time at which the last item leaves the queue (estimated_processed_at). ${UNPROVEN}`,
      each(['deposit', 'exit'], ({ end }) => end),
    ),
  ];
}
