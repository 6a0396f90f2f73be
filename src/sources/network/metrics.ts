import { etherOf } from '../../facts/ether.ts';
import type { Family, Sample } from '../../toolkit/exposition/family.ts';
import type { Milliseconds, UnixMs } from '../../toolkit/lib/time.ts';
import { performanceFamilies } from '../duties.ts';
import { family, fresh, maxAge, nextShownChange, sample, UNPROVEN } from '../families.ts';
import type { ChainOptions, Timing } from '../source.ts';
import type { Network, Queue } from './schema.ts';

/** At a stretched interval the queues are not read any more, so they are withdrawn as at the configured one. */
function queuesAge({ intervalMs }: ChainOptions, timing: Timing): Milliseconds {
  return maxAge({ intervalMs: Math.min(timing.intervalMs, intervalMs) });
}

export function shownNetwork(options: ChainOptions, { performance, queues }: Network, timing: Timing): Network {
  return {
    performance: fresh(performance, maxAge(timing), timing.now),
    queues: fresh(queues, queuesAge(options, timing), timing.now),
  };
}

export function nextNetworkChange(options: ChainOptions, { performance, queues }: Network, timing: Timing): UnixMs {
  const ages = [[performance, maxAge(timing)] as const, [queues, queuesAge(options, timing)] as const];
  return nextShownChange(ages, timing.now);
}

export function networkFamilies(options: ChainOptions, value: Network, timing: Timing): Family[] {
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
