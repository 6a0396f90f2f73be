import { MS_PER_DAY } from '../../toolkit/lib/duration.ts';
import type { UnixMs } from '../../toolkit/lib/time.ts';
import type { Summary } from '../content.ts';
import { attestationFacts } from '../duties.ts';
import { partsOf, refusedUntil } from '../refusal.ts';
import { type ChainOptions, nextTick, type Source } from '../source.ts';
import { networkFamilies, nextNetworkChange, shownNetwork } from './metrics.ts';
import { pollNetwork } from './poll.ts';
import { Network } from './schema.ts';

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
  return performance ? { facts: attestationFacts('the network', [performance.sums], performance.readAt, now) } : {};
}
