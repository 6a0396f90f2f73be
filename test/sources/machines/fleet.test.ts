import { describe, expect, it } from 'vitest';
import type { MachineRecord } from '../../../src/api/answers/machines.ts';
import { liveOf, withRecords } from '../../../src/sources/machines/fleet.ts';
import type { Machines } from '../../../src/sources/machines/state.ts';
import { absentProcesses, rangeOf, rangeOfAbsent } from '../../../src/sources/machines/sweep.ts';
import { machinesOptions } from '../../support/answers/machine-records.ts';
import { DAY, HOUR, MINUTE, NOW, timing } from '../../support/time/timing.ts';

const SECONDS = NOW / 1000;
const STALE = 10 * MINUTE;
const TIMING = timing();
/** The range of a sweep a minute after the one before. */
const RANGE = { start: SECONDS - 65, newFrom: SECONDS - 65, end: SECONDS + 300 };

function known(...names: string[]): Machines {
  const machines = names.map((name) => ({ name, system: { timestamp: SECONDS - 360, machine: name } }));
  return { machines, dropped: 3 };
}

function seenApart(seconds: number, ...names: string[]): Machines {
  const machines = names.map((name, i) => ({ name, system: { timestamp: SECONDS - seconds * i, machine: name } }));
  return { machines, dropped: 0 };
}

/** A record of the system of each machine. */
function records(ofNames: readonly string[], timestamp = SECONDS): MachineRecord[] {
  return ofNames.map((machine) => ['system', { timestamp, machine }]);
}

function namesOf({ machines }: Pick<Machines, 'machines'>): string[] {
  return machines.map(({ name }) => name);
}

describe('sources/machines/fleet', () => {
  it('drops machines beyond max, and counts each once', async () => {
    const end = await withRecords(machinesOptions({ max: 2 }), known('a'), records(['b', 'c', 'd', 'c', 'a']), TIMING);
    expect(end).toMatchObject({ dropped: 2 });
    expect(namesOf(end)).toEqual(['a', 'b']);
  });

  it('drops the longest unseen machines when max is lowered, but no expected one', async () => {
    const options = machinesOptions({ max: 2, expected: ['d'] });
    const end = await withRecords(options, seenApart(3_600, 'a', 'b', 'c', 'd'), [], TIMING);
    expect(namesOf(end).toSorted()).toEqual(['a', 'd']);
    expect(end.dropped).toBe(2);
  });

  it('replaces the longest silent machine, never a live one, by one that reports', async () => {
    const before = seenApart(3_600, 'live', 'silent', 'longest');
    const reports = records(['silent', 'new-1', 'new-2', 'new-3'], SECONDS + 1);
    const end = await withRecords(machinesOptions({ max: 3 }), before, reports, TIMING);
    expect(namesOf(end).toSorted()).toEqual(['live', 'new-1', 'silent']);
    expect(end.dropped).toBe(3);
    const two = machinesOptions({ max: 2 });
    const [just, silent] = await Promise.all(
      [600, 601].map((s) => withRecords(two, seenApart(s, 'a', 'b'), records(['new']), TIMING)),
    );
    expect([just, silent].map((one) => namesOf(one ?? before).toSorted())).toEqual([
      ['a', 'b'],
      ['a', 'new'],
    ]);
  });

  it('never shows an older time after our clock was set back', async () => {
    const back = { ...TIMING, now: NOW - DAY };
    const seen = async (at: number): Promise<unknown> =>
      (await withRecords(machinesOptions(), known('a'), records(['a'], at), back)).machines[0]?.system?.timestamp;
    expect([await seen(SECONDS - 420), await seen(SECONDS)]).toEqual([SECONDS - 360, SECONDS]);
  });

  it('keeps excluded machines out, known or not', async () => {
    const options = machinesOptions({ exclude: ['out'] });
    expect(namesOf(await withRecords(options, known('out', 'in'), records(['out']), TIMING))).toEqual(['in']);
  });

  it('forgets machines that were not seen for forget_after', async () => {
    const keptAt = async (now: number, held = now): Promise<string[]> =>
      namesOf(await withRecords(machinesOptions(), known('a'), [], timing({ now, held })));
    const last = NOW + 31 * DAY - 6 * MINUTE;
    expect([await keptAt(last), await keptAt(last + 1)]).toEqual([['a'], []]);
    // A time that has not held forgets nothing.
    expect([await keptAt(NOW + 40 * DAY, NOW), await keptAt(NOW + 40 * DAY, -Infinity)]).toEqual([['a'], ['a']]);
  });

  it('joins nameless records with those of a machine called unnamed', async () => {
    const timestamp = SECONDS - 400;
    const [system] = records([''], timestamp);
    const all = [system, ['validator', { timestamp }], ['node', { timestamp, machine: 'unnamed' }]] as MachineRecord[];
    const end = await withRecords(machinesOptions(), known(), all, TIMING);
    expect(namesOf(end)).toEqual(['unnamed']);
    const absent = absentProcesses(end.machines, [], STALE, TIMING);
    expect(absent.map(({ name, process }) => [name, process])).toEqual([
      ['', 'system'],
      ['', 'validator'],
      ['unnamed', 'node'],
    ]);
    expect(rangeOfAbsent(absent, RANGE, NOW, true)).toEqual({ start: SECONDS - 399, end: RANGE.newFrom });
  });
});

describe('sources/machines/sweep', () => {
  it('does not ask for a process that became silent before its machine did', () => {
    const lookedFor = (gap: number): string[] => {
      const [system, node] = [SECONDS - 400, SECONDS - 400 - gap].map((timestamp) => ({ timestamp, machine: 'a' }));
      const { machines } = { machines: [{ name: 'a', system, node }] } as unknown as Machines;
      return absentProcesses(machines, [], STALE, TIMING).map(({ process }) => process);
    };
    expect([lookedFor(600), lookedFor(601)]).toEqual([['node', 'system'], ['system']]);
  });

  it('asks for machines that were live at the last complete sweep, at most 31 days back', () => {
    const [live, silent] = [18 * MINUTE, 18 * MINUTE + 1].map((age) => SECONDS - DAY / 500 - age / 1000);
    const machines = [live, silent].map((timestamp, i) => ({ name: `m${i}`, system: { timestamp, machine: `m${i}` } }));
    const at = (beganAt?: number): string[] => {
      const previous = { machines, dropped: 0, ...(beganAt !== undefined && { beganAt }) } as Machines;
      const wasLive = liveOf(machinesOptions(), previous, TIMING);
      return absentProcesses(wasLive, [], STALE, TIMING).map(({ name }) => name);
    };
    expect(at(SECONDS - DAY / 500)).toEqual(['m0']);
    expect([at(), at(SECONDS + 1)]).toEqual([[], []]);
    const { start } = rangeOfAbsent([{ name: 'a', seen: SECONDS - 40 * 86_400, process: 'node' }], RANGE, NOW, true);
    expect(start).toBe(SECONDS - 31 * 86_400);
  });

  describe('range', () => {
    const since = (progress: Partial<Machines>, sweepMs = MINUTE, configuredMs = MINUTE): number[] => {
      const { start, newFrom } = rangeOf(
        machinesOptions({ intervalMs: configuredMs }),
        { ...known(), ...progress },
        timing({ intervalMs: sweepMs }),
      );
      return [start - SECONDS, newFrom - SECONDS];
    };

    it('reaches to 5 s before the last complete sweep began, at most 75 s back, and 5 min ahead', () => {
      for (const [ago, back] of [
        [0, 5],
        [63, 68],
        [70, 75],
        [71, 75],
      ] as const)
        expect(since({ beganAt: SECONDS - ago, lateAt: NOW })).toEqual([-back, -back]);
      expect(rangeOf(machinesOptions(), known(), TIMING).end).toBe(SECONDS + 300);
    });

    it('reaches 6 min back hourly at a long configured interval, but in one sweep of 30 if stretched', () => {
      const progress = { beganAt: SECONDS - 60, lateAt: NOW - HOUR };
      expect(since(progress, 5 * MINUTE, 5 * MINUTE)).toEqual([-360, -65]);
      expect(since(progress, 5 * MINUTE)).toEqual([-65, -65]);
      expect(since({ ...progress, lateAt: NOW - 150 * MINUTE }, 5 * MINUTE)).toEqual([-360, -65]);
    });

    it('reaches 6 min back for late records, at the first sweep and then hourly', () => {
      // Also after the clock was set back.
      expect(since({ beganAt: SECONDS + 1, lateAt: NOW + 1 })).toEqual([-360, -75]);
      expect(since({})).toEqual([-360, -75]);
      expect(since({ beganAt: SECONDS - 60, lateAt: NOW - HOUR + 1 })).toEqual([-65, -65]);
      expect(since({ beganAt: SECONDS - 60, lateAt: NOW - HOUR })).toEqual([-360, -65]);
    });

    it('reaches 6 min back if a sweep begins two minutes later than its interval and jitter', () => {
      const reach = (seconds: number, intervalMs = MINUTE): number[] =>
        since({ beganAt: SECONDS - seconds, lateAt: NOW }, intervalMs, intervalMs);
      expect([reach(186), reach(187), reach(86_400)]).toEqual([
        [-75, -75],
        [-360, -75],
        [-360, -75],
      ]);
      expect([reach(132 * 60 + 120, 2 * HOUR), reach(135 * 60, 2 * HOUR)]).toEqual([
        [-75, -75],
        [-360, -75],
      ]);
    });
  });

  it('pauses after each machine, so that scrapes are answered', async () => {
    let pauses = 0;
    const pause = (): undefined => {
      pauses += 1;
    };
    await withRecords(machinesOptions(), known('a', 'b'), records(['b', 'c']), TIMING, pause);
    expect(pauses).toBe(3);
  });
});
