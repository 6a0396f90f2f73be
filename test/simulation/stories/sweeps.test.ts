import { describe, expect, it } from 'vitest';
import { silence, wake } from '../../../src/sandbox/machines.ts';
import { HOUR, MINUTE } from '../../support/time/timing.ts';
import { addCounting, machineIn, newestOf } from '../service/fleet.ts';
import { boundOf, calledSilent, lastSeenOf, missedBy, PlayedFleet, type Sweep, staleMsOf } from './sweeps.ts';

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
      const story = new PlayedFleet({ ...options, latencyMs: 100, seed: machines });
      const silent = story.names.filter((_, i) => i % 50 === 7);
      for (const name of silent) silence(machineIn(story.fleet, name), story.now - 5.5 * HOUR);
      const [first] = await story.sweep(1);
      const steady = await story.sweep(machines < 1_000 ? 40 : 6);

      const bound = boundOf(machines - silent.length, pageSizeOver);
      expect(first?.requests.length).toBeLessThanOrEqual(Math.max(bound, WITH_LATE));
      for (const { requests } of steady) expect(requests.length).toBeLessThanOrEqual(bound);
      const named = new Set(steady.flatMap(({ requests }) => requests.flatMap((request) => request.machines ?? [])));
      expect(silent.filter((name) => named.has(name))).toEqual([]);
      const staleMs = staleMsOf(story);
      expect(story.sweeps.flatMap((sweep, i) => missedBy(story.fleet, story.sweeps[i - 1], sweep, staleMs))).toEqual(
        [],
      );
      expect(story.complaints).toEqual([]);
    },
  );

  it('stay within the bound while half of a fleet falls silent, and are one when the last machine is silent', async () => {
    const story = new PlayedFleet({ machines: 100, missing: MACHINE });
    await story.sweep(2);
    for (const name of story.names.slice(0, 50)) silence(machineIn(story.fleet, name), story.now);
    for (const { requests } of await story.sweep(14)) expect(requests.length).toBeLessThanOrEqual(boundOf(100));
    for (const name of story.names) silence(machineIn(story.fleet, name), story.now);
    await story.advance(LIVE + 2 * MINUTE);
    for (const { requests } of await story.sweep(10)) expect(requests).toHaveLength(1);
    expect(story.complaints).toEqual([]);
  });

  it('find pushers of 60 and 62 s, whatever their phase, without asking for them', async () => {
    const story = new PlayedFleet({ machines: 20, seed: 3 });
    for (let i = 0; i < 20; i += 1) addCounting(story.fleet, `standalone-${i}`, { everyMs: 62_000 });
    await story.sweep(1);
    for (const { start, requests, machines } of await story.sweep(100)) {
      expect(requests.filter((request) => request.machines)).toEqual([]);
      expect(start - Math.min(...[...machines.values()].map(lastSeenOf))).toBeLessThan(65_000);
    }
    expect(story.complaints).toEqual([]);
  });
});

describe('fleet: machines that come and go', () => {
  it.each([
    { machines: 9, latencyMs: 50 },
    { machines: 300, latencyMs: 300 },
  ])('of $machines, one that is back is seen at the next sweep, a new one within two', async (options) => {
    const story = new PlayedFleet(options);
    await story.sweep(2);
    const gone = ['m0', 'm1', 'm2', 'm3', 'm4', 'm5', 'm6', 'm7', 'm8'];
    for (const name of gone) silence(machineIn(story.fleet, name), story.now);
    await story.advance(STALE + 5 * MINUTE);
    const since = story.now;
    gone.forEach((name, i) => {
      wake(machineIn(story.fleet, name), since + 7_000 * i);
      addCounting(story.fleet, `new-${i}`, { from: since + 7_000 * i });
    });
    const sweeps = await story.sweep(5);
    // Those that start when a record of it has come.
    const seeing = (name: string): Sweep[] =>
      sweeps.filter(({ start }) => (newestOf(story.fleet, name, 'system', start) ?? 0) >= since);
    gone.forEach((name, i) => {
      expect(lastSeenOf(seeing(name)[0]?.machines.get(name)), name).toBeGreaterThanOrEqual(since);
      expect(seeing(`new-${i}`)[1]?.machines.has(`new-${i}`), `new-${i}`).toBe(true);
    });
    expect(story.complaints).toEqual([]);
  });
});

describe('fleet: no machine is called silent that the service has a younger record of', () => {
  it.each([
    { machines: 10, outage: 2 * HOUR, lag: 0 },
    { machines: 120, outage: 2 * HOUR, lag: 0 },
    { machines: 300, outage: 12 * MINUTE, lag: 0 },
    { machines: 10, outage: 2 * HOUR, lag: 480 },
    { machines: 60, outage: 0, lag: 480 },
    { machines: 100, outage: 12 * MINUTE, lag: 240, pageSizeOver: 'all' as const },
    { machines: 3, outage: 5 * HOUR, lag: 480, intervalMs: 2 * HOUR, staleAfterMs: 5 * HOUR },
    { machines: 10, outage: 0, lag: 240, staleAfterMs: 24 * HOUR },
  ])('after $outage ms of outage, of $machines whose records are $lag s late or lost', async (one) => {
    const { machines, outage, lag, pageSizeOver = 'each', intervalMs = MINUTE, staleAfterMs = STALE } = one;
    const lateMs = (): number => lag * 1_000;
    const config = { interval: `${intervalMs / 1_000}s`, stale_after: `${staleAfterMs / 1_000}s` };
    const story = new PlayedFleet({ machines, pageSizeOver, lateMs, config, missing: MACHINE, seed: 7 });
    // With records that are minutes late, only the list of names finds all machines at first.
    await story.sweep(lag === 0 ? 3 : machines / 10 + 2);
    story.cutFor(outage);
    await story.advance(outage);
    const sweeps = (await story.sweep(intervalMs === MINUTE ? 20 : 8)).filter(({ ok }) => ok);
    expect(sweeps[0]?.machines.size).toBe(machines);
    const silentMs = STALE + (intervalMs > MINUTE ? intervalMs : 0);
    expect(sweeps.flatMap((sweep) => calledSilent(story.fleet, sweep, silentMs))).toEqual([]);
    const [first, ...steady] = sweeps.map(({ requests }) => requests.length);
    expect(first).toBeLessThanOrEqual(Math.max(boundOf(machines, pageSizeOver), WITH_LATE));
    expect(Math.max(...steady)).toBeLessThanOrEqual(boundOf(machines, pageSizeOver));
    expect(story.complaints).toEqual([]);
  });
});

describe('fleet: late records', () => {
  it.each([
    [15, 9],
    [120, 50],
    [290, 1],
    [290, 50],
  ])('all %i s late: each of %i machines is found by the second sweep, and kept fresh', async (lag, machines) => {
    const story = new PlayedFleet({ machines, lateMs: () => lag * 1_000, seed: machines + lag });
    await story.sweep(2);
    expect(story.sweeps.at(-1)?.machines.size).toBe(machines);
    for (const { start, machines: held, requests } of await story.sweep(30)) {
      for (const machine of held.values()) expect(start - lastSeenOf(machine)).toBeLessThan(STALE);
      expect(requests.length).toBeLessThanOrEqual(boundOf(machines));
    }
    expect(story.complaints).toEqual([]);
  });

  it('a new machine and one that is back, of 50 and 240 s late, are found within the hour', async () => {
    const story = new PlayedFleet({ machines: 48 });
    addCounting(story.fleet, 'back', { lateMs: 240_000 });
    await story.sweep(3);
    silence(machineIn(story.fleet, 'back'), story.now);
    await story.advance(20 * MINUTE);
    wake(machineIn(story.fleet, 'back'), story.now);
    addCounting(story.fleet, 'new', { lateMs: 240_000, from: story.now });
    await story.advance(HOUR + 8 * MINUTE);
    for (const name of ['back', 'new'])
      expect(story.now - lastSeenOf(story.sweeps.at(-1)?.machines.get(name))).toBeLessThan(STALE);
    expect(story.complaints).toEqual([]);
  });
});
