import type { MonotonicMs } from '../lib/time.ts';
import { isValid, type Lease, type LeaseReply } from './lease.ts';

/** What this replica knows when a heartbeat is answered. */
export interface Known {
  readonly isLeader: boolean;
  /** Whether it has read everything that it needs to lead. */
  readonly canLead: boolean;
  /** The newest revision that it knew when it sent the heartbeat. */
  readonly newestRevision: number;
  /** Whether a write may be missing: one has failed, or Redis was away. */
  readonly isUnwritten: boolean;
  readonly now: MonotonicMs;
}

export type Decision =
  | { readonly action: 'lead' }
  /** Stop polling. */
  | { readonly action: 'lapse'; readonly why: string }
  /** Continue to lead, and write everything again. */
  | { readonly action: 'rewrite'; readonly why: string }
  /** Change nothing. */
  | { readonly action: 'stay' };

export const LOST_WRITES = 'redis has lost writes: writing everything again';

/** What to do after a heartbeat. `lease` is the lease after the reply; `revision` the newest in Redis. */
export function decide(
  lease: Lease,
  { status, revision }: Pick<LeaseReply, 'status'> & { readonly revision: number },
  { isLeader, canLead, newestRevision, isUnwritten, now }: Known,
): Decision {
  const isHeld = isValid(lease, now);
  if (!isLeader) return { action: isHeld && canLead ? 'lead' : 'stay' };
  if (!isHeld) return { action: 'lapse', why: status === 'other' ? 'another replica leads' : 'lease lost' };
  // Other replicas may have led in between and written what this one has not read.
  if (status === 'taken' && revision > newestRevision) return { action: 'lapse', why: 'lease lost' };
  if (revision < newestRevision) return { action: 'rewrite', why: LOST_WRITES };
  if (isUnwritten) return { action: 'rewrite', why: 'writing what was not yet written' };
  return { action: 'stay' };
}
