/** A document that the server took. Times are those of the world, in Unix ms. */
export interface AcceptedWrite {
  readonly at: number;
  /** The lease that the writer named; '' where the write came from elsewhere than a script. */
  readonly lease: string;
  /** The lease that the server had then. */
  readonly held: string | undefined;
  readonly name: string;
  readonly revision: string;
}

/** Who had the lease, from when to when. */
export interface Term {
  /** The value of the lease. */
  readonly value: string;
  readonly from: number;
  /** When it was last renewed; at first when it was taken. */
  renewedAt: number;
  /** Undefined while it lasts. */
  until?: number;
  end?: 'released' | 'expired' | 'lost' | 'replaced';
}

/** Who has taken a lease: `host-number` of a process. */
export function ownerOf(lease: string | undefined): string {
  return lease?.split(' ')[1] ?? '';
}

/** The lease as the server has it. */
export interface HeldLease {
  readonly value: string;
  readonly expiresAt: number | undefined;
}

/** What a server did, for the checks: it knows what no replica needs to know. */
export class RedisRecord {
  /** A check of a long run empties it from time to time. */
  readonly writes: AcceptedWrite[] = [];
  readonly terms: Term[] = [];
  /** How often data were lost: a restart without them, or a failover to an older copy. */
  losses = 0;
  /** When they were last lost. */
  lostAt = Number.NEGATIVE_INFINITY;
  /** Commands that were executed after the client had given them up. */
  late = 0;
  /** Commands that were executed, but whose answer did not arrive. */
  unanswered = 0;
  /** Told of each new term, and of the one before. */
  onTerm: (before: Term | undefined, term: Term) => void = () => undefined;
  #held: HeldLease | undefined;

  /** The term that lasts. */
  get term(): Term | undefined {
    const last = this.terms.at(-1);
    return last?.until === undefined ? last : undefined;
  }

  /** Takes note of the lease as it is now. `end`: why it would be gone. */
  see(at: number, held: HeldLease | undefined, end: 'expired' | 'lost'): void {
    const before = this.#held;
    this.#held = held;
    const term = this.term;
    if (before?.value === held?.value) {
      if (term && before?.expiresAt !== held?.expiresAt) term.renewedAt = at;
      return;
    }
    if (term) {
      term.until = at;
      term.end = held === undefined ? end : held.value === 'released' ? 'released' : 'replaced';
    }
    if (!held || held.value === 'released') return;
    const next = { value: held.value, from: at, renewedAt: at };
    this.onTerm(this.terms.at(-1), next);
    this.terms.push(next);
  }
}
