import { describe, expect, it } from 'vitest';
import { spend } from '../../../src/sandbox/account.ts';
import { lastSuccessAt } from '../../../src/scheduler/schedules.ts';
import { BOTH_CHAINS } from '../../support/runs/default-config.ts';
import { configured, runMonth, TRIAL } from '../../support/runs/month.ts';
import { SandboxRun } from '../../support/runs/sandbox-run.ts';
import { DAY, HOUR, MINUTE } from '../../support/time/timing.ts';
import { restarted } from './restart.ts';

/** A month of 31 days. */
const OCTOBER = Date.UTC(2026, 9, 1);

interface Case {
  readonly startDay?: number;
  readonly days?: number;
  readonly eachHour?: (run: SandboxRun, hour: number) => void;
  /** How many requests of the month are used in the end, those of others included. */
  readonly used: readonly [least: number, most: number];
  /** The longest time between two answers for the machines, hours. */
  readonly longest: number;
}

function othersSpend({ sandbox, clock }: SandboxRun, requests: number): void {
  if (requests > 0) spend(sandbox.account, requests, clock.now());
}

/** Requests of a client that sends so many a day, in this hour. */
function evenly(perDay: number, hour: number): number {
  return Math.floor((perDay * (hour + 1)) / 24) - Math.floor((perDay * hour) / 24);
}

const BURSTS: Readonly<Record<number, number>> = { 53: 50, 125: 50, 221: 35, 222: 15, 341: 50, 485: 50, 570: 50 };

const CASES: Readonly<Record<string, Case>> = {
  'alone on the account': { used: [895, 900], longest: 5 },
  'another client takes 20 a day': {
    eachHour: (run, hour) => othersSpend(run, evenly(20, hour)),
    used: [970, 1_000],
    longest: 18,
  },
  'another client takes 300 in bursts': {
    eachHour: (run, hour) => othersSpend(run, BURSTS[hour] ?? 0),
    used: [850, 1_000],
    longest: 24,
  },
  'requests that never arrive, twice a day and for two days, cost nothing': {
    eachHour: (run, hour) => {
      run.offline = (hour >= 240 && hour < 288) || hour % 12 === 5;
    },
    used: [895, 900],
    longest: 48 + 4,
  },
  'from the 20th on, with one quota for 30 days': {
    startDay: 19,
    days: 30,
    // The calendar would give a new one.
    eachHour: (run, hour) => {
      if (hour === 12 * 24) othersSpend(run, run.used);
    },
    used: [700, 900],
    longest: 24,
  },
};

describe('system/quota/month', () => {
  it.each(Object.entries(CASES))('a trial is polled to its last day, and nothing is refused: %s', async (_, one) => {
    const { startDay = 0, days = 31, used, longest, eachHour } = one;
    const { run, refused, longestGap } = await runMonth({
      start: OCTOBER + startDay * DAY,
      hours: days * 24,
      sandbox: TRIAL,
      sources: configured(),
      ...(eachHour && { eachHour }),
    });
    // Two programs that ask within one second are another matter.
    expect(refused['month'] ?? 0).toBe(0);
    expect(run.used).toBeGreaterThanOrEqual(used[0]);
    expect(run.used).toBeLessThanOrEqual(used[1]);
    for (const view of run.scheduler.views())
      expect(lastSuccessAt(view), view.source.name).toBeGreaterThan(run.clock.now() - 1.2 * DAY);
    expect(longestGap).toBeLessThan(longest);
  });

  it('what others take is known after a restart, and but one request nothing is sent that is not due', async () => {
    const sources = configured();
    let run = new SandboxRun({ start: OCTOBER, sandbox: TRIAL, sources, sleepsLong: true });
    for (let hour = 0; hour < 240; hour += 1) {
      othersSpend(run, evenly(20, hour));
      await run.clock.advance(HOUR);
    }
    const before = run.view('machines').first.pace.intervalMs;
    run = await restarted(run, sources);
    // One request is booked that the program may have sent before its state was written.
    expect(Math.abs(run.view('machines').first.pace.intervalMs / before - 1)).toBeLessThan(0.01);
    await run.clock.advance(MINUTE);
    expect(run.exchanges.length).toBeLessThanOrEqual(1);
    await run.stop();
  });

  it('Hobbyist with two chains and 50 machines: everything as configured', async () => {
    const { run, refused, withdrawn } = await runMonth({
      start: OCTOBER,
      hours: 4,
      sandbox: { plan: 'hobbyist', machines: 50 },
      sources: configured(BOTH_CHAINS),
    });
    expect([refused, withdrawn]).toEqual([{}, []]);
    for (const { source, reads } of run.scheduler.views())
      expect(reads.map(({ pace }) => pace.intervalMs)).toEqual(source.reads.map(({ everyMs }) => everyMs));
    expect(run.plans).toHaveLength(1);
  });
});
