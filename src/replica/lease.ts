import type { Milliseconds, MonotonicMs } from '../lib/time.ts';

/**
 * Who may poll. The lease is a key in Redis with a time to live. Its value names one term of one holder, and Redis refuses
 * every write that comes with another value. Times here are read from the monotonic clock of this process: replicas never
 * compare their clocks.
 */

/** The status of the lease in Redis. */
export type LeaseStatus =
  /** It was ours, and has been renewed. */
  | 'held'
  /** It was free, and is ours now. */
  | 'taken'
  /** Another replica holds it. */
  | 'other'
  /** Its holder gave it back. */
  | 'released'
  /** It expired, or Redis has lost its data. */
  | 'free'
  /** It is free, but the state was written by a newer version of the program. */
  | 'newer';

/**
 * Which leases a heartbeat may take: none; one that was given back; also one that expired, if Redis has no later term
 * than ours; or any expired one.
 */
export type Takeable = 'never' | 'released' | 'own' | 'free';

export interface LeaseTimings {
  /** How long Redis keeps a lease that nobody renews. */
  readonly ttlMs: Milliseconds;
  /** The holder stops this long before the end, so that requests in progress are sent in time. */
  readonly marginMs: Milliseconds;
  /**
   * How long an expired lease is not taken. After an outage of Redis, the last holder can take its lease again first,
   * so that the values it has shown are not lost.
   */
  readonly graceMs: Milliseconds;
  /** How often the lease is renewed, and how long a change may go unnoticed. */
  readonly heartbeatMs: Milliseconds;
}

/** Another replica sends its first request within 15 s, slow connections and a second of silence before it included. */
export const LEASE_TIMINGS: LeaseTimings = { ttlMs: 9_000, marginMs: 1_000, graceMs: 2_000, heartbeatMs: 500 };

/** The lease ran out or belongs to another replica. Nothing was written. */
export class LeaseLost extends Error {
  override readonly name = 'LeaseLost';

  constructor() {
    super('another replica may poll now');
  }
}

export interface Lease {
  /** The value of our last term; '' before the first. */
  readonly value: string;
  /** No other replica can hold it before this time. */
  readonly validUntil: MonotonicMs;
  /**
   * Whether no other replica is known to have held it since our last term. A disconnected replica may not have noticed.
   */
  readonly isLastHolder: boolean;
  /**
   * Since when it is known to be free, as seen over one connection: when the reply came, because the request can be much
   * older.
   */
  readonly freeSince?: { readonly at: MonotonicMs; readonly connection: number };
  /** When the lease of another replica was to expire, as last seen. */
  readonly expectedUntil?: MonotonicMs;
  /** Until when another replica may believe that it holds the lease, because Redis lost the lease before its end. */
  readonly believedUntil?: MonotonicMs;
}

export const NO_LEASE: Lease = { value: '', validUntil: Number.NEGATIVE_INFINITY, isLastHolder: false };

export function isValid(lease: Lease, now: MonotonicMs): boolean {
  return now < lease.validUntil;
}

/** Which leases may be taken now. */
export function takeable(lease: Lease, now: MonotonicMs, connection: number, { graceMs }: LeaseTimings): Takeable {
  const { freeSince, isLastHolder, believedUntil = now } = lease;
  if (freeSince?.connection === connection && now - freeSince.at >= graceMs && now >= believedUntil) return 'free';
  return isLastHolder ? 'own' : 'released';
}

export interface LeaseReply {
  readonly status: LeaseStatus;
  /** The value of the lease as it is now. */
  readonly value: string;
  /** How long it has to live; Infinity: it has no end. */
  readonly leftMs: Milliseconds;
  /** When the heartbeat was sent: Redis renewed the lease no earlier. */
  readonly sentAt: MonotonicMs;
  readonly receivedAt: MonotonicMs;
  readonly connection: number;
}

export function afterReply(lease: Lease, reply: LeaseReply, { ttlMs, marginMs }: LeaseTimings): Lease {
  const { status, value, leftMs, sentAt, receivedAt, connection } = reply;
  const notOurs = { value: lease.value, validUntil: Number.NEGATIVE_INFINITY, isLastHolder: lease.isLastHolder };
  switch (status) {
    case 'held':
    case 'taken':
      return { value, validUntil: sentAt + ttlMs - marginMs, isLastHolder: true };
    case 'other':
      return { ...notOurs, isLastHolder: false, expectedUntil: sentAt + leftMs };
    case 'newer':
    case 'released':
      return notOurs;
    case 'free': {
      const since = lease.freeSince?.connection === connection ? lease.freeSince : undefined;
      const isTooEarly = lease.expectedUntil !== undefined && receivedAt < lease.expectedUntil;
      const believedUntil = isTooEarly ? receivedAt + ttlMs - marginMs : lease.believedUntil;
      const free = { ...notOurs, freeSince: since ?? { at: receivedAt, connection } };
      return believedUntil === undefined ? free : { ...free, believedUntil };
    }
  }
}
