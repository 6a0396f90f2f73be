import { describe, expect, it } from 'vitest';
import { silence, wake } from '../../../src/sandbox/machines.ts';
import { addCounting, machineIn, newestOf } from '../../support/model/fleet.ts';
import { boundOf, calledSilent, FleetRun, lastSeenOf, missedBy, type SweepSeen } from '../../support/runs/fleet-run.ts';
import { HOUR, MINUTE } from '../../support/time/timing.ts';

const STALE = 10 * MINUTE;
/** A machine is asked for until its record is older than this, because records come up to 8 min late. */
const LIVE = STALE + 8 * MINUTE;
/** The pages that a sweep reads at most to find late records, if it takes fewer without them. */
const WITH_LATE = 30;
const MACHINE = { machine: 0.05 };
const ARRAY = { array: 0.05 };

describe('fleet: the requests of a sweep', () => {
  it.each([
    { machines: 1, pageSizeOver: 'each', compares: 'seconds', missing: MACHINE },
    { machines: 50, pageSizeOver: 'each', compares: 'seconds', missing: ARRAY },
    { machines: 100, pageSizeOver: 'all', compares: 'milliseconds', missing: MACHINE },
    { machines: 1_000, pageSizeOver: 'each', compares: 'milliseconds', missing: MACHINE },
  ] as const)(
    'stay within the bound for $machines machines, pages over $pageSizeOver, and miss no record',
    async (options) => {
      const { machines, pageSizeOver } = options;
      const run = new FleetRun({ ...options, latencyMs: 100, seed: machines });
      const silent = run.names.filter((_, i) => i % 50 === 7);
      for (const name of silent) silence(machineIn(run.fleet, name), run.now - 5.5 * HOUR);
      const [first] = await run.sweep(1);
      const steady = await run.sweep(machines < 1_000 ? 40 : 6);

      const bound = boundOf(machines - silent.length, pageSizeOver);
      expect(first?.requests.length).toBeLessThanOrEqual(Math.max(bound, WITH_LATE));
      for (const { requests } of steady) expect(requests.length).toBeLessThanOrEqual(bound);
      const named = new Set(steady.flatMap(({ requests }) => requests.flatMap((request) => request.machines ?? [])));
      expect(silent.filter((name) => named.has(name))).toEqual([]);
      const staleMs = Math.max(STALE, 2 * run.program.view('machines').timing.intervalMs + 3 * MINUTE);
      expect(run.sweeps.flatMap((sweep, i) => missedBy(run.fleet, run.sweeps[i - 1], sweep, staleMs))).toEqual([]);
      await run.stop();
    },
  );

  it('stay within the bound while half of a fleet falls silent, and are one when nobody is left', async () => {
    const run = new FleetRun({ machines: 200, missing: MACHINE });
    await run.sweep(2);
    for (const name of run.names.slice(0, 100)) silence(machineIn(run.fleet, name), run.now);
    for (const { requests } of await run.sweep(14)) expect(requests.length).toBeLessThanOrEqual(boundOf(200));
    for (const name of run.names) silence(machineIn(run.fleet, name), run.now);
    await run.advance(LIVE + 2 * MINUTE);
    for (const { requests } of await run.sweep(10)) expect(requests).toHaveLength(1);
    await run.stop();
  });

  it('find pushers of 60 and 62 s, whatever their phase, without asking for them', async () => {
    const run = new FleetRun({ machines: 20, seed: 3 });
    for (let i = 0; i < 20; i += 1) addCounting(run.fleet, `standalone-${i}`, { everyMs: 62_000 });
    await run.sweep(1);
    for (const { start, requests, machines } of await run.sweep(100)) {
      expect(requests.filter((request) => request.machines)).toEqual([]);
      expect(start - Math.min(...[...machines.values()].map(lastSeenOf))).toBeLessThan(65_000);
    }
    await run.stop();
  });
});

describe('fleet: machines that come and go', () => {
  it.each([
    { machines: 9, latencyMs: 50 },
    { machines: 300, latencyMs: 300 },
  ])('of $machines, one that is back is seen at the next sweep, a new one within two', async (options) => {
    const run = new FleetRun(options);
    await run.sweep(2);
    const gone = ['m0', 'm1', 'm2', 'm3', 'm4', 'm5', 'm6', 'm7', 'm8'];
    for (const name of gone) silence(machineIn(run.fleet, name), run.now);
    await run.advance(STALE + 5 * MINUTE);
    const since = run.now;
    gone.forEach((name, i) => {
      wake(machineIn(run.fleet, name), since + 7_000 * i);
      addCounting(run.fleet, `new-${i}`, { from: since + 7_000 * i });
    });
    const sweeps = await run.sweep(5);
    // Those that start when a record of it has come.
    const seeing = (name: string): SweepSeen[] =>
      sweeps.filter(({ start }) => (newestOf(run.fleet, name, 'system', start) ?? 0) >= since);
    gone.forEach((name, i) => {
      expect(lastSeenOf(seeing(name)[0]?.machines.get(name)), name).toBeGreaterThanOrEqual(since);
      expect(seeing(`new-${i}`)[1]?.machines.has(`new-${i}`), `new-${i}`).toBe(true);
    });
    await run.stop();
  });
});

describe('fleet: no machine is called silent that the service has a younger record of', () => {
  it.each([
    { machines: 10, outage: 2 * HOUR, lag: 0 },
    { machines: 300, outage: 2 * HOUR, lag: 0 },
    { machines: 300, outage: 12 * MINUTE, lag: 0 },
    { machines: 10, outage: 2 * HOUR, lag: 480 },
    { machines: 300, outage: 0, lag: 480 },
    { machines: 100, outage: 12 * MINUTE, lag: 240, pageSizeOver: 'all' as const },
    { machines: 3, outage: 5 * HOUR, lag: 480, intervalMs: 2 * HOUR, staleAfterMs: 5 * HOUR },
    { machines: 10, outage: 0, lag: 240, staleAfterMs: 24 * HOUR },
  ])('after $outage ms of outage, of $machines whose records are $lag s late or lost', async (one) => {
    const { machines, outage, lag, pageSizeOver = 'each', intervalMs = MINUTE, staleAfterMs = STALE } = one;
    const lateMs = (): number => lag * 1_000;
    const options = { intervalMs, staleAfterMs };
    const run = new FleetRun({ machines, pageSizeOver, lateMs, options, missing: MACHINE, seed: 7 });
    // With records that are minutes late, only the list of names finds all machines at first.
    await run.sweep(machines / 10 + 2);
    run.program.offline = true;
    await run.advance(outage);
    run.program.offline = false;
    const sweeps = (await run.sweep(intervalMs === MINUTE ? 25 : 10)).filter(({ ok }) => ok);
    expect(sweeps[0]?.machines.size).toBe(machines);
    const silentMs = STALE + (intervalMs > MINUTE ? intervalMs : 0);
    expect(sweeps.flatMap((sweep) => calledSilent(run, sweep, silentMs))).toEqual([]);
    const [first, ...steady] = sweeps.map(({ requests }) => requests.length);
    expect(first).toBeLessThanOrEqual(Math.max(boundOf(machines, pageSizeOver), WITH_LATE));
    expect(Math.max(...steady)).toBeLessThanOrEqual(boundOf(machines, pageSizeOver));
    await run.stop();
  });
});

describe('fleet: late records', () => {
  it.each([
    [15, 9],
    [120, 50],
    [290, 1],
    [290, 50],
  ])('all %i s late: each of %i machines is found by the second sweep, and kept fresh', async (lag, machines) => {
    const run = new FleetRun({ machines, lateMs: () => lag * 1_000, seed: machines + lag });
    await run.sweep(2);
    expect(run.sweeps.at(-1)?.machines.size).toBe(machines);
    for (const { start, machines: held, requests } of await run.sweep(30)) {
      for (const machine of held.values()) expect(start - lastSeenOf(machine)).toBeLessThan(STALE);
      expect(requests.length).toBeLessThanOrEqual(boundOf(machines));
    }
    await run.stop();
  });

  it('a new machine and one that is back, of 50 and 240 s late, are found within the hour', async () => {
    const run = new FleetRun({ machines: 48 });
    addCounting(run.fleet, 'back', { lateMs: 240_000 });
    await run.sweep(3);
    silence(machineIn(run.fleet, 'back'), run.now);
    await run.advance(20 * MINUTE);
    wake(machineIn(run.fleet, 'back'), run.now);
    addCounting(run.fleet, 'new', { lateMs: 240_000, from: run.now });
    await run.advance(HOUR + 8 * MINUTE);
    for (const name of ['back', 'new'])
      expect(run.now - lastSeenOf(run.sweeps.at(-1)?.machines.get(name))).toBeLessThan(STALE);
    await run.stop();
  });
});
