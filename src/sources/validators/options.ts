import type { WatchedGroup } from '../../facts/groups.ts';
import { watchedCount } from '../../facts/watch.ts';
import type { WatchOptions } from '../source.ts';

export interface ValidatorsOptions extends WatchOptions {
  /** Whether to read status, balances and duties. */
  readonly status: boolean;
  /** Whether to read rewards as well. Requires the status. */
  readonly rewards: boolean;
  readonly syncCommittee: boolean;
}

/** The number of requests for all validators. No request is about two groups. */
export function requestsFor(groups: readonly WatchedGroup[], identifiers: number): number {
  return groups.reduce((sum, { watch }) => sum + Math.ceil(watchedCount(watch) / identifiers), 0);
}
