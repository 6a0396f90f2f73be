import type { Chain } from '../../facts/chain.ts';
import { MS_PER_DAY } from '../../toolkit/lib/duration.ts';
import type { Milliseconds } from '../../toolkit/lib/time.ts';
import { partState, refusedUntil } from '../refusal.ts';
import { nextTick, type Source } from '../source.ts';
import { networkFamilies, nextNetworkChange } from './metrics.ts';
import { pollNetwork } from './poll.ts';
import { Network } from './schema.ts';
import { networkSummary } from './summary.ts';

export interface NetworkOptions {
  readonly chain: Chain;
  readonly intervalMs: Milliseconds;
  readonly weight: number;
}

/** The duties, and the queues. */
const REQUESTS = 2;
/** The share of a budget that the polls at the configured interval may take. */
const MAX_SHARE = 0.1;

/** The duties of all validators of a chain, beside those of one's own, and its queues. */
export function networkSource({ chain, intervalMs, weight }: NetworkOptions): Source<Network> {
  return {
    name: 'network',
    chain,
    endpoint: 'network_performance',
    intervalMs,
    empty: {},
    state: Network,
    due({ performanceRefusal, queuesRefusal }, attempts, timing) {
      const parts = [performanceRefusal, ...(timing.intervalMs > intervalMs ? [] : [queuesRefusal])];
      return Math.max(nextTick(attempts, timing.intervalMs), Math.min(...parts.map(refusedUntil)));
    },
    isDaily: true,
    weight,
    pace(requestsPerDay) {
      const wanted = (REQUESTS * MS_PER_DAY) / intervalMs;
      if (wanted <= requestsPerDay * MAX_SHARE) return { intervalMs, requestsPerDay: wanted, coverage: 'full' };
      const daily = Math.max(intervalMs, MS_PER_DAY);
      return { intervalMs: daily, requestsPerDay: MS_PER_DAY / daily, coverage: 'full' };
    },
    poll: (api, previous, timing, signal) =>
      pollNetwork({ chain, readsQueues: timing.intervalMs <= intervalMs }, api, previous, timing.now, signal),
    anew: ({ performance, queues }) => ({ ...(performance && { performance }), ...(queues && { queues }) }),
    parts: ({ performanceRefusal, queuesRefusal }) => [
      partState('network', performanceRefusal),
      partState('queues', queuesRefusal),
    ],
    families: (value, timing) => networkFamilies(chain, value, timing),
    summary: (value, timing) => networkSummary(value, timing),
    nextChange: (value, timing) => nextNetworkChange(value, timing),
  };
}
