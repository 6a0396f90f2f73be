import { describe, expect, it } from 'vitest';
import { emptyLedger, withKey } from '../../src/budget/ledger.ts';
import { RateLimiter } from '../../src/budget/rate-limiter.ts';
import { leased, openClient } from '../../src/exporter/client.ts';
import { LeaseLost } from '../../src/toolkit/state/replica.ts';
import { defaultConfig } from '../support/runs/default-config.ts';
import { NOW, noSignal } from '../support/time/timing.ts';
import { VirtualClock } from '../support/time/virtual-clock.ts';

/** A client whose ledger can be written only while `isFull` is false. */
function setUp() {
  const clock = new VirtualClock(NOW);
  const disk = { isFull: true, written: 0, failed: 0 };
  const client = openClient({
    settings: () => ({ config: defaultConfig(), key: 'k' }),
    clock,
    ledger: emptyLedger(),
    save: async () => {
      if (disk.isFull) throw new Error('ENOSPC');
      disk.written += 1;
    },
    onSaveError: () => {
      disk.failed += 1;
    },
  });
  client.limiter.adopt({ utilization: 0.9 }, withKey(emptyLedger(), 'another', NOW));
  return { clock, disk, client };
}

describe('exporter/client', () => {
  it('writes a ledger that could not be written again soon, although it does not change', async () => {
    const { clock, disk, client } = setUp();
    await clock.advance(31_000);
    expect(disk).toMatchObject({ written: 0, failed: 3 });
    disk.isFull = false;
    await clock.advance(15_000);
    expect(disk.written).toBe(1);
    await clock.advance(60_000);
    expect(disk.written).toBe(1);
    await client.close();
  });

  it('writes it once more when it is closed', async () => {
    const { clock, disk, client } = setUp();
    await clock.advance(1_000);
    disk.isFull = false;
    await client.close();
    expect(disk.written).toBe(1);
  });

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
