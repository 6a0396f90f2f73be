import { expect, it } from 'vitest';
import { HeldTime } from '../../../src/toolkit/lib/held-time.ts';
import { DAY, HOUR, MINUTE, NOW, SECOND } from '../../support/time/timing.ts';
import { VirtualClock } from '../../support/time/virtual-clock.ts';

/** How far behind `NOW` plus the time that has passed the held time is after these waits, each with the step before it. */
async function behind(...moves: readonly (readonly [stepMs: number, waitMs: number])[]): Promise<number> {
  const clock = new VirtualClock(NOW);
  const held = new HeldTime(clock);
  for (const [stepMs, waitMs] of moves) {
    clock.step(stepMs);
    held.time();
    await clock.advance(waitMs);
  }
  return NOW + clock.monotonic() - held.time().held;
}

it.each([
  ['none just after a start', [[0, 2 * MINUTE - 1]], Infinity],
  ['the time of two minutes ago', [[0, 2 * MINUTE]], 2 * MINUTE],
  ['the same after hours in which nobody asked', [[0, 9 * HOUR]], 2 * MINUTE],
  [
    'not that of a jump',
    [
      [0, HOUR],
      [40 * DAY, 3 * SECOND],
    ],
    2 * MINUTE,
  ],
  [
    'nor after it',
    [
      [0, HOUR],
      [40 * DAY, 3 * SECOND],
      [-40 * DAY, MINUTE],
    ],
    2 * MINUTE,
  ],
  [
    'a jump that lasts, after two minutes',
    [
      [0, HOUR],
      [DAY, 2 * MINUTE],
    ],
    2 * MINUTE - DAY,
  ],
  [
    'the lower one at once when the clock is set back',
    [
      [0, HOUR],
      [-DAY, 0],
    ],
    DAY,
  ],
  [
    'an hour that a clock that jumps each minute never went below',
    [
      [0, HOUR],
      [HOUR, MINUTE],
      [HOUR, MINUTE],
      [HOUR, MINUTE],
    ],
    2 * MINUTE - 2 * HOUR,
  ],
] as const)('toolkit/held-time: is %s', async (_, moves, expected) => {
  expect(await behind(...moves)).toBe(expected);
});
