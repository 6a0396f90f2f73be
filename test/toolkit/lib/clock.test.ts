import { describe, expect, it, vi } from 'vitest';
import { systemClock, within } from '../../../src/toolkit/lib/clock.ts';
import { VirtualClock } from '../../support/time/virtual-clock.ts';

it('never wakes early, although Node fires timers a little before they are due', async () => {
  const sleepers = Array.from({ length: 40 }, async (_, i) => {
    const ms = 1 + i / 2;
    const start = systemClock.monotonic();
    await systemClock.sleep(ms);
    return systemClock.monotonic() - start - ms;
  });
  expect(Math.min(...(await Promise.all(sleepers)))).toBeGreaterThanOrEqual(0);
});

it('ends a sleep of any length with the reason of the signal', async () => {
  const stop = new AbortController();
  const sleeping = [1_000, 2 ** 31, Number.POSITIVE_INFINITY].map((ms) => systemClock.sleep(ms, stop.signal));
  const reason = new Error('stopping');
  stop.abort(reason);
  for (const sleep of sleeping) await expect(sleep).rejects.toBe(reason);
  for (const ms of [0, 1_000]) await expect(systemClock.sleep(ms, stop.signal)).rejects.toBe(reason);
});

describe('within a time', () => {
  const never = new Promise<never>(() => undefined);

  it('returns a result that comes in time, and leaves no timer behind', async () => {
    const sleep = vi.fn((_ms: number, _signal?: AbortSignal): Promise<void> => never);
    const clock = { ...systemClock, sleep };
    expect(await within(clock, 1_000, Promise.resolve('done'), () => 'late')).toBe('done');
    await expect(within(clock, 1_000, Promise.reject(new Error('failed')), () => 'late')).rejects.toThrow('failed');
    expect(sleep.mock.calls.map(([, signal]) => signal?.aborted)).toEqual([true, true]);
  });

  it('gives up what takes longer', async () => {
    const clock = new VirtualClock(0);
    const given = within(clock, 1_000, never, () => 'late');
    await clock.advance(1_000);
    expect(await given).toBe('late');
  });

  it('ends with the reason of the signal', async () => {
    const stop = new AbortController();
    const given = within(new VirtualClock(0), 1_000, never, () => 'late', stop.signal);
    stop.abort(new Error('stopping'));
    await expect(given).rejects.toThrow('stopping');
  });
});
