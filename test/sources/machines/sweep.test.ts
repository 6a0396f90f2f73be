import { describe, expect, it } from 'vitest';
import { NodeRecord, ValidatorRecord } from '../../../src/api/answers/machines.ts';
import type { Machines } from '../../../src/sources/machines/schema.ts';
import {
  absentNames,
  addRecord,
  endSweep,
  type Progress,
  rangeOf,
  rangeOfAbsent,
  startSweep,
} from '../../../src/sources/machines/sweep.ts';
import { machinesOptions } from '../../support/answers/machine-records.ts';
import { DAY, HOUR, MINUTE, NOW } from '../../support/time/timing.ts';

const SECONDS = NOW / 1000;
const STALE = 10 * MINUTE;
const EVERY_MINUTE = { now: NOW, intervalMs: MINUTE };
/** Of a sweep a minute after the one before. */
const RANGE = { start: SECONDS - 65, newFrom: SECONDS - 65, end: SECONDS + 300 };

function known(...names: string[]): Machines {
  const machines = names.map((name) => ({ name, system: { timestamp: SECONDS - 360, machine: name } }));
  return { machines, dropped: 3 };
}

function seenApart(seconds: number, ...names: string[]): Machines {
  const machines = names.map((name, i) => ({ name, system: { timestamp: SECONDS - seconds * i, machine: name } }));
  return { machines, dropped: 0 };
}

function namesOf({ machines }: Machines): string[] {
  return machines.map(({ name }) => name);
}

describe('sources/machines/sweep', () => {
  it('drops machines beyond max and counts each once', () => {
    const options = machinesOptions({ max: 2 });
    const sweep = startSweep(options, known('a'), NOW, STALE);
    for (const machine of ['b', 'c', 'd', 'c', 'a'])
      addRecord(sweep, options, ['system', { timestamp: SECONDS, machine }]);
    expect(endSweep(sweep, options)).toMatchObject({ dropped: 2 });
    expect(namesOf(endSweep(sweep, options))).toEqual(['a', 'b']);
  });

  it('drops the longest unseen of those already known when max is lowered, and counts them; silent expected ones stay', () => {
    const options = machinesOptions({ max: 2, expected: ['d'] });
    const end = endSweep(startSweep(options, seenApart(3_600, 'a', 'b', 'c', 'd'), NOW, STALE), options);
    expect(namesOf(end).toSorted()).toEqual(['a', 'd']);
    expect(end.dropped).toBe(2);
  });

  it('lets the machine that has been silent for longest go for one that reports, and no live one', () => {
    const options = machinesOptions({ max: 3 });
    const sweep = startSweep(options, seenApart(3_600, 'live', 'silent', 'longest'), NOW, STALE);
    for (const machine of ['silent', 'new-1', 'new-2', 'new-3']) {
      addRecord(sweep, options, ['system', { timestamp: SECONDS, machine }]);
    }
    const end = endSweep(sweep, options);
    expect(namesOf(end).toSorted()).toEqual(['live', 'new-1', 'silent']);
    expect(end.dropped).toBe(3);
  });

  it('keeps out machines that are not admitted, known or not', () => {
    const options = machinesOptions({ exclude: ['out'] });
    const sweep = startSweep(options, known('out', 'in'), NOW, STALE);
    addRecord(sweep, options, ['system', { timestamp: SECONDS, machine: 'out' }]);
    expect(namesOf(endSweep(sweep, options))).toEqual(['in']);
  });

  it('lets go of machines that were not seen for forget_after', () => {
    const options = machinesOptions();
    const keptAt = (now: number): string[] => namesOf(endSweep(startSweep(options, known('a'), now, STALE), options));
    const last = NOW + 31 * DAY - 6 * MINUTE;
    expect([keptAt(last), keptAt(last + 1)]).toEqual([['a'], []]);
  });

  it('joins the nameless records with those of a machine called unnamed', () => {
    const options = machinesOptions();
    const sweep = startSweep(options, known(), NOW, STALE);
    addRecord(sweep, options, ['system', { timestamp: SECONDS - 400, machine: '' }]);
    addRecord(sweep, options, ['validator', ValidatorRecord.parse({ timestamp: SECONDS - 400 })]);
    addRecord(sweep, options, ['node', NodeRecord.parse({ timestamp: SECONDS - 400, machine: 'unnamed' })]);
    expect(namesOf(endSweep(sweep, options))).toEqual(['unnamed']);
    const next = startSweep(options, endSweep(sweep, options), NOW, STALE);
    const names = ['', 'unnamed'].map((name) => ({ name, seen: SECONDS - 400 }));
    expect(absentNames(next, EVERY_MINUTE)).toEqual(names);
    expect(rangeOfAbsent(names, RANGE, NOW)).toEqual({ start: SECONDS - 399, end: RANGE.newFrom });
  });

  it('requests no machine that was found, even if values become stale soon', () => {
    const options = machinesOptions();
    const sweep = startSweep(options, known('a', 'b'), NOW, STALE);
    addRecord(sweep, options, ['system', { timestamp: SECONDS - 70, machine: 'a' }]);
    addRecord(sweep, options, ['system', { timestamp: SECONDS - 350, machine: 'b' }]);
    expect(absentNames({ ...sweep, silentMs: 100_000 }, EVERY_MINUTE)).toEqual([]);
    const next = startSweep(options, endSweep(sweep, options), NOW, STALE);
    expect(absentNames({ ...next, silentMs: 300_000 }, EVERY_MINUTE).map(({ name }) => name)).toEqual(['b']);
  });

  it('requests machines that were live at the last complete sweep, however long ago, over at most 31 days', () => {
    const [live, silent] = [18 * MINUTE, 18 * MINUTE + 1].map((age) => SECONDS - DAY / 500 - age / 1000);
    const machines = [live, silent].map((timestamp, i) => ({ name: `m${i}`, system: { timestamp, machine: `m${i}` } }));
    const at = (beganAt?: number): string[] => {
      const previous = { machines, dropped: 0, ...(beganAt !== undefined && { beganAt }) } as Machines;
      const sweep = startSweep(machinesOptions(), previous, NOW, STALE);
      return absentNames(sweep, EVERY_MINUTE).map(({ name }) => name);
    };
    expect(at(SECONDS - DAY / 500)).toEqual(['m0']);
    expect([at(), at(SECONDS + 1)]).toEqual([[], []]);
    const { start } = rangeOfAbsent([{ name: 'a', seen: SECONDS - 40 * 86_400 }], RANGE, NOW);
    expect(start).toBe(SECONDS - 31 * 86_400);
  });

  describe('range', () => {
    const since = (progress: Progress, timing = EVERY_MINUTE, configuredMs = MINUTE): number[] => {
      const { start, newFrom } = rangeOf(progress, timing, configuredMs);
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
      expect(rangeOf({}, EVERY_MINUTE, MINUTE).end).toBe(SECONDS + 300);
    });

    it('is the same at a longer interval that is configured, and of one sweep in 30 on a scarce budget', () => {
      const every = { ...EVERY_MINUTE, intervalMs: 5 * MINUTE };
      const progress = { beganAt: SECONDS - 60, lateAt: NOW - HOUR };
      expect(since(progress, every, 5 * MINUTE)).toEqual([-360, -65]);
      expect(since(progress, every)).toEqual([-65, -65]);
      expect(since({ ...progress, lateAt: NOW - 150 * MINUTE }, every)).toEqual([-360, -65]);
    });

    it('of the first sweep, and then of one an hour, reaches 6 min back for late records', () => {
      expect(since({})).toEqual([-360, -75]);
      expect(since({ beganAt: SECONDS - 60, lateAt: NOW - HOUR + 1 })).toEqual([-65, -65]);
      expect(since({ beganAt: SECONDS - 60, lateAt: NOW - HOUR })).toEqual([-360, -65]);
    });

    it('reaches 6 min back where a sweep begins later than its interval with jitter and two minutes', () => {
      const reach = (seconds: number, intervalMs = MINUTE): number[] =>
        since({ beganAt: SECONDS - seconds, lateAt: NOW }, { now: NOW, intervalMs }, intervalMs);
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

    it('is that of a first sweep after the clock was set back', () => {
      expect(since({ beganAt: SECONDS + 1, lateAt: NOW + 1 })).toEqual([-360, -75]);
    });
  });
});
