import { describe, expect, it } from 'vitest';
import { decide, type Known } from '../../src/replica/decide.ts';
import { type Lease, type LeaseStatus, NO_LEASE } from '../../src/replica/lease.ts';

const NOW = 10_000;
const VALID: Lease = { value: '1 me', validUntil: NOW + 1, isLastHolder: true };
const ENDED: Lease = { ...VALID, validUntil: NOW };

const FOLLOWER: Known = { isLeader: false, canLead: true, newestRevision: 5, isUnwritten: false, now: NOW };
const LEADER: Known = { ...FOLLOWER, isLeader: true };

describe('replica/decide', () => {
  it.each<[string, Lease, LeaseStatus, number, Known, string]>([
    ['a follower that gets the lease leads', VALID, 'taken', 5, FOLLOWER, 'lead'],
    ['also of one that was its own all along', VALID, 'held', 5, FOLLOWER, 'lead'],
    ['also with documents that came with the answer', VALID, 'taken', 9, FOLLOWER, 'lead'],
    ['it does not without what it needs to lead', VALID, 'held', 5, { ...FOLLOWER, canLead: false }, 'stay'],
    ['it does not when the answer comes after the end', ENDED, 'taken', 5, FOLLOWER, 'stay'],
    ['it waits while another replica leads', NO_LEASE, 'other', 5, FOLLOWER, 'stay'],
    ['it writes nothing, whatever Redis lacks', NO_LEASE, 'free', 0, { ...FOLLOWER, isUnwritten: true }, 'stay'],
    ['a leader goes on', VALID, 'held', 5, LEADER, 'stay'],
    ['also after its own writes while the heartbeat was under way', VALID, 'held', 6, LEADER, 'stay'],
    ['also when it takes its lost lease again and nobody has written', VALID, 'taken', 5, LEADER, 'stay'],
    ['it stops when others may have written', VALID, 'taken', 6, LEADER, 'lapse: lease lost'],
    ['it stops when another leads', NO_LEASE, 'other', 5, LEADER, 'lapse: another replica leads'],
    ['it stops when the lease is gone', NO_LEASE, 'free', 5, LEADER, 'lapse: lease lost'],
    ['it stops when the answer comes after the end', ENDED, 'held', 5, LEADER, 'lapse: lease lost'],
    [
      'it writes everything again when Redis went back',
      ...([VALID, 'held', 4, LEADER, 'rewrite: redis has lost writes: writing everything again'] as const),
    ],
    [
      'also when it has to take the lease again',
      ...([VALID, 'taken', 0, LEADER, 'rewrite: redis has lost writes: writing everything again'] as const),
    ],
    [
      'also when a write may be missing',
      ...([VALID, 'held', 5, { ...LEADER, isUnwritten: true }, 'rewrite: writing what was not yet written'] as const),
    ],
    [
      'it stops first, whatever is not written',
      ENDED,
      'held',
      4,
      { ...LEADER, isUnwritten: true },
      'lapse: lease lost',
    ],
  ])('%s', (_, lease, status, revision, known, expected) => {
    const decision = decide(lease, { status, revision }, known);
    expect('why' in decision ? `${decision.action}: ${decision.why}` : decision.action).toBe(expected);
  });
});
