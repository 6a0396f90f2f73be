import { describe, expect, it } from 'vitest';
import { type Costs, costsText } from '../../src/backfill/costs.ts';

const COSTS: Costs = {
  what: 'Backfill of machine metrics',
  requests: 4_800,
  sequences: 1,
  perSecond: 0.87654,
  left: { month: 12_000 },
  isKnown: true,
};

describe('backfill/costs', () => {
  it.each([
    [COSTS, '40 % of the 12000 requests left this month'],
    [{ ...COSTS, isBeside: true }, "40 % of the 12000 requests left this month after the exporter's own requests"],
    [{ ...COSTS, isBeside: true, left: { month: 0 } }, "nothing is left this month after the exporter's own requests"],
  ])('%#: says what it takes of the quota', (costs, quota) => {
    expect(costsText(costs).split('\n')[3]).toBe(`  quota     ${quota}`);
    expect(costsText(costs)).toContain('at 0.88 requests a second');
  });
});
