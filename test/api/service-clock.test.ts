import { expect, it } from 'vitest';
import { requestTo } from '../../src/api/endpoints.ts';
import { medianOffset, ServiceClock } from '../../src/api/service-clock.ts';
import { type Times, timesIn } from '../../src/api/times.ts';
import { DAY, HOUR, MINUTE, NOW, SECOND } from '../support/time/timing.ts';
import { VirtualClock } from '../support/time/virtual-clock.ts';

const FAST = 11 * MINUTE;

/** The clock after an answer for each offset, a minute apart. */
async function answered(offsets: readonly number[]): Promise<{ own: VirtualClock; clock: ServiceClock }> {
  const own = new VirtualClock(NOW);
  const clock = new ServiceClock(own);
  for (const offset of offsets) {
    await own.advance(MINUTE);
    clock.answered(own.now() + offset, 0);
  }
  return { own, clock };
}

/** The times in a page that has one record of each machine. */
function pushed(...times: readonly number[]): Times {
  const system_metrics = times.map((timestamp, i) => ({ machine: `m${i}`, timestamp }));
  return timesIn(requestTo('machine_metrics', { range: { start: 0, end: 0 } }), { data: { system_metrics } });
}

it.each([
  ['no answer', [], 0, undefined],
  ['one', [-660], 0, -660],
  ['two that differ', [-660, 0], 0, 0],
  ['five, one of them far off', [-660, -661, 86_400, -660, -659], 0, -660],
  ['only the last five', [0, 0, 0, 5, 5, 5], 0, 5],
  ['all an hour old', [-660, -660], HOUR, -660],
  ['all more than an hour old', [-660, -660], HOUR + 1, undefined],
])('the offset is the median of the last five answers of an hour: %s', (_, offsets, age, expected) => {
  const samples = offsets.map((offsetMs) => ({ at: 2 * HOUR - age, offsetMs }));
  expect(medianOffset(samples, 2 * HOUR)).toBe(expected);
});

it('the offset is measured at the middle of the request', () => {
  const clock = new ServiceClock(new VirtualClock(NOW));
  clock.answered(NOW - 2 * SECOND, 4 * SECOND);
  expect(clock.offsetMs()).toBe(0);
});

it.each([
  ['a right clock is shown as it is', [-500, 0, -900], 0],
  ['a clock that is wrong by up to a minute too', [MINUTE], 0],
  ['a clock that is wrong by more is replaced by the time of the service', [-FAST], -FAST],
  ['a slow clock is replaced too', [FAST], FAST],
  ['one wrong date among others changes nothing', [0, 0, FAST], 0],
  ['an offset around a minute does not switch the correction on and off', [61_000, 59_000, 59_000, 59_000], 61_000],
  ['a clock that became right is shown as it is', [-FAST, -FAST, -MINUTE, -MINUTE, -MINUTE], 0],
  ['a clock that became wrong is replaced by the time of the service', [0, 0, 0, 0, 0, -FAST, -FAST, -FAST], -FAST],
])('%s', async (_, offsets, correction) => {
  const { own, clock } = await answered(offsets);
  expect(clock.now() - own.now()).toBe(correction);
});

it.each([
  ['a fast clock is set right', -FAST, -FAST, 0],
  ['a fast clock is set back, but not enough', -FAST, -MINUTE, MINUTE - FAST],
  ['a fast clock jumps ahead after a sleep', -FAST, HOUR, -FAST],
  ['a slow clock is set right', FAST, FAST, 0],
  ['a slow clock is set back', FAST, -MINUTE, FAST + MINUTE],
  ['a right clock is set back', 0, -FAST, FAST],
  ['a right clock is set back by up to a minute', 0, -MINUTE, 0],
])('a step of our clock clears the offset: %s', async (_, offset, stepMs, correction) => {
  const { own, clock } = await answered([offset]);
  await own.advance(59 * MINUTE);
  expect([clock.offsetMs(), clock.now() - own.now()]).toEqual([offset, offset]);
  own.step(stepMs);
  expect([clock.offsetMs(), clock.now() - own.now()]).toEqual([undefined, correction]);
  clock.answered(own.now() - 2 * FAST, 0);
  expect([clock.offsetMs(), clock.now() - own.now()]).toEqual([-2 * FAST, -2 * FAST]);
});

it.each([
  ['a day off', -DAY, {}, -DAY],
  ['more than a day off', -DAY - 2 * SECOND, {}, 0],
  ['of the year 9999', 253_402_300_799_000 - NOW, {}, 0],
  ['up to a minute before a slot', -2 * HOUR, { slotAt: NOW - 2 * HOUR + MINUTE }, -2 * HOUR],
  ['more than a minute before a slot', -2 * HOUR, { slotAt: NOW - 2 * HOUR + MINUTE + SECOND }, 0],
  ['before a slot, and ahead of our clock', 2 * HOUR, { slotAt: NOW + 2 * HOUR + MINUTE + SECOND }, 0],
  ['after a slot, because older data contradict nothing', 2 * HOUR, { slotAt: NOW, machinesAt: NOW }, 2 * HOUR],
  ['before our clock and two of three machines', -2 * HOUR, pushed(NOW, NOW - DAY, NOW), 0],
  ['before our clock and two of four machines', -2 * HOUR, pushed(NOW, NOW, SECOND, SECOND), -2 * HOUR],
  ['before our clock and the only machine', -2 * HOUR, pushed(NOW), -2 * HOUR],
  ['before the machines, and ahead of our clock', 2 * HOUR, pushed(NOW + DAY, NOW + DAY), 2 * HOUR],
])('a date that is %s is reported, and used only if nothing contradicts it', (_, offset, times, correction) => {
  for (const isFirst of [true, false]) {
    const own = new VirtualClock(NOW);
    const clock = new ServiceClock(own);
    if (isFirst) clock.contains(times);
    clock.answered(own.now() + offset, 0);
    if (!isFirst) clock.contains(times);
    // No sweep begins earlier because of a date that is not used.
    expect([clock.offsetMs(), clock.now() - own.now(), clock.fastMs()]).toEqual([offset, correction, 0]);
  }
});

it('a wrong time in an answer contradicts dates for an hour only', async () => {
  const { own, clock } = await answered([]);
  clock.contains({ slotAt: NOW + DAY });
  await own.advance(HOUR + 1);
  clock.answered(own.now() - 2 * HOUR, 0);
  expect(clock.now()).toBe(own.now());
  clock.contains({});
  expect(clock.now()).toBe(own.now() - 2 * HOUR);
});

it('after an hour without answers the offset is unknown, but the correction stays', async () => {
  const { own, clock } = await answered([-FAST]);
  await own.advance(2 * HOUR);
  expect([clock.offsetMs(), clock.now() - own.now()]).toEqual([undefined, -FAST]);
});
