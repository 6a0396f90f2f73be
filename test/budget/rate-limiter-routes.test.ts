import { describe, expect, it } from 'vitest';
import { bucket, LANE, Queue } from './queue.ts';

describe('budget/rateLimiter: lanes', () => {
  it('keeps a route that no answer has assigned at one request a second, next to faster ones', async () => {
    const queue = new Queue();
    await queue.ask('v1');
    await queue.answer('v1', 200, bucket('default', 5));
    for (const name of ['x', 'y']) await queue.ask(name, { route: 'other' });
    for (const name of ['a', 'b']) await queue.ask(name, { priority: 'slashing_details' });
    expect(queue.log).toEqual(['v1', 'x', 'a', 'b']);
    await queue.answer('x', 200, bucket('default', 5));
    expect(queue.log).toEqual(['v1', 'x', 'a', 'b', 'y']);
  });

  it('counts the request of an unassigned route in every bucket it may be in', async () => {
    const queue = new Queue();
    await queue.ask('v1', { route: 'v1' });
    await queue.answer('v1', 200, bucket('default', 1));
    await queue.clock.advance(1_005);
    await queue.ask('v2', { route: 'v2' });
    await queue.ask('next v1', { route: 'v1' });
    expect(queue.log).toEqual(['v1', 'v2']);
  });

  it('holds a route that turns out to have a bucket of its own to the second of that bucket', async () => {
    const queue = new Queue();
    await queue.ask('v1', { route: 'v1' });
    await queue.answer('v1', 200, bucket('default', 5));
    await queue.ask('v2', { route: 'v2' });
    await queue.answer('v2', 200, bucket('oldsubnewapi', 1));
    await queue.ask('next v2', { route: 'v2' });
    await queue.ask('next v1', { route: 'v1' });
    expect(queue.log).toEqual(['v1', 'v2', 'next v1']);
    await queue.clock.advance(1_005);
    expect(queue.log).toEqual(['v1', 'v2', 'next v1', 'next v2']);
  });

  it('lets nobody overtake a request on the buckets that it waits for', async () => {
    const queue = new Queue();
    await queue.ask('v1', { route: 'v1' });
    await queue.answer('v1', 200, bucket('default', 1));
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

  it('keeps all lanes in one bucket where no answer names one', async () => {
    const queue = new Queue();
    await queue.ask('a');
    await queue.answer('a', 200, { 'x-ratelimit-limit-second': '2' });
    await queue.ask('b', { route: 'other' });
    await queue.ask('c', { route: LANE });
    expect(queue.log).toEqual(['a', 'b']);
  });
});
