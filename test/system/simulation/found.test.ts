import { describe, expect, it } from 'vitest';
import { type Draw, lifeOf } from './found-life.ts';
import { mistakesOf } from './found-mistakes.ts';
import { live } from './found-run.ts';

/** A trial of a program that has run since the month began. */
const TRIAL: Draw = {
  limits: { perSecond: 1, perMonth: 1_000 },
  utilization: 0.9,
  chains: 1,
  machines: 2,
  lag: { ms: 0, ofAll: false },
  latencyMs: 20,
  others: { kind: 'none', share: 0.05, at: 0 },
  newcomers: [],
  month: 3,
  monthEnds: 1,
  hasRun: true,
  seed: 1,
};

/** Lives in which random ones once found a mistake. */
const FOUND: readonly [title: string, draw: Draw][] = [
  [
    'the last sweeps of a trial cost more than the usual one, because two machines joined whose records come late',
    { ...TRIAL, lag: { ms: 185_242, ofAll: false }, newcomers: [0.192, 0.74], seed: 792_285_603 },
  ],
  [
    'the last sweep of a small quota costs more than the usual one',
    {
      ...TRIAL,
      limits: { perSecond: 1, perMonth: 7_211 },
      lag: { ms: 201_380, ofAll: false },
      latencyMs: 31,
      newcomers: [0.239, 0.872],
      seed: 796_173_166,
    },
  ],
  [
    'a tenth machine joins when the minute that has the late one is due, and with it fits on a page no more',
    {
      ...TRIAL,
      limits: { perSecond: 2 },
      utilization: 0.66,
      chains: 2,
      machines: 10,
      lag: { ms: 296_440, ofAll: false },
      latencyMs: 40,
      others: { kind: 'begins', share: 0.056, at: 0.302 },
      newcomers: [0.252, 0.602],
      hasRun: false,
      seed: 1_951_665_641,
    },
  ],
  [
    'ranges begin in the middle of the pushes of a late machine: one process is in them, another is not',
    {
      ...TRIAL,
      limits: { perSecond: 1 },
      utilization: 0.207,
      fit: 0.763,
      chains: 2,
      machines: 45,
      lag: { ms: 60_517, ofAll: false },
      others: { kind: 'steady', share: 0.091, at: 0 },
      month: 0,
      hasRun: false,
      seed: 1_718_091_681,
    },
  ],
  [
    'the same, with sweeps that are nearly four minutes apart',
    {
      ...TRIAL,
      limits: { perSecond: 1, perMonth: 59_156 },
      utilization: 0.858,
      lag: { ms: 134_246, ofAll: false },
      newcomers: [0.038],
      month: 1,
      monthEnds: 'later',
      hasRun: false,
      seed: 1_230_453_070,
    },
  ],
];

describe('system/simulation: found', () => {
  it.each(FOUND)('%s', async (_title, draw) => {
    const drawn = lifeOf(draw);
    expect(mistakesOf(drawn, await live(drawn))).toEqual([]);
  });
});
