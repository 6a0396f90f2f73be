import { type Chain, MS_PER_EPOCH } from '../../facts/chain.ts';
import { etherOf } from '../../facts/ether.ts';
import type { Family, Sample } from '../../toolkit/exposition/family.ts';
import type { Milliseconds, UnixMs } from '../../toolkit/lib/time.ts';
import { performanceFamilies } from '../duties.ts';
import { family, isShown, nextShownChange, sample, UNPROVEN } from '../families.ts';
import type { Timing } from '../source.ts';
import type { Network, Queue } from './schema.ts';

function maxAge({ intervalMs }: Timing): Milliseconds {
  return Math.max(3 * MS_PER_EPOCH, 2 * intervalMs);
}

/** What is not stale. */
export function shownNetwork({ performance, queues }: Network, timing: Timing): Network {
  const fresh = <T extends { readAt: UnixMs }>(one: T | undefined): T | undefined =>
    one && isShown(one.readAt, maxAge(timing), timing.now) ? one : undefined;
  return { performance: fresh(performance), queues: fresh(queues) };
}

export function nextNetworkChange({ performance, queues }: Network, timing: Timing): UnixMs {
  const read = [performance, queues].filter((one) => one !== undefined);
  return nextShownChange(
    read.map(({ readAt }) => [readAt, maxAge(timing)]),
    timing.now,
  );
}

/** Every family of the network; without samples where nothing is shown. */
export function networkFamilies(chain: Chain, value: Network, timing: Timing): Family[] {
  const { performance, queues } = shownNetwork(value, timing);
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
