import { expect, it } from 'vitest';
import { HeldTime } from '../../../src/toolkit/lib/held-time.ts';
import { DAY, HOUR, MINUTE, NOW, SECOND } from '../../support/time/timing.ts';
import { VirtualClock } from '../../support/time/virtual-clock.ts';

it.each([
  ['none just after a start', [0, 2 * MINUTE - 1], Infinity],
  ['the time of two minutes ago', [0, 2 * MINUTE], 2 * MINUTE],
  ['the same after hours without a call', [0, 9 * HOUR], 2 * MINUTE],
  ['not the time after a jump', [0, HOUR, 40 * DAY, 3 * SECOND], 2 * MINUTE],
  ['the old time if the clock jumps back', [0, HOUR, 40 * DAY, 3 * SECOND, -40 * DAY, MINUTE], 2 * MINUTE],
  ['the time after a jump once it has held for two minutes', [0, HOUR, DAY, 2 * MINUTE], 2 * MINUTE - DAY],
  ['the lower time at once if the clock is set back', [0, HOUR, -DAY, 0], DAY],
  [
    'two minutes behind a clock that jumps each minute',
    [0, HOUR, HOUR, MINUTE, HOUR, MINUTE, HOUR, MINUTE],
    2 * MINUTE - 2 * HOUR,
  ],
])('toolkit/held-time: is %s', async (_, stepsAndWaits, behindMs) => {
  const clock = new VirtualClock(NOW);
  const held = new HeldTime(clock);
  for (let i = 0; i < stepsAndWaits.length; i += 2) {
    clock.step(stepsAndWaits[i] as number);
    held.time();
    await clock.advance(stepsAndWaits[i + 1] as number);
  }
  expect(NOW + clock.monotonic() - held.time().held).toBe(behindMs);
});
