import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  afterReply,
  isValid,
  LEASE_TIMINGS,
  type Lease,
  type LeaseStatus,
  NO_LEASE,
  takeable,
} from '../../src/replica/lease.ts';

const { ttlMs, marginMs, graceMs } = LEASE_TIMINGS;

const ROUND_TRIP_MS = 20;

/** The lease after the server has answered a question of `sentAt` so. */
function saw(lease: Lease, status: LeaseStatus, sentAt: number, connection = 1, value = '1 me', leftMs = 0): Lease {
  const reply = { status, value, leftMs, sentAt, receivedAt: sentAt + ROUND_TRIP_MS, connection };
  return afterReply(lease, reply, LEASE_TIMINGS);
}

describe('replica/lease', () => {
  it('holds from the moment of the question, and ends before the server can give it to another', () => {
    const lease = saw(NO_LEASE, 'taken', 1_000);
    expect(isValid(lease, 1_000 + ttlMs - marginMs - 1)).toBe(true);
    expect(isValid(lease, 1_000 + ttlMs - marginMs)).toBe(false);
    expect(isValid(saw(lease, 'held', 5_000), 5_000 + ttlMs - marginMs - 1)).toBe(true);
  });

  it('an answer that comes after a pause longer than the lease gives nothing', () => {
    expect(isValid(saw(NO_LEASE, 'taken', 1_000), 61_000)).toBe(false);
  });

  it.each(['other', 'released', 'free', 'newer'] as const)('ends at once when the server says %s', (status) => {
    expect(isValid(saw(saw(NO_LEASE, 'taken', 1_000), status, 1_500), 1_500)).toBe(false);
  });

  it('one that was given back is taken at once, one that ran out only after a while over one connection', () => {
    expect(takeable(NO_LEASE, 0, 1, LEASE_TIMINGS)).toBe('released');
    // The answer can have been on its way for long, so the question says nothing.
    const since = 1_000 + ROUND_TRIP_MS;
    const seen = saw(saw(NO_LEASE, 'free', 1_000), 'free', 2_000);
    expect(takeable(seen, since + graceMs - 1, 1, LEASE_TIMINGS)).toBe('released');
    expect(takeable(seen, since + graceMs, 1, LEASE_TIMINGS)).toBe('free');
    // Meanwhile the server was away, and its last holder with it.
    expect(takeable(seen, since + graceMs, 2, LEASE_TIMINGS)).toBe('released');
    expect(takeable(saw(seen, 'other', 3_000, 1, '2 other'), 10_000, 1, LEASE_TIMINGS)).toBe('released');
  });

  it('one that was lost before its end is not taken while its holder may believe in it, whatever the connections do', () => {
    const held = saw(NO_LEASE, 'other', 1_000, 1, '2 other', 8_700);
    const lost = saw(held, 'free', 1_500, 2);
    const end = 1_520 + ttlMs - marginMs;
    expect(takeable(lost, end - 1, 2, LEASE_TIMINGS)).toBe('released');
    expect(takeable(lost, end, 2, LEASE_TIMINGS)).toBe('free');
    const again = saw(lost, 'free', 4_000, 3);
    expect(takeable(again, end - 1, 3, LEASE_TIMINGS)).toBe('released');
    expect(takeable(again, end, 3, LEASE_TIMINGS)).toBe('free');
    // Here it expired.
    const expired = saw(held, 'free', 9_700);
    expect(takeable(expired, 9_700 + ROUND_TRIP_MS + graceMs, 1, LEASE_TIMINGS)).toBe('free');
    // A later holder gave it back.
    expect(takeable(saw(lost, 'other', 3_000, 2, '3 third', 9_000), 3_000, 2, LEASE_TIMINGS)).toBe('released');
  });

  it('its last holder need not wait, unless another one has held it since', () => {
    const lost = saw(saw(NO_LEASE, 'taken', 1_000), 'free', 20_000, 2, '');
    expect(takeable(lost, 20_000, 2, LEASE_TIMINGS)).toBe('own');
    expect(takeable(lost, 20_000 + ROUND_TRIP_MS + graceMs, 2, LEASE_TIMINGS)).toBe('free');
    expect(takeable(saw(lost, 'other', 20_500, 2, '2 other'), 20_500, 2, LEASE_TIMINGS)).toBe('released');
  });

  it('a takeover takes less than 15 s, with the quiet second of the one who takes over', () => {
    const { heartbeatMs } = LEASE_TIMINGS;
    expect(ttlMs + heartbeatMs + graceMs + heartbeatMs + 1_005).toBeLessThan(15_000);
  });

  it('never has two holders, however late questions and answers are, in whatever order replicas pause', () => {
    const step = fc.record({
      who: fc.nat(2),
      thereMs: fc.nat(3_000),
      backMs: fc.nat(20_000),
      pauseMs: fc.nat(3_000),
    });
    fc.assert(
      fc.property(
        fc.array(step, { minLength: 10, maxLength: 60 }),
        fc.array(fc.nat(1_000_000), { minLength: 3, maxLength: 3 }),
        (steps, offsets) => {
          // The monotonic clocks of the replicas have nothing in common.
          const own = (who: number, now: number): number => now + (offsets[who] ?? 0);
          const leases = [NO_LEASE, NO_LEASE, NO_LEASE];
          let now = 0;
          let term = 0;
          let held = { value: '', until: 0 };
          for (const { who, thereMs, backMs, pauseMs } of steps) {
            now += pauseMs;
            const lease = leases[who] as Lease;
            const sentAt = own(who, now);
            const taking = takeable(lease, sentAt, 1, LEASE_TIMINGS);
            now += thereMs;
            let status: LeaseStatus = 'other';
            if (now >= held.until) {
              const isLast = taking === 'own' && lease.value === `${term} ${who}`;
              status = taking === 'free' || isLast ? 'taken' : 'free';
              if (status === 'taken') held = { value: `${++term} ${who}`, until: now + ttlMs };
            } else if (held.value === lease.value) {
              status = 'held';
              held = { ...held, until: now + ttlMs };
            }
            now += backMs;
            leases[who] = afterReply(
              lease,
              {
                status,
                value: status === 'free' ? '' : held.value,
                leftMs: Math.max(0, held.until - now + backMs),
                sentAt,
                receivedAt: own(who, now),
                connection: 1,
              },
              LEASE_TIMINGS,
            );
            const holders = leases.filter((one, i) => isValid(one, own(i, now)));
            expect(holders.length).toBeLessThanOrEqual(1);
            for (const holder of holders) expect(held).toMatchObject({ value: holder.value });
          }
        },
      ),
    );
  });
});
