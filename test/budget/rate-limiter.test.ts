import { describe, expect, it } from 'vitest';
import { emptyLedger, withKey } from '../../src/budget/ledger.ts';
import { PRIORITIES } from '../../src/budget/permit.ts';
import { RateLimiter } from '../../src/budget/rate-limiter.ts';
import { charge, createAccount } from '../../src/sandbox/account.ts';
import { unit } from '../../src/toolkit/lib/random.ts';
import { NOW, noSignal, SECOND } from '../support/time/timing.ts';
import { VirtualClock } from '../support/time/virtual-clock.ts';
import { bucket, Queue, ROUTE } from './queue.ts';

/** Lets all waiting requests leave one by one, and answers each at once. */
async function drain(queue: Queue, names: number): Promise<void> {
  for (let left = queue.log.length; left < names; left = queue.log.length) {
    await queue.answer(queue.log.at(-1) ?? '', 200);
    await queue.clock.advance(1_005);
    if (queue.log.length === left) throw new Error(`only ${left} of ${names} left`);
  }
}

describe('budget/rate-limiter', () => {
  it('sends waiting requests by priority, then by age', async () => {
    const queue = new Queue();
    await queue.ask('first');
    for (const priority of PRIORITIES.toReversed()) {
      for (const age of ['older', 'newer']) await queue.ask(`${age} ${priority}`, { priority });
    }
    await drain(queue, 1 + 2 * PRIORITIES.length);
    const chain = ['slashing_details', 'finalized_pass', 'head_pass'];
    const order = [...chain, 'fleet', 'own_validators', 'once_a_day', 'background', 'catch_up'];
    expect(queue.log).toEqual(['first', ...order.flatMap((priority) => [`older ${priority}`, `newer ${priority}`])]);
  });

  it.each([
    { waitedMs: 59_999, order: ['first', 'slashing_details', 'older catch_up', 'newer catch_up'] },
    { waitedMs: 60_000, order: ['first', 'older catch_up', 'newer catch_up', 'slashing_details'] },
  ])('sends $order after $waitedMs ms of waiting', async ({ waitedMs, order }) => {
    const queue = new Queue();
    await queue.ask('first');
    for (const age of ['older', 'newer']) await queue.ask(`${age} catch_up`, { priority: 'catch_up' });
    await queue.clock.advance(waitedMs - 1_005);
    await queue.answer('first', 200);
    await queue.ask('slashing_details', { priority: 'slashing_details' });
    await queue.clock.advance(1_005);
    await drain(queue, 4);
    expect(queue.log).toEqual(order);
  });

  it('sends waiting requests sooner when an answer reports a higher limit', async () => {
    const queue = new Queue();
    for (const name of ['a', 'b', 'c', 'd']) await queue.ask(name);
    await queue.clock.advance(200);
    expect(queue.log).toEqual(['a']);
    await queue.answer('a', 200, bucket('default', 3));
    expect(queue.log).toEqual(['a', 'b', 'c']);
    await queue.clock.advance(1_005);
    expect(queue.log).toEqual(['a', 'b', 'c', 'd']);
  });

  it('reports how long each request waited', async () => {
    const queue = new Queue();
    await queue.ask('a');
    await queue.clock.advance(400);
    await queue.ask('b');
    await queue.clock.advance(600);
    expect(queue.waits).toEqual([0]);
    await queue.answer('a', 200);
    await queue.clock.advance(1_005);
    expect(queue.waits).toEqual([0, 1.605]);
  });

  it('applies the remaining requests of an answer as of the moment when the service counted its request', async () => {
    const queue = new Queue();
    const said = (left: number) => ({
      ...bucket('default', 5),
      'x-ratelimit-limit-month': '1000',
      'x-ratelimit-remaining-month': String(left),
    });
    const left = (): number | undefined => queue.rateLimiter.settleLedger().buckets['default']?.month?.remaining;
    await queue.exchange('first', 200, said(993));
    for (const name of ['a', 'b', 'c']) await queue.ask(name);
    expect(left()).toBe(990);
    // Answers overtake each other. Requests that may have been counted later are subtracted.
    await queue.answer('c', 200, said(990));
    expect(left()).toBe(988);
    await queue.answer('a', 200, said(992));
    expect(left()).toBe(990);
    await queue.answer('b', 200, said(991));
    expect(left()).toBe(989);
    // No other request was in flight.
    await queue.clock.advance(3_000);
    await queue.exchange('d', 200, said(989));
    expect(left()).toBe(989);
  });
});

describe('budget/rate-limiter: routes', () => {
  it('counts the request of an unassigned route in every bucket', async () => {
    const queue = new Queue();
    await queue.exchange('v1', 200, bucket('default', 1), { route: 'v1' });
    await queue.clock.advance(1_005);
    await queue.ask('v2', { route: 'v2' });
    await queue.ask('next v1', { route: 'v1' });
    expect(queue.log).toEqual(['v1', 'v2']);
  });

  it('lets no request overtake another one that waits for the same bucket', async () => {
    const queue = new Queue();
    await queue.exchange('v1', 200, bucket('default', 1), { route: 'v1' });
    await queue.clock.advance(500);
    await queue.ask('v2', { route: 'v2' });
    await queue.clock.advance(505);
    await queue.answer('v2', 200, bucket('oldsubnewapi', 1));
    // `default` is free at 1,005 and 2,010, `oldsubnewapi` only at 2,010.
    await queue.ask('new route', { route: 'new' });
    await queue.ask('late v1', { route: 'v1', priority: 'catch_up' });
    await queue.clock.advance(1_005);
    expect(queue.log).toEqual(['v1', 'v2', 'new route']);
  });
});

describe('budget/rate-limiter: rate', () => {
  it.each([
    { perSecond: 1, seconds: 900 },
    { perSecond: 2, seconds: 450 },
    { perSecond: 5, seconds: 200 },
    { perSecond: 50, seconds: 30 },
  ])('spends at least 90 % of 0.9 x $perSecond/s under a backlog, and gets no 429', async ({ perSecond, seconds }) => {
    const clock = new VirtualClock(NOW);
    const account = createAccount({ key: 'key', plan: { perSecond } });
    const rateLimiter = new RateLimiter({ utilization: 0.9 }, { clock, ledger: emptyLedger() });
    const request = { path: '/api/v2/machine-metrics', headers: { authorization: 'Bearer key' } };
    const refusals: unknown[] = [];
    /** 160 ms there and back on average. */
    const way = (i: number): Promise<void> => clock.sleep(10 + 140 * unit(perSecond, refusals.length, i));
    async function work(i: number): Promise<never> {
      for (;;) {
        const permit = await rateLimiter.acquire({ route: ROUTE, priority: 'fleet' }, noSignal());
        await way(i);
        const { refusedBy, headers } = charge(account, request, clock.now());
        refusals.push(refusedBy);
        await way(i);
        permit.release({ status: refusedBy ? 429 : 200, headers });
      }
    }
    for (let i = 0; i < 2 * perSecond; i += 1) void work(i);
    await clock.advance(seconds * SECOND);
    expect(refusals.filter(Boolean)).toEqual([]);
    const share = refusals.length / (0.9 * perSecond * seconds);
    expect(share).toBeGreaterThanOrEqual(0.9);
    expect(share).toBeLessThanOrEqual(1);
  });
});

describe('budget/rate-limiter: changed options', () => {
  it('apply to requests that already wait', async () => {
    const queue = new Queue({ perSecond: 0.1 });
    await queue.exchange('a', 200);
    await queue.ask('b');
    await queue.clock.advance(5_000);
    expect(queue.log).toEqual(['a']);
    queue.rateLimiter.adopt({ utilization: 1, perSecond: 1 }, queue.rateLimiter.settleLedger());
    await queue.clock.advance(0);
    expect(queue.log).toEqual(['a', 'b']);
  });

  it('with another key wait for a second after the last request with the previous key', async () => {
    const queue = new Queue();
    await queue.exchange('a', 200, bucket('default', 1));
    await queue.clock.advance(1_005);
    await queue.exchange('b', 200, bucket('other', 1), { route: 'epoch_slots https://v1' });
    queue.rateLimiter.adopt(
      { utilization: 1 },
      withKey(queue.rateLimiter.settleLedger(), 'another', queue.clock.now()),
    );
    await queue.ask('c', { route: ROUTE });
    await queue.clock.advance(1_004);
    expect(queue.log).toEqual(['a', 'b']);
    await queue.clock.advance(1);
    expect(queue.log).toEqual(['a', 'b', 'c']);
    expect(queue.rateLimiter.settleLedger()).toMatchObject({
      routes: {},
      key: { fingerprint: 'another', standing: 'unknown' },
    });
  });
});
