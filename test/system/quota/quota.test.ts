import { describe, expect, it } from 'vitest';
import { withKey } from '../../../src/budget/ledger.ts';
import { spend } from '../../../src/sandbox/account.ts';
import { sourceId } from '../../../src/scheduler/entry.ts';
import { lastSuccessAt } from '../../../src/scheduler/schedules.ts';
import { configured, shownMachines, TRIAL } from '../../support/runs/month.ts';
import { SandboxRun } from '../../support/runs/sandbox-run.ts';
import { DAY, HOUR, MINUTE } from '../../support/time/timing.ts';
import { restarted } from './restart.ts';

/** A first start so late that the month ends after twelve days. */
const START = Date.UTC(2026, 9, 20);
const NOVEMBER = Date.UTC(2026, 10, 1);

function intervals({ scheduler }: SandboxRun): Record<string, number> {
  return Object.fromEntries(scheduler.views().map(({ source, first }) => [sourceId(source), first.pace.intervalMs]));
}

/** The other programs on the account leave so many requests of the month. */
function leave({ sandbox, clock, used }: SandboxRun, left: number): void {
  spend(sandbox.account, 1_000 - left - used, clock.now());
}

function statuses({ exchanges }: SandboxRun): number[] {
  return exchanges.map(({ status }) => status);
}

/** A trial after two days in which all was well. */
async function trial(sources = configured()): Promise<SandboxRun> {
  const run = new SandboxRun({ start: START, sandbox: TRIAL, sources, sleepsLong: true });
  await run.clock.advance(2 * DAY);
  return run;
}

describe('system/quota/quota', () => {
  it.each([
    [0, 1],
    [1, 1],
    [10, 10],
  ])('others leave %i of the month: the pace stays, values go, all comes back at the renewal', async (left, most) => {
    const run = await trial();
    const before = intervals(run);
    expect(shownMachines(run)).toHaveLength(3);
    leave(run, left);
    const polled = run.exchanges.length;
    for (let day = 2; day < 12; day += 2) {
      await run.clock.advance(START + (day + 0.5) * DAY - run.clock.now());
      for (const id of ['machines', 'slashings-mainnet'])
        expect((intervals(run)[id] ?? 0) / (before[id] ?? 0), `${id} on day ${day}`).toBeCloseTo(1, 1);
      expect(shownMachines(run), `day ${day}`).toHaveLength(0);
    }
    // Each source is logged as waiting.
    const waits = ['machines', 'slashings-mainnet', 'sync_committee-mainnet', 'daily_returns-mainnet'];
    const told = Object.fromEntries(
      waits.map((id) => [id, `the monthly quota, until ${new Date(NOVEMBER).toISOString()}`]),
    );
    expect(run.waits.at(-1)).toEqual(told);
    expect(run.exchanges.length - polled).toBeLessThanOrEqual(most);
    if (left === 0) expect(statuses(run).slice(polled)).toEqual([429]);
    await run.clock.advance(NOVEMBER + 4 * HOUR - run.clock.now());
    expect(shownMachines(run)).toHaveLength(3);
    for (const view of run.scheduler.views())
      expect(lastSuccessAt(view), view.source.name).toBeGreaterThanOrEqual(NOVEMBER);
    await run.stop();
  });

  it('nothing is sent until the renewal, over restarts too, but one request at a start', async () => {
    const sources = configured();
    let run = await trial(sources);
    leave(run, 0);
    await run.clock.advance(5 * HOUR);
    for (const day of [4, 8]) {
      run = await restarted(run, sources);
      await run.clock.advance(START + day * DAY - run.clock.now());
      expect(run.exchanges.length).toBeLessThanOrEqual(1);
      for (const { nextAttemptAt } of run.scheduler.views().flatMap(({ reads }) => reads))
        expect(nextAttemptAt).toBeGreaterThanOrEqual(NOVEMBER);
    }
    await run.stop();
  });

  it.each([
    ['start', 0],
    ['start', 1],
    ['start', 400],
    ['reload', 0],
    ['reload', 400],
  ])('a larger plan is noticed by one request at the next %s, with %i left', async (how, left) => {
    const sources = configured();
    let run = await trial(sources);
    leave(run, left);
    await run.clock.advance(DAY);
    const restart = async (): Promise<void> => {
      if (how === 'start') run = await restarted(run, sources, { pauseMs: 11 * MINUTE });
      else {
        await run.clock.advance(11 * MINUTE);
        run.exchanges.length = 0;
        const ledger = run.rateLimiter.settleLedger();
        run.rateLimiter.adopt({ utilization: 0.9 }, withKey(ledger, ledger.key.fingerprint, run.clock.now()));
        run.scheduler.adopt(sources, run.entries);
      }
    };
    await restart();
    await run.clock.advance(MINUTE);
    // The plan is the same: nothing else is sent that is not due.
    expect(run.exchanges.length).toBe(1);
    run.sandbox.account.plan = 'hobbyist';
    await restart();
    await run.clock.advance(5 * MINUTE);
    expect(intervals(run)).toMatchObject({ machines: MINUTE, 'slashings-mainnet': 65_000 });
    expect(statuses(run)).not.toContain(429);
    expect(shownMachines(run)).toHaveLength(3);
    await run.stop();
  });

  it('a first start on a used up quota keeps the pace as configured', async () => {
    const run = new SandboxRun({ start: START, sandbox: TRIAL, sources: configured(), sleepsLong: true });
    leave(run, 0);
    await run.clock.advance(2 * DAY);
    expect(intervals(run)).toMatchObject({ machines: MINUTE, 'slashings-mainnet': 65_000 });
    await run.stop();
  });
});
