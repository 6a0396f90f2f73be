import { describe, expect, it } from 'vitest';
import { emptyLedger } from '../../src/budget/ledger.ts';
import { RateLimiter } from '../../src/budget/rate-limiter.ts';
import { leased } from '../../src/exporter/client.ts';
import { LeaseLost } from '../../src/toolkit/state/replica.ts';
import { NOW, noSignal } from '../support/time/timing.ts';
import { VirtualClock } from '../support/time/virtual-clock.ts';

describe('exporter/client', () => {
  it('a request whose turn comes after the end of the lease does not leave, and costs nothing', async () => {
    const clock = new VirtualClock(NOW);
    const limiter = new RateLimiter({ utilization: 0.9, perMonth: 100 }, { clock, ledger: emptyLedger() });
    let leads = true;
    const budget = leased(limiter, () => leads);
    const departure = { route: 'any', priority: 'finalized_pass' } as const;
    const first = await budget.acquire(departure, noSignal());
    first.release({ status: 200, headers: {} });
    const second = budget.acquire(departure, noSignal()).catch((error: unknown) => error);
    leads = false;
    const before = limiter.ledger.buckets;
    await clock.advance(60_000);
    expect(await second).toBeInstanceOf(LeaseLost);
    expect(limiter.ledger.buckets).toEqual(before);
  });
});
