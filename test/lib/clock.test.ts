import { describe, expect, it } from 'vitest';
import { systemClock } from '../../src/lib/clock.ts';

describe('lib/clock', () => {
  it('tells Unix milliseconds and a time that only grows', () => {
    expect(Math.abs(systemClock.now() - Date.now())).toBeLessThan(1_000);
    const first = systemClock.monotonic();
    expect(systemClock.monotonic()).toBeGreaterThanOrEqual(first);
  });

  it('never wakes early, also where Node fires timers that are nearly due along with one that is', async () => {
    const sleepers = Array.from({ length: 40 }, async (_, i) => {
      const ms = 1 + i / 2;
      const start = systemClock.monotonic();
      await systemClock.sleep(ms);
      return systemClock.monotonic() - start - ms;
    });
    expect(Math.min(...(await Promise.all(sleepers)))).toBeGreaterThanOrEqual(0);
  });

  it('does not wait at all for nothing or less', async () => {
    await systemClock.sleep(0);
    await systemClock.sleep(-1);
  });

  it('wakes with the reason of the signal, before and while it sleeps, however long', async () => {
    const stop = new AbortController();
    const sleeping = [1_000, 2 ** 31, Number.POSITIVE_INFINITY].map((ms) => systemClock.sleep(ms, stop.signal));
    const reason = new Error('stopping');
    stop.abort(reason);
    for (const sleep of sleeping) await expect(sleep).rejects.toBe(reason);
    for (const ms of [0, 1_000]) await expect(systemClock.sleep(ms, stop.signal)).rejects.toBe(reason);
  });
});
