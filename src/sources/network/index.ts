import { etherOf } from '../../facts/ether.ts';
import type { Family, Sample } from '../../toolkit/exposition/family.ts';
import { MS_PER_DAY } from '../../toolkit/lib/duration.ts';
import type { Milliseconds, UnixMs } from '../../toolkit/lib/time.ts';
import type { Summary } from '../content.ts';
import { attestationFacts, performanceFamilies } from '../duties.ts';
import { family, fresh, maxAge, nextShownChange, sample, UNPROVEN } from '../families.ts';
import { partsOf, refusedUntil } from '../refusal.ts';
import { type ChainOptions, nextTick, type Source, type Timing } from '../source.ts';
import { pollNetwork } from './poll.ts';
import { Network, type Queue } from './schema.ts';

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
    due(value, attempts, timing) {
      const isStretched = timing.intervalMs > intervalMs;
      const queuesUntil = isStretched ? Number.POSITIVE_INFINITY : refusedUntil(value, 'queues');
      return Math.max(nextTick(attempts, timing.intervalMs), Math.min(refusedUntil(value, 'network'), queuesUntil));
    },
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
    summary: (value, timing) => networkSummary(shownNetwork(options, value, timing), timing.now),
    nextChange: (value, timing) => nextNetworkChange(options, value, timing),
  };
}

function networkSummary({ performance }: Network, now: UnixMs): Summary {
  if (!performance) return {};
  return { section: 'Validators', facts: attestationFacts('the network', [performance.sums], performance.readAt, now) };
}

/** At a stretched interval the queues are not read any more, so they are withdrawn as at the configured one. */
function queuesAge({ intervalMs }: ChainOptions, timing: Timing): Milliseconds {
  return maxAge({ intervalMs: Math.min(timing.intervalMs, intervalMs) });
}

function shownNetwork(options: ChainOptions, { performance, queues }: Network, timing: Timing): Network {
  return {
    performance: fresh(performance, maxAge(timing), timing.now),
    queues: fresh(queues, queuesAge(options, timing), timing.now),
  };
}

function nextNetworkChange(options: ChainOptions, { performance, queues }: Network, timing: Timing): UnixMs {
  const ages = [[performance, maxAge(timing)] as const, [queues, queuesAge(options, timing)] as const];
  return nextShownChange(ages, timing.now);
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
