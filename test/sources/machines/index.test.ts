import { expect, it } from 'vitest';
import { type Attempt, type Entry, emptyEntry } from '../../../src/scheduler/entry.ts';
import { machinesSource } from '../../../src/sources/machines/index.ts';
import type { Machines } from '../../../src/sources/machines/state.ts';
import { machinesOptions } from '../../support/answers/machine-records.ts';
import { scheduleAt } from '../../support/runs/round.ts';
import { HOUR, MINUTE, NOW } from '../../support/time/timing.ts';

const SOURCE = machinesSource(machinesOptions());

/** The entry in which each read last ran at its time. */
function ranAt(times: Readonly<Record<string, number>>): Entry<Machines> {
  const ran = (lastAttemptAt: number): Attempt => ({ failuresInARow: 0, durationMs: 0, lastAttemptAt });
  const reads = Object.entries(times).map(([name, at]) => [name, ran(at)]);
  return { ...emptyEntry(SOURCE), reads: Object.fromEntries(reads) };
}

it('is due after the effective interval and a jitter of up to a tenth', () => {
  const hourly = machinesSource(machinesOptions({ intervalMs: HOUR }));
  const delays = Array.from({ length: 50 }, (_, i) => {
    const last = NOW + i * 61_000;
    return scheduleAt(hourly, ranAt({ sweep: last }), last).first.nextAttemptAt - last - HOUR;
  });
  expect(Math.min(...delays)).toBeGreaterThanOrEqual(0);
  expect(Math.max(...delays)).toBeLessThan(HOUR / 10);
  expect(Math.max(...delays) - Math.min(...delays)).toBeGreaterThan(HOUR / 15);
  expect(new Set(delays).size).toBeGreaterThan(45);
});

it('plans the requests of a sweep, on a scarce budget with those of the rare reads', () => {
  const perDay = (allowedPerDay?: number): number[] =>
    scheduleAt(SOURCE, undefined, NOW, allowedPerDay).reads.map(({ pace }) => pace.requestsPerDay);
  expect(perDay()).toEqual([1_440, 4, 0]);
  const hours = 1 + 2 / 30;
  expect(scheduleAt(SOURCE, undefined, NOW, 24).first.pace.intervalMs).toBeCloseTo(hours * HOUR);
  expect(perDay(24).map((requests) => requests * hours)).toEqual([
    expect.closeTo(24 * (1 + 1 / 30)),
    expect.closeTo(24 / 30),
    0,
  ]);
});

it('lists the names every 6 hours, or every 30 sweeps on a scarce budget', () => {
  const next = (allowedPerDay: number): number[] => {
    const { reads, first } = scheduleAt(SOURCE, ranAt({ sweep: NOW, names: NOW }), NOW, allowedPerDay);
    return [(reads[1]?.nextAttemptAt ?? 0) - NOW, first.pace.intervalMs];
  };
  expect(next(1_000)[0]).toBe(6 * HOUR);
  const [listMs = 0, sweepMs = 0] = next(24);
  expect(listMs).toBeCloseTo(30 * sweepMs, 0);
});

it('reads the list and unknown names in the round of a sweep', () => {
  const entry = ranAt({ sweep: NOW, names: NOW - 6 * HOUR + MINUTE, unknown: NOW });
  const listed = { ...entry, value: { ...entry.value, asked: [['a', 0]] } } as typeof entry;
  const [sweep, ...others] = scheduleAt(SOURCE, listed, NOW).reads.map(({ nextAttemptAt }) => nextAttemptAt);
  expect(others).toEqual([sweep, sweep]);
  expect(scheduleAt(SOURCE, entry, NOW).reads[2]?.nextAttemptAt).toBe(Number.POSITIVE_INFINITY);
});
