import { emptyLedger } from '../../src/budget/ledger.ts';
import { RateLimiter } from '../../src/budget/rate-limiter.ts';
import { MINUTE, NOW, noSignal } from './timing.ts';
import { VirtualClock } from './virtual-clock.ts';

/** Requests per second that the rate limiter allows if others always wait. Each is answered after `latencyMs`. */
export async function backlogRate(perSecond: number, latencyMs: number): Promise<number> {
  const clock = new VirtualClock(NOW);
  const rateLimiter = new RateLimiter({ utilization: 0.9 }, { clock, ledger: emptyLedger() });
  const headers = { 'ratelimit-bucket': 'default', 'x-ratelimit-limit-second': String(perSecond) };
  let answered = 0;
  async function work(): Promise<never> {
    for (;;) {
      const permit = await rateLimiter.acquire({ route: 'any', priority: 'machines' }, noSignal());
      await clock.sleep(latencyMs);
      permit.release({ status: 200, headers });
      answered += 1;
    }
  }
  for (let i = 0; i < 4 * perSecond; i += 1) void work();
  // The rate limiter learns the limit from the first answers.
  await clock.advance(MINUTE);
  const before = answered;
  await clock.advance(5 * MINUTE);
  return (answered - before) / 300;
}
