import { describe, expect, it } from 'vitest';
import { oneAtATime } from '../../src/budget/one-at-a-time.ts';
import type { Budget } from '../../src/budget/permit.ts';
import type { Priority } from '../../src/budget/priority.ts';
import { MINUTE, noSignal } from '../support/timing.ts';
import { bucket, LANE, Queue } from './queue.ts';

/** Sends requests of a priority one after the other, each answered at once. Notes when each left, and how long it waited. */
class Sender {
  readonly waits: number[] = [];
  readonly left: number[] = [];

  constructor(queue: Queue, budget: Budget, priority: Priority, everyMs = 0) {
    const send = async (): Promise<void> => {
      for (;;) {
        if (everyMs > 0) await queue.clock.sleep(everyMs);
        const since = queue.clock.monotonic();
        const permit = await budget.acquire({ route: LANE, priority }, noSignal());
        this.left.push(queue.clock.monotonic());
        this.waits.push(queue.clock.monotonic() - since);
        permit.release({ status: 200, headers: bucket('default', 1) });
      }
    };
    send();
  }
}

const SPACING = 1_111;

describe('budget/one-at-a-time', () => {
  it('a backlog of a backfill beside one of machines gets a request a minute, and delays the head by one at most', async () => {
    const queue = new Queue({ utilization: 0.9 });
    const budget = oneAtATime('backfill', queue.rateLimiter);
    const past = Array.from({ length: 8 }, () => new Sender(queue, budget, 'backfill'));
    const machines = [new Sender(queue, budget, 'machines'), new Sender(queue, budget, 'machines')];
    const head = new Sender(queue, budget, 'head_pass', 7_300);
    await queue.clock.advance(20 * MINUTE);
    const left = past.flatMap((one) => one.left).sort((a, b) => a - b);
    // The first leave before the limits are known.
    const late = left.filter((at) => at > MINUTE);
    expect(late.length).toBeGreaterThanOrEqual(17);
    expect(late.length).toBeLessThanOrEqual(20);
    for (const [i, at] of late.entries()) expect(at - (late[i - 1] ?? 0)).toBeGreaterThanOrEqual(MINUTE);
    // A permit that was just given, and a request of the backfill that has waited for a minute.
    expect(Math.max(...head.waits)).toBeLessThanOrEqual(2 * SPACING);
    expect(machines.flatMap((one) => one.left).length).toBeGreaterThan(800);
  });

  it('uses all that the others leave', async () => {
    const queue = new Queue({ utilization: 0.9 });
    const budget = oneAtATime('backfill', queue.rateLimiter);
    const past = Array.from({ length: 8 }, () => new Sender(queue, budget, 'backfill'));
    await queue.clock.advance(10 * MINUTE);
    expect(past.flatMap((one) => one.left).length).toBeGreaterThanOrEqual(539);
  });

  it('one that is aborted leaves, and those behind it keep their order', async () => {
    const queue = new Queue();
    const budget = oneAtATime('backfill', queue.rateLimiter);
    const log: string[] = [];
    const ask = (name: string, signal = noSignal()): void => {
      budget.acquire({ route: LANE, priority: 'backfill' }, signal).then(
        (permit) => {
          log.push(name);
          permit.release({ status: 200, headers: {} });
        },
        (error: Error) => log.push(`${name}: ${error.message}`),
      );
    };
    const stops = [new AbortController(), new AbortController()];
    ask('a');
    ask('b', stops[0]?.signal);
    ask('c', stops[1]?.signal);
    ask('d');
    ask('e', AbortSignal.abort(new Error('never began')));
    await queue.clock.advance(500);
    for (const stop of stops.toReversed()) stop.abort(new Error('gone'));
    await queue.clock.advance(0);
    expect(log).toEqual(['e: never began', 'a', 'c: gone', 'b: gone']);
    await queue.clock.advance(10_000);
    expect(log.slice(4)).toEqual(['d']);
  });
});
