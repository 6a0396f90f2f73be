import type { QueuesAnswer } from '../../api/answers/network.ts';
import type { Api } from '../../api/client.ts';
import { requestTo } from '../../api/endpoints.ts';
import { RequestFailed } from '../../api/errors.ts';
import { type Chain, epochAt } from '../../facts/chain.ts';
import { CLOCK_AHEAD_MS } from '../../toolkit/lib/clock.ts';
import type { UnixMs } from '../../toolkit/lib/time.ts';
import { performanceOf } from '../duties.ts';
import { refusedPart, refusedUntil } from '../refusal.ts';
import type { Poll, SourceEvent } from '../source.ts';
import type { Network, Queue } from './schema.ts';

/** Reads the duties of the whole chain, and the queues unless the budget has stretched the interval. */
export async function pollNetwork(
  { chain, readsQueues }: { chain: Chain; readsQueues: boolean },
  api: Api,
  previous: Network,
  now: UnixMs,
  signal: AbortSignal,
): Promise<Poll<Network>> {
  const events: SourceEvent[] = [];
  const context = { now, signal, events };
  const { performanceRefusal, queuesRefusal, ...read } = previous;
  let value: Network = previous;
  if (now >= refusedUntil(performanceRefusal)) {
    try {
      const { data, range } = await api.request(requestTo('network_performance', { chain }), signal);
      if (range.epoch > epochAt(chain, now + CLOCK_AHEAD_MS)) {
        throw new RequestFailed('network_performance', 'invalid_body', `epoch ${range.epoch} is in the future`);
      }
      const performance = { readAt: now, epoch: range.epoch, sums: performanceOf([data]) };
      value = { ...read, ...(queuesRefusal && { queuesRefusal }), performance };
    } catch (error) {
      const { refusal, failure } = refusedPart(context, 'network', performanceRefusal, error);
      value = { ...value, ...(refusal && { performanceRefusal: refusal }) };
      if (failure) return { value, events, failure };
    }
  }
  if (!readsQueues || now < refusedUntil(queuesRefusal)) return { value, events };
  const { queuesRefusal: _, ...known } = value;
  try {
    const { data } = await api.request(requestTo('queues', { chain }), signal);
    return { value: { ...known, queues: { readAt: now, of: queuesOf(data) } }, events };
  } catch (error) {
    const { refusal, failure } = refusedPart(context, 'queues', queuesRefusal, error);
    return { value: { ...known, ...(refusal && { queuesRefusal: refusal }) }, events, ...(failure && { failure }) };
  }
}

/** Pure. In the form before v2.1 there is one balance, of deposits and top-ups. */
function queuesOf({
  deposit_queue: deposit,
  exit_queue: exit,
}: QueuesAnswer['data']): NonNullable<Network['queues']>['of'] {
  return {
    ...(deposit && {
      deposit: queueOf(
        deposit.deposit_count,
        deposit.deposit_balance ?? deposit.balance,
        deposit.estimated_processed_at,
      ),
    }),
    ...(deposit?.topup_balance != null && { topup: queueOf(deposit.topup_count, deposit.topup_balance) }),
    ...(exit && { exit: queueOf(exit.count ?? exit.validator_count, exit.balance, exit.estimated_processed_at) }),
  };
}

/** The least that one item can be, in wei: a balance below it is in another unit, such as gwei. */
const LEAST_ITEM = 10n ** 15n;

function queueOf(
  validators: number | null | undefined,
  balance: string | null | undefined,
  end?: number | null,
): Queue {
  const isWei = balance != null && BigInt(balance) >= BigInt(validators ?? 0) * LEAST_ITEM;
  return {
    ...(validators != null && { validators }),
    ...(isWei && { balance }),
    ...(end != null && { end }),
  };
}
