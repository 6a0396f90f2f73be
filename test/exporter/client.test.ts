import { describe, expect, it } from 'vitest';
import { emptyLedger, type Ledger } from '../../src/budget/ledger.ts';
import { RateLimiter } from '../../src/budget/rate-limiter.ts';
import { leased, openClient } from '../../src/exporter/client.ts';
import { LeaseLost } from '../../src/toolkit/state/replica.ts';
import { defaultConfig } from '../support/runs/default-config.ts';
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
    const before = limiter.settleLedger().buckets;
    await clock.advance(60_000);
    expect(await second).toBeInstanceOf(LeaseLost);
    expect(limiter.settleLedger().buckets).toEqual(before);
  });

  it('its last ledger lacks no request, every other one those of five seconds', async () => {
    const clock = new VirtualClock(NOW);
    const lacks: (number | undefined)[] = [];
    const settings = () => ({ config: defaultConfig(), key: 'k' });
    const save = async ({ mayLackMs }: Ledger) => void lacks.push(mayLackMs);
    const { limiter, close } = openClient({ settings, clock, ledger: emptyLedger(), save });
    const permit = limiter.acquire({ route: 'any', priority: 'finalized_pass' }, noSignal());
    await clock.advance(10_000);
    await permit;
    expect(lacks).toEqual([5_000]);
    await close();
    expect(lacks).toEqual([5_000, 0]);
  });
});
