import { type Chain, MS_PER_EPOCH } from '../../facts/chain.ts';
import { etherOf } from '../../facts/ether.ts';
import type { Family, Sample } from '../../toolkit/exposition/family.ts';
import type { Milliseconds, UnixMs } from '../../toolkit/lib/time.ts';
import { isShown, nextOf, shownChanges } from '../age.ts';
import { performanceFamilies } from '../duties.ts';
import type { Timing } from '../source.ts';
import { type Network, QUEUES, type Queue } from './schema.ts';

function maxAge({ intervalMs }: Timing): Milliseconds {
  return Math.max(3 * MS_PER_EPOCH, 2 * intervalMs);
}

/** What is not stale. */
export function shownNetwork(
  { performance, queues }: Network,
  timing: Timing,
): Pick<Network, 'performance' | 'queues'> {
  const isFresh = (readAt: UnixMs): boolean => isShown(readAt, maxAge(timing), timing.now);
  return {
    ...(performance && isFresh(performance.readAt) && { performance }),
    ...(queues && isFresh(queues.readAt) && { queues }),
  };
}

export function nextNetworkChange({ performance, queues }: Network, timing: Timing): UnixMs {
  const changes = [performance, queues].flatMap((one) => (one ? shownChanges(one.readAt, maxAge(timing)) : []));
  return nextOf(changes, timing.now);
}

/** Every family of the network, without samples where nothing is shown. */
export function networkFamilies(chain: Chain, value: Network, timing: Timing): Family[] {
  const { performance, queues } = shownNetwork(value, timing);
  const gauge = (name: string, help: string, samples: Sample[]): Family => ({
    name: `beaconchain_${name}`,
    type: 'gauge',
    help: `${help}.`,
    samples,
  });
  const each = (pick: (queue: Queue) => number | undefined): Sample[] =>
    QUEUES.flatMap((queue) => {
      const found = queues?.of[queue];
      const value = found && pick(found);
      return value === undefined ? [] : [{ labels: { chain, queue }, value }];
    });
  const shown = performance ? [{ labels: { chain }, performance: performance.sums }] : [];
  return [
    ...performanceFamilies('network', 'all validators of the chain', shown),
    gauge(
      'network_epoch',
      'Last epoch of the 24 hours of the duties of the network (range.epoch.end)',
      performance ? [{ labels: { chain }, value: performance.epoch }] : [],
    ),
    gauge(
      'queue_validators',
      'Validators that wait for their deposit or their exit (deposit_queue.deposit_count, exit_queue.count). In the older form of the answer the deposits include top-ups. Unproven: no recording of the service shows the queues',
      each(({ validators }) => validators).filter(({ labels }) => labels['queue'] !== 'topup'),
    ),
    gauge(
      'queue_balance_ether',
      'Ether that waits in a queue of the chain. In the older form of the answer the deposits include top-ups. Unproven: no recording of the service shows the queues',
      each(({ balance }) => (balance === undefined ? undefined : etherOf(balance))),
    ),
    gauge(
      'queue_end_timestamp_seconds',
      'Estimated time at which the last item leaves the queue (estimated_processed_at). Unproven: no recording of the service shows the queues',
      each(({ end }) => end),
    ),
  ];
}
