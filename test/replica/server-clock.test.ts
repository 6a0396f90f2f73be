import { describe, expect, it } from 'vitest';
import { ServerClock } from '../../src/replica/server-clock.ts';
import { NOW } from '../support/timing.ts';
import { VirtualClock } from '../support/virtual-clock.ts';

describe('replica/server-clock', () => {
  it('takes the time of the server over, however wrong the own is, and keeps it while the server is away', async () => {
    const own = new VirtualClock(NOW - 30_000);
    const clock = new ServerClock(own);
    expect(clock.now()).toBe(NOW - 30_000);
    clock.observe(NOW, 0);
    expect(clock.now()).toBe(NOW);
    await own.advance(60_000);
    expect(clock.now()).toBe(NOW + 60_000);
  });

  it('does not step for what may be the time that the answer was under way', () => {
    const clock = new ServerClock(new VirtualClock(NOW));
    clock.observe(NOW + 240, 0);
    clock.observe(NOW - 100, 1_500);
    expect(clock.now()).toBe(NOW);
    clock.observe(NOW + 300, 0);
    expect(clock.now()).toBe(NOW + 300);
  });
});
