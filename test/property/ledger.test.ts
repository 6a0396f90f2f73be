import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { allowedPerDay, type BudgetOptions, EMPTY_BUCKET, perSecondOf, windowAt } from '../../src/budget/bucket.ts';
import { type Headers, WINDOWS } from '../../src/budget/headers.ts';
import { bucketOf, emptyLedger, Ledger, opensAt, sent } from '../../src/budget/ledger.ts';
import { BudgetClosed } from '../../src/budget/permit.ts';
import { RateLimiter } from '../../src/budget/rate-limiter.ts';
import { told } from '../budget/told.ts';
import { DAY, HOUR, MINUTE, NOW, noSignal } from '../support/time/timing.ts';
import { VirtualClock } from '../support/time/virtual-clock.ts';
import { cases, PATIENT } from '../support/vitest/fuzz.ts';
import { LIMIT_HEADERS, mutated, mutations, oddHeaders } from './odd.ts';

const ROUTES = ['a', 'b'] as const;
const BUDGET_OPTIONS = [{ utilization: 0.9 }, { utilization: 1, perSecond: 1, perMonth: 1_000 }] as const;

const answer = fc.record({
  route: fc.constantFrom(...ROUTES),
  status: fc.constantFrom(200, 200, 200, 200, 401, 403, 429, 429, 500),
  headers: oddHeaders,
  isLost: fc.constantFrom(false, false, false, true),
  /** Milliseconds until the next request; the wall clock may step. */
  pause: fc.oneof(fc.nat(10_000), fc.nat(40 * DAY)),
  step: fc.oneof({ weight: 5, arbitrary: fc.constant(0) }, fc.constantFrom(-3_600_000, DAY)),
});

describe('fuzz ledger', PATIENT, () => {
  it('always names a time for the next request, and is read back as it was saved', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom(...BUDGET_OPTIONS),
        fc.array(answer, { maxLength: 12 }),
        async (budgetOptions, answers) => {
          const clock = new VirtualClock(NOW);
          let rateLimiter = new RateLimiter(budgetOptions, { clock, ledger: emptyLedger() });
          for (const { route, status, headers, isLost, pause, step } of answers) {
            const sending = rateLimiter.acquire({ route, priority: 'fleet' }, noSignal()).then(
              (permit) => permit.release(isLost ? undefined : { status, headers }),
              (error: unknown) => expect(error).toBeInstanceOf(BudgetClosed),
            );
            await clock.advance(70_000);
            await sending;
            expectSane(rateLimiter, budgetOptions, clock.now());
            // The next process starts with what is written between two requests.
            const saved = JSON.parse(JSON.stringify(rateLimiter.settleLedger()));
            const ledger = Ledger.parse(saved);
            expect(JSON.parse(JSON.stringify(ledger))).toEqual(saved);
            rateLimiter = new RateLimiter(budgetOptions, { clock, ledger });
            expectSane(rateLimiter, budgetOptions, clock.now());
            clock.step(step);
            await clock.advance(pause);
          }
        },
      ),
      cases(150),
    );
  });

  it('names a time for the next request from any state that is read, even a changed one', () => {
    const window = { limit: 1_000, remaining: 500, own: 100, since: NOW - HOUR };
    const bucket = {
      limits: { second: 2, month: 1_000 },
      remaining: { second: 1, month: 500 },
      resetAt: NOW,
      wait: { until: NOW - 1, at: NOW - MINUTE, blind: 1, zeros: 0 },
      firstUseAt: NOW - HOUR,
      lastUseAt: NOW - HOUR,
      hour: window,
      month: window,
    };
    const ledger = { ...emptyLedger(), buckets: { default: bucket }, routes: { a: 'default' }, otherRoutes: 'default' };
    fc.assert(
      fc.property(mutations(), (changes) => {
        const parsed = Ledger.safeParse(mutated(ledger, changes));
        if (!parsed.success) return;
        const options = { utilization: 0.9 };
        const rateLimiter = new RateLimiter(options, { clock: new VirtualClock(NOW), ledger: parsed.data });
        const known = rateLimiter.settleLedger();
        const name = bucketOf(known, 'a');
        expect(opensAt(known, 'a', options, NOW)).toBeGreaterThanOrEqual(0);
        expect(perSecondOf(known.buckets[name], options)).toBeGreaterThan(0);
        expect(allowedPerDay(known.buckets[name], options, NOW)).toBeGreaterThanOrEqual(0);
      }),
      cases(200),
    );
  });
});

const LONG = ['hour', 'month'] as const;
/** An undefined window is one that the account lacks. */
const plan = fc.record({
  second: fc.constantFrom(1, 2, 5),
  hour: fc.constantFrom(undefined, 7, 40),
  month: fc.constantFrom(undefined, 9, 60),
});
const someHeaders = fc.oneof(fc.subarray(LIMIT_HEADERS, { maxLength: 3 }), fc.subarray(LIMIT_HEADERS));
const exchange = fc.record({
  status: fc.constantFrom(200, 200, 404, 500),
  /** The plan from this request on. */
  change: fc.option(plan, { freq: 20, nil: undefined }),
  /** Another client has used up the second. */
  isBusy: fc.constantFrom(false, false, true),
  isFallback: fc.constantFrom(false, false, false, true),
  dropped: someHeaders,
  repeated: someHeaders,
});
type Exchange = typeof exchange extends fc.Arbitrary<infer T> ? T : never;
type Plan = typeof plan extends fc.Arbitrary<infer T> ? T : never;

/** An answer of the service. Windows that the plan lacks repeat others (api-facts 6.1). */
function answerOf({ status, isBusy, isFallback, dropped, repeated }: Exchange, plan: Plan, used: number) {
  const { second, month = second, hour = month } = plan;
  const limits = { second, minute: hour, hour, day: month, month };
  const over = LONG.findLast((name) => used >= (plan[name] ?? Number.POSITIVE_INFINITY));
  const refused = over !== undefined || isBusy;
  const window = over ?? 'second';
  const left = (limit: number): number => (limit === second ? 0 : Math.max(0, limit - used - (refused ? 0 : 1)));
  const fallback = { 'ratelimit-limit': 20, 'ratelimit-reset': 1 };
  const usual = {
    'ratelimit-limit': limits[window],
    'ratelimit-remaining': left(limits[window]),
    'ratelimit-reset': over ? 3_600 : 1,
    'ratelimit-window': window,
    'ratelimit-bucket': 'default',
    ...Object.fromEntries(WINDOWS.map((name) => [`x-ratelimit-limit-${name}`, limits[name]])),
    ...Object.fromEntries(WINDOWS.map((name) => [`x-ratelimit-remaining-${name}`, left(limits[name])])),
  };
  const kept = Object.entries(usual).filter(([name]) => !dropped.includes(name));
  const headers = (isFallback ? Object.entries(refused ? fallback : {}) : kept).map(([name, value]) => [
    name,
    repeated.includes(name) ? [String(value), String(value)] : String(value),
  ]);
  return { status: refused ? 429 : status, over, headers: Object.fromEntries(headers) as Headers };
}

describe('random headers', PATIENT, () => {
  it('never invent a quota, and never make the ledger forget or exceed a real one', () => {
    const options = { utilization: 1 };
    const start = Date.UTC(2026, 9, 5);
    const property = fc.property(plan, fc.array(exchange, { maxLength: 40, size: 'max' }), (first, exchanges) => {
      let [ledger, at, used, current] = [emptyLedger(), start, 0, first];
      /** Since the last answer that had every limit. */
      let plans = [first];
      const counted = new Set<string>();
      for (const one of exchanges) {
        at = Math.max(at + 1_000, opensAt(ledger, 'a', options, at));
        if (at >= start + HOUR) return;
        if (one.change) {
          current = one.change;
          plans.push(current);
          counted.clear();
        }
        const { status, over, headers } = answerOf(one, current, used);
        if (over) expect([...counted]).not.toContain(over);
        if (status < 429) used += 1;
        ledger = told(sent(ledger, 'a', options, at), 'a', { status, headers, at });
        const isSaid = ['second', ...LONG].every((window) => `x-ratelimit-limit-${window}` in headers);
        if (isSaid) plans = [current];
        for (const name of LONG) {
          const limit = windowAt(ledger.buckets[bucketOf(ledger, 'a')] ?? EMPTY_BUCKET, name, options, at)?.limit;
          if (isSaid && `x-ratelimit-remaining-${name}` in headers) counted.add(name);
          const known = isSaid || counted.has(name) ? [current[name]] : [undefined, ...plans.map((p) => p[name])];
          expect(known).toContain(limit);
        }
      }
    });
    fc.assert(property, cases(2_000));
  });
});

function expectSane(rateLimiter: RateLimiter, options: BudgetOptions, now: number): void {
  const ledger = rateLimiter.settleLedger();
  const isRevoked = ledger.key.standing === 'revoked';
  for (const route of ROUTES) {
    const at = opensAt(ledger, route, options, now);
    expect(at >= 0 && (Number.isFinite(at) || isRevoked), `opens at ${at}`).toBe(true);
    const bucket = bucketOf(ledger, route);
    expect(perSecondOf(ledger.buckets[bucket], options)).toBeGreaterThanOrEqual(1);
    expect(allowedPerDay(ledger.buckets[bucket], options, now)).toBeGreaterThanOrEqual(0);
  }
}
