import { describe, expect, it } from 'vitest';
import { withKey } from '../../src/budget/ledger.ts';
import { bucket, LANE, Queue } from './queue.ts';

const OTHER_LANE = 'epoch_slots https://v1';

describe('budget/rateLimiter: other terms', () => {
  it('hold for what waits already', async () => {
    const queue = new Queue({ perSecond: 0.1 });
    await queue.ask('a');
    await queue.answer('a', 200);
    await queue.ask('b');
    await queue.clock.advance(5_000);
    expect(queue.log).toEqual(['a']);
    queue.rateLimiter.adopt({ utilization: 1, perSecond: 1 }, queue.rateLimiter.ledger);
    await queue.clock.advance(0);
    expect(queue.log).toEqual(['a', 'b']);
  });

  it('forget nothing that was counted in this second, however often they come', async () => {
    const queue = new Queue();
    await queue.ask('a');
    await queue.answer('a', 200, bucket('default', 1));
    for (const name of ['b', 'c', 'd']) await queue.ask(name);
    const left: number[] = [];
    for (let i = 0; i < 60; i += 1) {
      queue.rateLimiter.adopt({ utilization: i % 2 === 0 ? 0.9 : 1 }, queue.rateLimiter.ledger);
      await queue.clock.advance(100);
      left.push(queue.log.length);
      const last = queue.log.at(-1) ?? '';
      if (left.at(-2) !== left.at(-1)) await queue.answer(last, 200, bucket('default', 1));
    }
    // One each second, and a little longer at nine tenths.
    expect(queue.log).toEqual(['a', 'b', 'c', 'd']);
    expect(left.lastIndexOf(1)).toBeGreaterThanOrEqual(9);
    expect(left.lastIndexOf(2) - left.indexOf(2)).toBeGreaterThanOrEqual(9);
  });

  it('with another key wait out the second of what left with the one before, in whichever bucket it counted', async () => {
    const queue = new Queue();
    await queue.ask('a');
    await queue.answer('a', 200, bucket('default', 1));
    await queue.clock.advance(1_005);
    await queue.ask('b', { route: OTHER_LANE });
    await queue.answer('b', 200, bucket('other', 1));
    await queue.clock.advance(600);
    queue.rateLimiter.adopt({ utilization: 1 }, withKey(queue.rateLimiter.ledger, 'another', queue.clock.now()));
    await queue.ask('c', { route: LANE });
    await queue.clock.advance(404);
    expect(queue.log).toEqual(['a', 'b']);
    await queue.clock.advance(1);
    expect(queue.log).toEqual(['a', 'b', 'c']);
    expect(queue.rateLimiter.ledger).toMatchObject({ lanes: {}, key: { fingerprint: 'another', standing: 'unknown' } });
  });
});
