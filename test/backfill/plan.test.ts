import { describe, expect, it } from 'vitest';
import { type Costs, costsText, isOverBudget, makePlan } from '../../src/backfill/plan.ts';
import type { PastRange } from '../../src/sources/history.ts';
import { machinesHistory } from '../../src/sources/machines/history.ts';
import { fakeApi } from '../support/fake-api.ts';
import { machinesOptions, machinesPage } from '../support/machine-records.ts';
import { NOW, noSignal } from '../support/timing.ts';
import { VirtualClock } from '../support/virtual-clock.ts';

const SECONDS = NOW / 1000;
const HOUR = 3_600;

async function rangesOf(hours: number, fullResolution: boolean): Promise<PastRange[]> {
  const plan = await makePlan({
    api: fakeApi(() => machinesPage({})),
    clock: new VirtualClock(NOW),
    signal: noSignal(),
    onWait: () => undefined,
    histories: new Map([['machines', machinesHistory(machinesOptions())]]),
    range: { start: SECONDS - hours * HOUR, end: SECONDS },
    fullResolution,
    flags: {},
    now: SECONDS,
    end: SECONDS,
  });
  return plan.slices.map(({ range }) => range);
}

const COSTS: Costs = {
  what: 'Backfill of machine metrics',
  requests: 4_800,
  sequences: 1,
  perSecond: 0.87654,
  left: { month: 12_000 },
  isKnown: true,
};

describe('backfill/plan', () => {
  it('reads the whole range at once, and at full resolution twelve hours, oldest first', async () => {
    expect(await rangesOf(30, false)).toEqual([{ start: SECONDS - 30 * HOUR, end: SECONDS }]);
    expect(await rangesOf(30, true)).toEqual([
      { start: SECONDS - 30 * HOUR, end: SECONDS - 18 * HOUR },
      { start: SECONDS - 18 * HOUR, end: SECONDS - 6 * HOUR },
      { start: SECONDS - 6 * HOUR, end: SECONDS },
    ]);
  });

  it.each([
    [{}, '40 % of the 12000 requests left this month'],
    [{ left: { month: 0 } }, 'nothing is left this month'],
    [{ left: {} }, 'this plan has no known monthly quota'],
  ])('%#: says what it takes of the quota', (more, quota) => {
    const text = costsText({ ...COSTS, ...more });
    expect(text.split('\n')[3]).toBe(`  quota     ${quota}`);
    expect(text).toContain('about 4800');
    expect(text).toContain('at 0.88 requests a second');
  });

  it('is over the budget where more is asked for than is left', () => {
    expect(isOverBudget(COSTS)).toBe(false);
    expect(isOverBudget({ ...COSTS, left: { month: 4_799 } })).toBe(true);
  });
});
