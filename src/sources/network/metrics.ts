import { MS_PER_EPOCH } from '../../facts/chain.ts';
import { etherOf } from '../../facts/ether.ts';
import type { Family, Sample } from '../../toolkit/exposition/family.ts';
import type { Milliseconds, UnixMs } from '../../toolkit/lib/time.ts';
import { performanceFamilies } from '../duties.ts';
import { family, isShown, nextShownChange, sample, UNPROVEN } from '../families.ts';
import type { Timing } from '../source.ts';
import type { NetworkOptions } from './options.ts';
import type { Network, Queue } from './schema.ts';

/** For how long the duties and the queues are shown. At a stretched interval the queues are not read any more. */
function maxAges({ intervalMs }: NetworkOptions, timing: Timing): readonly [Milliseconds, Milliseconds] {
  const ageOf = (everyMs: Milliseconds): Milliseconds => Math.max(3 * MS_PER_EPOCH, 2 * everyMs);
  return [ageOf(timing.intervalMs), ageOf(Math.min(timing.intervalMs, intervalMs))];
}

/** What is not stale. */
export function shownNetwork(options: NetworkOptions, { performance, queues }: Network, timing: Timing): Network {
  const fresh = <T extends { readAt: UnixMs }>(one: T | undefined, maxAge: Milliseconds): T | undefined =>
    one && isShown(one.readAt, maxAge, timing.now) ? one : undefined;
  const [ofPerformance, ofQueues] = maxAges(options, timing);
  return { performance: fresh(performance, ofPerformance), queues: fresh(queues, ofQueues) };
}

export function nextNetworkChange(options: NetworkOptions, { performance, queues }: Network, timing: Timing): UnixMs {
  const [ofPerformance, ofQueues] = maxAges(options, timing);
  const read = [[performance, ofPerformance] as const, [queues, ofQueues] as const];
  return nextShownChange(
    read.flatMap(([one, maxAge]) => (one ? [[one.readAt, maxAge] as const] : [])),
    timing.now,
  );
}

/** Every family of the network; without samples where nothing is shown. */
export function networkFamilies(options: NetworkOptions, value: Network, timing: Timing): Family[] {
  const { chain } = options;
  const { performance, queues } = shownNetwork(options, value, timing);
  const each = (of: readonly ('deposit' | 'topup' | 'exit')[], pick: (queue: Queue) => number | null): Sample[] =>
    queues ? of.flatMap((queue) => sample(chain, pick(queues[queue]), { queue })) : [];
  return [
    ...performanceFamilies(
      'network',
      'all validators of the chain',
      performance ? [{ labels: { chain }, performance: performance.sums }] : [],
    ),
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
