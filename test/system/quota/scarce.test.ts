import { describe, expect, it } from 'vitest';
import { requestsPerDay } from '../../../src/scheduler/schedules.ts';
import { isSampled } from '../../../src/sources/slashings/pass.ts';
import type { Slashings } from '../../../src/sources/slashings/state.ts';
import { configured } from '../../support/runs/month.ts';
import { SandboxRun } from '../../support/runs/sandbox-run.ts';
import { DAY, HOUR } from '../../support/time/timing.ts';

/** The last days of a month: a quota of so many a month has as much a day. */
const NOVEMBER = Date.UTC(2026, 10, 1);
const DAYS = 3;
const NO_SLASHINGS = { slotsPerSlashing: Number.POSITIVE_INFINITY };

describe('system/quota/scarce', () => {
  // Slashings get 228 and 340 requests a day of these.
  it.each([15_850, 20_000])(
    'a quota of %i a month is spent to 97 %, and nothing is skipped that could be read',
    async (quota) => {
      const perMonth = Math.round((quota * DAYS) / 31);
      const run = new SandboxRun({
        start: NOVEMBER - DAYS * DAY,
        sandbox: { ...NO_SLASHINGS, plan: { perSecond: 5, perMonth }, machines: 3 },
        sources: configured(),
        sleepsLong: true,
      });
      await run.clock.advance(DAYS * DAY - 1);
      await run.stop();
      expect(run.plans.length).toBeLessThanOrEqual(2 * DAYS);
      expect(run.used).toBeGreaterThanOrEqual(0.97 * 0.9 * perMonth);
      expect(run.used).toBeLessThanOrEqual(0.9 * perMonth);
      const known = run.entries.get('slashings-mainnet')?.value as Slashings | undefined;
      expect(known?.totals.skippedEpochs).toBe(0);
    },
  );

  it.each([100, 300, 700])('slashings with %i requests a day send what is planned, within 2 %', async (perDay) => {
    const sources = configured().filter(({ name }) => name === 'slashings');
    const plan = { perSecond: 5, perMonth: Math.ceil((perDay * 31) / 0.9) };
    const start = Date.UTC(2026, 9, 1);
    const run = new SandboxRun({ start, sandbox: { ...NO_SLASHINGS, plan }, sources, sleepsLong: true });
    await run.clock.advance(6 * HOUR);
    const before = run.exchanges.length;
    const { first, ...view } = run.view('slashings-mainnet');
    const planned = requestsPerDay(view);
    await run.clock.advance(DAY);
    await run.stop();
    const sent = run.exchanges.length - before;
    expect(Math.abs(sent - planned)).toBeLessThanOrEqual(Math.max(2, planned * 0.02));
    expect(planned).toBeGreaterThanOrEqual(0.97 * Math.min(perDay, 1_779));
    expect([view.leftOut, isSampled(first.pace)]).toEqual([perDay < 675 ? ['head'] : [], perDay < 225]);
  });
});
