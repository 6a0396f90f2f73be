import type { QueuesAnswer } from '../../api/answers/network.ts';
import { requestTo } from '../../api/endpoints.ts';
import { RequestFailed } from '../../api/errors.ts';
import { epochAt } from '../../facts/chain.ts';
import { CLOCK_AHEAD_MS } from '../../toolkit/lib/clock.ts';
import { performanceOf } from '../duties.ts';
import { refused, refusedUntil } from '../refusal.ts';
import type { Poll, PollContext } from '../source.ts';
import type { NetworkOptions } from './options.ts';
import type { Network, Queue } from './schema.ts';

type Context = PollContext<NetworkOptions>;

/** Reads the duties of the whole chain, and the queues unless the budget has stretched the interval. */
export async function pollNetwork(context: Context, previous: Network): Promise<Poll<Network>> {
  const { options, timing, events } = context;
  let poll: Poll<Network> = { value: previous };
  if (timing.now >= refusedUntil(previous.performanceRefusal)) poll = await readPerformance(context, poll.value);
  const readsQueues = timing.intervalMs <= options.intervalMs && timing.now >= refusedUntil(previous.queuesRefusal);
  if (!poll.failure && readsQueues) poll = await readQueues(context, poll.value);
  return { ...poll, events };
}

async function readPerformance(context: Context, previous: Network): Promise<Poll<Network>> {
  const { options, api, timing, signal } = context;
  const { chain } = options;
  try {
    const { data, range } = await api.request(requestTo('network_performance', { chain }), signal);
    if (range.epoch > epochAt(chain, timing.now + CLOCK_AHEAD_MS)) {
      throw new RequestFailed('network_performance', 'invalid_body', `epoch ${range.epoch} is in the future`);
    }
    const performance = { readAt: timing.now, epoch: range.epoch, sums: performanceOf([data]) };
    return { value: { ...previous, performance, performanceRefusal: undefined } };
  } catch (error) {
    const { refusal, failure } = refused(context, 'network', previous.performanceRefusal, error);
    return { value: { ...previous, performanceRefusal: refusal }, failure };
  }
}

async function readQueues(context: Context, previous: Network): Promise<Poll<Network>> {
  const { options, api, timing, signal } = context;
  try {
    const { data } = await api.request(requestTo('queues', { chain: options.chain }), signal);
    return { value: { ...previous, queues: { readAt: timing.now, ...queuesOf(data) }, queuesRefusal: undefined } };
  } catch (error) {
    const { refusal, failure } = refused(context, 'queues', previous.queuesRefusal, error);
    return { value: { ...previous, queuesRefusal: refusal }, failure };
  }
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
