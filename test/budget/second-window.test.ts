import { expect, it } from 'vitest';
import { SecondWindow } from '../../src/budget/second-window.ts';

it('spaces requests evenly at the share if there are more permits than needed', () => {
  const window = Object.assign(new SecondWindow(), { limit: 4, utilization: 0.5 });
  const departures: number[] = [];
  for (let now = 0; now <= 2_000; now += 1) {
    if (window.freeIn(now) > 0) continue;
    departures.push(now);
    window.sent(now);
    window.released(now);
  }
  expect(departures).toEqual([0, 500, 1_000, 1_500, 2_000]);
});
