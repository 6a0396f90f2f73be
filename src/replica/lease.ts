/**
 * Who may poll. The lease is a key with a time to live at the server; its value names one term of one holder, and every
 * write is refused that does not come with it. Times here are of the own monotonic clock: replicas never compare clocks.
 */

/** How the server found the lease. */
export type Standing =
  /** It is ours, and was prolonged. */
  | 'held'
  /** It was free, and is ours now. */
  | 'taken'
  /** Another replica holds it. */
  | 'other'
  /** Its holder gave it back. */
  | 'released'
  /** It ran out, or was lost with the server's memory. */
  | 'free'
  /** It is free, but the state is of a newer version of the program. */
  | 'newer';

export interface LeaseTerms {
  /** How long the server keeps a lease that nobody prolongs. */
  readonly ttlMs: number;
  /** The holder stops so long before that: what is about to leave, leaves in time. */
  readonly marginMs: number;
  /**
   * A lease that ran out is left alone for so long: after the server was away, its last holder is there first and loses
   * nothing of what it has shown.
   */
  readonly graceMs: number;
  /** How often the lease is prolonged, and how long a change may go unnoticed. */
  readonly beatMs: number;
}

/** With a beat, a connection that takes its time and a second of silence, another replica asks within 15 s. */
export const LEASE_TERMS: LeaseTerms = { ttlMs: 9_000, marginMs: 1_000, graceMs: 2_000, beatMs: 500 };

/** The lease ran out, or is another replica's: what was to be written is not. */
export class LeaseLost extends Error {
  override readonly name = 'LeaseLost';

  constructor() {
    super('another replica may poll now');
  }
}

export interface Lease {
  /** The value of our last term; '' before the first. */
  readonly value: string;
  /** Until then nobody else can hold it. */
  readonly validUntil: number;
  /** Whether nobody else has held it since our last term. */
  readonly isLastHolder: boolean;
  /** Since when it is known to be free, over one and the same connection. */
  readonly freeSince?: { readonly at: number; readonly connection: number };
}

export const NO_LEASE: Lease = { value: '', validUntil: Number.NEGATIVE_INFINITY, isLastHolder: false };

export function isValid(lease: Lease, now: number): boolean {
  return now < lease.validUntil;
}

/** Which lease may be taken now, if it is found so. */
export function mayTake(lease: Lease, now: number, connection: number, { graceMs }: LeaseTerms): 'released' | 'free' {
  if (lease.isLastHolder) return 'free';
  const { freeSince } = lease;
  return freeSince?.connection === connection && now - freeSince.at >= graceMs ? 'free' : 'released';
}

/** What the server said. */
export interface Sight {
  readonly standing: Standing;
  /** The value of the lease as it is now. */
  readonly value: string;
  /** When the question was sent: the lease was prolonged no earlier. */
  readonly sentAt: number;
  readonly connection: number;
}

export function afterSight(lease: Lease, sight: Sight, { ttlMs, marginMs }: LeaseTerms): Lease {
  const { standing, value, sentAt, connection } = sight;
  const { value: last, isLastHolder } = lease;
  switch (standing) {
    case 'held':
    case 'taken':
      return { value, validUntil: sentAt + ttlMs - marginMs, isLastHolder: true };
    case 'other':
      return { value: last, validUntil: Number.NEGATIVE_INFINITY, isLastHolder: false };
    case 'newer':
    case 'released':
      return { value: last, validUntil: Number.NEGATIVE_INFINITY, isLastHolder };
    case 'free': {
      const known = lease.freeSince?.connection === connection ? lease.freeSince : undefined;
      return {
        value: last,
        validUntil: Number.NEGATIVE_INFINITY,
        isLastHolder,
        freeSince: known ?? { at: sentAt, connection },
      };
    }
  }
}
