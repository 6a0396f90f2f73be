import { describe, expect, it } from 'vitest';
import type { Covered } from '../../src/backfill/covered.ts';
import { BackfillRefused } from '../../src/commands/backfill-errors.ts';
import { leaveOut, type Scrapes } from '../../src/commands/backfill-scraped.ts';
import type { PastRange } from '../../src/sources/history.ts';
import { HOUR, NOW } from '../support/timing.ts';

const SECONDS = NOW / 1000;
const DAYS_31 = { start: SECONDS - 31 * 86_400, end: SECONDS };

/** Scrapes for the last two hours, and for two hours yesterday. */
const COVERED: Covered = {
  ended: [{ start: SECONDS - 86_400, end: SECONDS - 79_200 }],
  current: { start: SECONDS - 7_200, end: SECONDS * 2, first: [] },
};
const UNKNOWN: Covered = { ended: [], current: { start: 0, end: SECONDS * 2, first: [] } };

function machines(scrapes: Scrapes, range: PastRange = DAYS_31, isEndGiven = false, yes = false) {
  return leaveOut({ source: 'machines', range, isEndGiven }, new Map([['machines', scrapes]]), yes, NOW);
}

describe('commands/backfill-scraped', () => {
  it('leaves out what scrapes cover, and names it', () => {
    const { covered, notes } = machines(COVERED);
    expect(covered).toEqual({ machines: COVERED });
    expect(notes).toEqual([
      'Left out, because scrapes already cover it: 2026-09-29 12:01:00 UTC to 2026-09-29 14:01:00 UTC, ' +
        '2026-09-30 10:01:00 UTC to now.',
    ]);
  });

  it('says nothing of scrapes outside the range', () => {
    const before = { start: SECONDS - 10_000, end: SECONDS - 7_300 };
    expect(machines(COVERED, before).notes).toEqual([]);
    expect(machines(COVERED, before, true)).toEqual({ covered: { machines: COVERED }, notes: [] });
  });

  it('writes among scrapes only where --end says so, and --yes agrees', () => {
    expect(() => machines(COVERED, DAYS_31, true)).toThrow(BackfillRefused);
    expect(() => machines(COVERED, DAYS_31, true)).toThrow(/counters decrease.*\n.*--yes/);
    const { covered, notes } = machines(COVERED, DAYS_31, true, true);
    expect(covered).toEqual({});
    expect(notes.join()).toContain('counters decrease');
    // Agreed to the costs.
    expect(machines(COVERED, DAYS_31, false, true).covered).toEqual({ machines: COVERED });
  });

  it('says what it assumes where nothing was polled with this state', () => {
    const { covered, notes } = machines('never');
    expect(covered).toEqual({});
    expect(notes).toEqual([expect.stringMatching(/same state\.dir.*assumes.*--end/)]);
  });

  it('leaves out everything where an earlier version wrote the state, unless the user knows better', () => {
    const { covered, notes } = machines(UNKNOWN);
    expect(covered).toEqual({ machines: UNKNOWN });
    expect(notes[0]).toMatch(/is unknown, because an earlier version.*set --end/);
    expect(notes[1]).toContain('all to now');
    const told = machines(UNKNOWN, { ...DAYS_31, end: SECONDS - 3_600 }, true);
    expect(told.covered).toEqual({ machines: { ended: [] } });
    expect(told.notes).toEqual([expect.stringContaining('assumes that scrapes start at --end')]);
  });

  it('does the same for each chain of the daily returns', () => {
    const scrapes = new Map<string, Scrapes>([
      ['daily_returns-mainnet', COVERED],
      ['daily_returns-hoodi', 'never'],
    ]);
    const wanted = { source: 'daily_returns', range: { window: 'all_time' }, isEndGiven: false } as const;
    const { covered, notes } = leaveOut(wanted, scrapes, false, NOW + HOUR);
    expect(covered).toEqual({ 'daily_returns-mainnet': COVERED });
    expect(notes).toHaveLength(2);
    const old = leaveOut(wanted, new Map([['daily_returns-mainnet', UNKNOWN]]), false, NOW);
    expect(old.covered).toEqual({ 'daily_returns-mainnet': { ended: [] } });
  });
});
