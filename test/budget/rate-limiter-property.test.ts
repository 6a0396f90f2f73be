import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { perSecondOf } from '../../src/budget/bucket.ts';
import { emptyLedger } from '../../src/budget/ledger.ts';
import { PRIORITIES } from '../../src/budget/permit.ts';
import { RateLimiter } from '../../src/budget/rate-limiter.ts';
import { NOW, noSignal } from '../support/time/timing.ts';
import { VirtualClock } from '../support/time/virtual-clock.ts';
import { cases, PATIENT } from '../support/vitest/fuzz.ts';
import { bucket } from './queue.ts';

/** The bucket of each route, which the rate limiter has to find out. */
const BUCKET_OF = { a: 'default', b: 'default', c: 'other' } as const;

const step = fc.record({
  route: fc.constantFrom('a', 'b', 'c'),
  priority: fc.constantFrom(...PRIORITIES),
  /** Milliseconds after the previous request. */
  gap: fc.oneof(fc.constant(0), fc.double({ min: 0, max: 600, noNaN: true })),
  latency: fc.double({ min: 0, max: 1_500, noNaN: true }),
  /** When the service counts it, from 0 (departure) to 1 (answer). */
  counted: fc.oneof(fc.constantFrom(0, 1), fc.double({ min: 0, max: 1, noNaN: true })),
  /** Requests per second that its answer grants. 0: an answer without headers. -1: no answer. */
  grants: fc.integer({ min: -1, max: 6 }),
});

interface Counted {
  readonly bucket: string;
  readonly at: number;
  /** Its place in the order of departures. */
  readonly order: number;
  /** The limit of its bucket as known when it left. */
  readonly limit: number;
}

async function run(steps: readonly (typeof step extends fc.Arbitrary<infer T> ? T : never)[], utilization: number) {
  const clock = new VirtualClock(NOW);
  const rateLimiter = new RateLimiter({ utilization }, { clock, ledger: emptyLedger() });
  const counted: Counted[] = [];
  let departures = 0;
  for (const { route, priority, gap, latency, counted: share, grants } of steps) {
    await clock.advance(gap);
    const send = async (): Promise<void> => {
      const permit = await rateLimiter.acquire({ route, priority }, noSignal());
      departures += 1;
      const limit = perSecondOf(rateLimiter.settleLedger().buckets[BUCKET_OF[route]], { utilization });
      const departure = { bucket: BUCKET_OF[route], order: departures, limit };
      await clock.sleep(latency * share);
      counted.push({ ...departure, at: clock.monotonic() });
      await clock.sleep(latency * (1 - share));
      if (grants < 0) permit.release(undefined);
      else permit.release({ status: 200, headers: grants === 0 ? {} : bucket(BUCKET_OF[route], grants) });
    };
    void send();
  }
  await clock.advance(3_600_000);
  return counted;
}

describe('budget/rate-limiter: property', PATIENT, () => {
  it('exceeds the limit of no bucket in any second, and loses no request', async () => {
    const utilizations = fc.constantFrom(0.3, 0.5, 0.9, 1);
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 40, size: 'max' }), utilizations, async (steps, utilization) => {
        const counted = await run(steps, utilization);
        expect(counted).toHaveLength(steps.length);
        for (const first of counted) {
          const isInSecond = (one: Counted): boolean =>
            one.bucket === first.bucket && one.at >= first.at && one.at < first.at + 1_000;
          const second = counted.filter(isInSecond).toSorted((x, y) => x.order - y.order);
          // The last request of a second sees all others of that second, in flight or cooling.
          expect(second.length).toBeLessThanOrEqual(second.at(-1)?.limit ?? 0);
        }
      }),
      cases(150),
    );
  });
});
