import { expect, it } from 'vitest';
import { SecondWindow } from '../../src/budget/second-window.ts';

function windowOf(limit: number, utilization: number): SecondWindow {
  return Object.assign(new SecondWindow(), { limit, utilization });
}

/** Sends as long as something may leave at `now`; the number that left. */
function burst(window: SecondWindow, now: number): number {
  let left = 0;
  for (; window.freeIn(now) === 0; left += 1) window.sent(now);
  return left;
}

it('holds a permit while its request is in flight, however long', () => {
  const window = windowOf(1, 0.9);
  window.sent(0);
  expect(window.freeIn(3_600_000)).toBe(Number.POSITIVE_INFINITY);
});

it('gives a permit back one second and a margin after the answer, not after the departure', () => {
  const window = windowOf(1, 0.9);
  window.sent(0);
  window.released(400);
  expect(window.freeIn(400)).toBe(1_005);
  expect(window.freeIn(1_404)).toBe(1);
  expect(window.freeIn(1_405)).toBe(0);
});

it('has as many permits as the limit where the share needs them', () => {
  expect(burst(windowOf(5, 0.9), 0)).toBe(5);
  expect(burst(windowOf(2, 1), 0)).toBe(2);
});

it('spaces requests evenly at the share where permits are to spare', () => {
  const window = windowOf(4, 0.5);
  const departures: number[] = [];
  for (let now = 0; now <= 2_000; now += 1) {
    if (window.freeIn(now) > 0) continue;
    departures.push(now);
    window.sent(now);
    window.released(now);
  }
  expect(departures).toEqual([0, 500, 1_000, 1_500, 2_000]);
});

it('counts a request that another window let go', () => {
  const window = windowOf(1, 0.9);
  window.countOne(100);
  expect(window.freeIn(100)).toBe(1_005);
});

it('spends a higher limit at once also where requests are spaced', () => {
  const window = windowOf(1, 0.5);
  window.sent(0);
  window.released(20);
  expect(window.freeIn(20)).toBe(1_980);
  window.limit = 50;
  expect(window.freeIn(20)).toBeCloseTo(20, 6);
});

it('waits after a lower limit until so many permits are back that one is left', () => {
  const window = windowOf(3, 1);
  for (let i = 0; i < 3; i += 1) window.sent(0);
  window.released(100);
  window.released(200);
  window.limit = 1;
  expect(window.freeIn(200)).toBe(Number.POSITIVE_INFINITY);
  window.released(300);
  expect(window.freeIn(300)).toBe(1_005);
});
