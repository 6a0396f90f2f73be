import { getEventListeners } from 'node:events';
import { describe, expect, it } from 'vitest';
import type { Clock } from '../../src/toolkit/lib/clock.ts';
import { HOUR, MINUTE, NOW } from '../support/time/timing.ts';
import { bucket, Queue } from './queue.ts';

const ZEROS = { 'x-ratelimit-limit-second': '0', 'x-ratelimit-limit-month': '0', 'retry-after': '30' };

/** A queue whose route is known to be in `default` at 5/s. */
async function known(options?: ConstructorParameters<typeof Queue>[0]): Promise<Queue> {
  const queue = new Queue(options);
  await queue.exchange('known', 200, bucket('default', 5));
  queue.log.length = 0;
  return queue;
}

describe('budget/rate-limiter: 429', () => {
  it('closes the bucket for waiting and new requests, for at least the reset', async () => {
    const queue = await known();
    await queue.ask('a');
    for (const name of ['b', 'c', 'd', 'e', 'f']) await queue.ask(name);
    await queue.answer('a', 429, { 'ratelimit-reset': '30' });
    await queue.ask('g');
    await queue.clock.advance(29_999);
    expect(queue.log).toEqual(['a', 'b', 'c', 'd']);
    for (const name of ['b', 'c', 'd']) await queue.answer(name, 200);
    await queue.clock.advance(1);
    expect(queue.log).toEqual(['a', 'b', 'c', 'd', 'e', 'f']);
    await queue.clock.advance(1_005);
    expect(queue.log).toEqual(['a', 'b', 'c', 'd', 'e', 'f', 'g']);
  });

  it('refuses requests that would wait over a minute, and says until when', async () => {
    const queue = await known();
    await queue.exchange('a', 429, { 'retry-after': '3600' });
    await queue.ask('b');
    await queue.clock.advance(59 * MINUTE);
    await queue.ask('c');
    await queue.clock.advance(MINUTE);
    expect(queue.log).toEqual(['a', 'b: closed until 3600000', 'c']);
  });

  it('refuses no request before the wait is saved', async () => {
    const kept = Promise.withResolvers<void>();
    const waits: number[] = [];
    const queue: Queue = await known({
      keep: () => {
        waits.push(queue.rateLimiter.settleLedger().buckets['default']?.wait.until ?? 0);
        return kept.promise;
      },
    });
    await queue.ask('a');
    await queue.exchange('b', 200);
    expect(waits).toEqual([]);
    for (const name of ['c', 'd', 'e', 'f']) await queue.ask(name);
    await queue.answer('a', 429, { 'retry-after': '3600' });
    await queue.ask('g');
    expect(waits).toEqual([NOW + HOUR]);
    expect(queue.log.filter((line) => line.includes('closed'))).toEqual([]);
    kept.resolve();
    await queue.clock.advance(0);
    expect(queue.log.filter((line) => line.includes('closed'))).toHaveLength(3);
  });

  it.each([-HOUR, -20_000])('waits exactly until the reset if the wall clock is set by %i ms', async (stepMs) => {
    const queue = await known();
    await queue.exchange('a', 429, { 'ratelimit-reset': '10' });
    await queue.ask('b');
    queue.clock.step(stepMs);
    await queue.ask('c', { priority: 'catch_up' });
    await queue.clock.advance(9_999);
    expect(queue.log).toEqual(['a']);
    await queue.clock.advance(1);
    expect(queue.log).toEqual(['a', 'b', 'c']);
  });
});

describe('budget/rate-limiter: the key', () => {
  it('refuses all requests at once and for good when it is revoked', async () => {
    const queue = await known();
    for (const name of ['a', 'b', 'c', 'd', 'e', 'f']) await queue.ask(name);
    await queue.clock.advance(100);
    await queue.answer('a', 429, ZEROS);
    await queue.ask('g', { route: 'other' });
    for (const name of ['b', 'c', 'd']) await queue.answer(name, 200, bucket('default', 5));
    await queue.clock.advance(40 * 24 * 60 * MINUTE);
    await queue.ask('h');
    const closed = ['e', 'f', 'g', 'h'].map((name) => `${name}: closed until Infinity`);
    expect(queue.log).toEqual(['a', 'b', 'c', 'd', ...closed]);
  });
});

describe('budget/rate-limiter: abort', () => {
  it('rejects a request with the reason of its signal, before and during its wait', async () => {
    const queue = new Queue();
    await queue.ask('a');
    const stop = new AbortController();
    await queue.ask('b', { signal: stop.signal });
    stop.abort('stopping');
    await queue.ask('c', { signal: stop.signal });
    expect(queue.log).toEqual(['a', 'b: stopping', 'c: stopping']);
  });

  it('leaves no permit, no time, no listener and no timer of a waiting request', async () => {
    let timers = 0;
    const counting = (clock: Clock): Clock => ({
      now: () => clock.now(),
      monotonic: () => clock.monotonic(),
      async sleep(ms, signal) {
        timers += 1;
        await clock.sleep(ms, signal).finally(() => {
          timers -= 1;
        });
      },
    });
    const queue = await known({ clock: counting });
    for (const name of ['a', 'b', 'c', 'd']) await queue.ask(name);
    const stop = new AbortController();
    await queue.ask('e', { signal: stop.signal });
    for (const name of ['a', 'b', 'c', 'd']) await queue.answer(name, 200);
    expect([timers, getEventListeners(stop.signal, 'abort').length]).toEqual([1, 1]);
    const before = queue.rateLimiter.settleLedger();
    stop.abort();
    await queue.clock.advance(0);
    expect([timers, getEventListeners(stop.signal, 'abort').length]).toEqual([0, 0]);
    expect(queue.rateLimiter.settleLedger()).toEqual(before);
    await queue.clock.advance(1_005);
    await queue.ask('f');
    expect(queue.log.at(-1)).toBe('f');
  });
});
