import type { QueuesAnswer } from '../../api/answers/network.ts';
import { requestTo } from '../../api/endpoints.ts';
import { expectPastEpoch } from '../answers.ts';
import { performanceOf } from '../duties.ts';
import { readPart } from '../refusal.ts';
import type { ChainOptions, Poll, PollContext } from '../source.ts';
import type { Network, Queue } from './schema.ts';

type Context = PollContext<ChainOptions>;

/** Reads the duties of the whole chain, and the queues unless the budget has stretched the interval. */
export async function pollNetwork(context: Context, previous: Network): Promise<Poll<Network>> {
  const { options, timing, events } = context;
  const read = await readPart(context, 'network', previous, () => readPerformance(context, previous));
  if (read.failure || timing.intervalMs > options.intervalMs) return { ...read, events };
  const both = await readPart(context, 'queues', read.value, () => readQueues(context, read.value));
  return { ...both, events };
}

async function readPerformance({ options, api, timing, signal }: Context, previous: Network): Promise<Network> {
  const { chain } = options;
  const { data, range } = await api.request(requestTo('network_performance', { chain }), signal);
  expectPastEpoch('network_performance', chain, range, timing.now);
  return { ...previous, performance: { readAt: timing.now, epoch: range.epoch, sums: performanceOf([data]) } };
}

async function readQueues({ options, api, timing, signal }: Context, previous: Network): Promise<Network> {
  const { data } = await api.request(requestTo('queues', { chain: options.chain }), signal);
  return { ...previous, queues: { readAt: timing.now, ...queuesOf(data) } };
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
