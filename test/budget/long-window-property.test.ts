import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { EMPTY_BUCKET, quotaOf } from '../../src/budget/bucket.ts';
import { emptyLedger } from '../../src/budget/ledger.ts';
import { BudgetClosed } from '../../src/budget/permit.ts';
import { RateLimiter } from '../../src/budget/rate-limiter.ts';
import {
  type Account,
  charge,
  createAccount,
  DEMO_KEY,
  refund,
  spend,
  usedOfMonth,
} from '../../src/sandbox/account.ts';
import { noSignal } from '../support/time/timing.ts';
import { VirtualClock } from '../support/time/virtual-clock.ts';
import { cases, PATIENT } from '../support/vitest/fuzz.ts';

const OCTOBER = Date.UTC(2026, 9, 1);
const LIMIT = 60;
const BUDGET_OPTIONS = { utilization: 0.75 };
const SHARE = 45;

/** What becomes of a request. */
const fate = fc.constantFrom('answered', 'answered', 'answered', 'failed', 'lost', 'bare');
/** Requests of others before it, which its answer reports. */
const spending = fc.integer({ min: 1, max: 25 }).map((others) => ({ fate: 'answered' as const, others }));
/** Milliseconds there and back. */
const latency = fc.integer({ min: 0, max: 400 });
const step = fc
  .oneof({ weight: 8, arbitrary: fate.map((fate) => ({ fate, others: 0 })) }, { weight: 1, arbitrary: spending })
  .chain((what) => fc.record({ what: fc.constant(what), there: latency, back: latency }))
  .map(({ what, there, back }) => ({ ...what, there, back }));
type Step = typeof step extends fc.Arbitrary<infer T> ? T : never;

const LOOK: Step = { fate: 'answered', others: 0, there: 0, back: 0 };

const REQUEST = { path: '/api/v2/machine-metrics', headers: { authorization: `Bearer ${DEMO_KEY}` } };

/** What the service says. It gives a request back that fails after it was counted. */
function answered(account: Account, fate: Step['fate'], now: number) {
  const charged = charge(account, REQUEST, now);
  const { refusedBy, headers } = charged;
  if (refusedBy) return { status: 429, headers };
  if (fate === 'failed') refund(charged);
  return { status: fate === 'failed' ? 500 : 200, headers: fate === 'bare' ? {} : headers };
}

async function run(steps: readonly Step[], inFlight: number) {
  const clock = new VirtualClock(OCTOBER);
  const rateLimiter = new RateLimiter(BUDGET_OPTIONS, { clock, ledger: emptyLedger() });
  const account = createAccount({ plan: { perSecond: 5, perMonth: LIMIT } });
  let [spent, refused] = [0, 0];
  const left = (): number => LIMIT - usedOfMonth(account, clock.now());
  const send = async ({ fate, there, back }: Step): Promise<void> => {
    const permit = await rateLimiter.acquire({ route: 'any', priority: 'fleet' }, noSignal());
    await clock.sleep(there);
    const head = fate === 'lost' ? undefined : answered(account, fate, clock.now());
    if (head?.status === 429) refused += 1;
    await clock.sleep(back);
    permit.release(head);
  };
  // Nothing can be reserved of a quota that no answer has reported.
  const told: Step[] = [LOOK, ...steps];
  for (let i = 0; i < told.length; i += inFlight) {
    const together = told.slice(i, i + inFlight);
    // Not into the last ones: what others spend between our look and our next requests cannot be known.
    const wanted = together.reduce((sum, one) => sum + one.others, 0);
    const others = Math.min(wanted, Math.max(0, left() - inFlight));
    spent += others;
    spend(account, others, clock.now());
    // They leave us the next second.
    await clock.advance(1_000);
    for (const one of together) {
      send(one).catch((error: unknown) => {
        if (!(error instanceof BudgetClosed)) throw error;
      });
    }
    await clock.advance(inFlight * 2_000);
  }
  const { default: bucket = EMPTY_BUCKET } = rateLimiter.settleLedger().buckets;
  const isClosed = quotaOf(bucket, BUDGET_OPTIONS, clock.now()).closedUntil > 0;
  return { ours: LIMIT - left() - spent, left: left(), refused, isClosed };
}

describe('budget/long-window: property', PATIENT, () => {
  it('spends its share of the month, no more and no less, whatever fails, whoever else spends', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 120, size: 'max' }), async (steps) => {
        // The last answer reports the remaining requests.
        const { ours, left, isClosed } = await run([...steps, LOOK], 1);
        expect(ours).toBeLessThanOrEqual(SHARE);
        // The answer to a request that is given back does not count that one yet.
        if (left !== 1) expect(isClosed, `${ours} ours, ${left} left`).toBe(ours === SHARE || left === 0);
      }),
      cases(60),
    );
  });

  it('is not refused, also with several requests under way', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 90, size: 'max' }), fc.constantFrom(1, 2, 4), async (steps, n) => {
        expect((await run(steps, n)).refused).toBe(0);
      }),
      cases(60),
    );
  });
});
