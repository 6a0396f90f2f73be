import { describe, expect, it } from 'vitest';
import type { PastRange } from '../../src/api/endpoints.ts';
import { makePlan } from '../../src/backfill/plan.ts';
import { machinesHistory } from '../../src/sources/machines/history.ts';
import { fakeApi } from '../support/answers/fake-api.ts';
import { machinesOptions, machinesPage } from '../support/answers/machine-records.ts';
import { NOW, noSignal } from '../support/time/timing.ts';
import { VirtualClock } from '../support/time/virtual-clock.ts';

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

describe('backfill/plan', () => {
  it('reads the whole range at once, and at full resolution twelve hours, oldest first', async () => {
    expect(await rangesOf(30, false)).toEqual([{ start: SECONDS - 30 * HOUR, end: SECONDS }]);
    expect(await rangesOf(30, true)).toEqual([
      { start: SECONDS - 30 * HOUR, end: SECONDS - 18 * HOUR },
      { start: SECONDS - 18 * HOUR, end: SECONDS - 6 * HOUR },
      { start: SECONDS - 6 * HOUR, end: SECONDS },
    ]);
  });
});
