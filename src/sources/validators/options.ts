import { sizeOf } from '../../facts/groups.ts';
import type { Milliseconds } from '../../toolkit/lib/time.ts';
import type { Read } from '../read.ts';
import type { WatchOptions } from '../source.ts';

export interface ValidatorsOptions extends WatchOptions {
  /** Whether to read status, balances and duties. */
  readonly status: boolean;
  /** Whether to read rewards as well. Requires the status. */
  readonly rewards: boolean;
  readonly syncCommittee: boolean;
  /** Whether to count every finalized epoch. `auto`: while it takes a small share of the limits. */
  readonly epochs: boolean | 'auto';
  /** How far back to read epochs after a stop. */
  readonly catchUpMs: Milliseconds;
  /** The most validators with counters of their own. */
  readonly series: number;
}

/** How many validators of a chain have series in a family about some of them. */
export const MAX_NAMED = 100;

/** How many requests these take, each about one group. */
export function requestsFor(sizes: readonly number[], identifiers: number): number {
  return sizes.reduce((sum, size) => sum + Math.ceil(size / identifiers), 0);
}

/**
 * The number of requests for all validators. With keys only an assumption until measured: keys of another chain, or without an index, take
 * fewer.
 */
export function costOf(
  { groups, keys }: ValidatorsOptions,
  identifiers: number,
): Pick<Read<never>, 'cost' | 'assumed'> {
  const requests = requestsFor(groups.map(sizeOf), identifiers);
  return keys ? { assumed: requests } : { cost: requests };
}
