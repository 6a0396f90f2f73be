import { type Sections, startSupervised } from './supervised.ts';
// The first import, because it patches modules that the program uses.

import { afterEach, describe, expect, it } from 'vitest';
import { BudgetClosed } from '../../src/budget/permit.ts';
import type { AccountPlan } from '../../src/sandbox/plan.ts';
import type { Question } from '../../src/sharing/protocol.ts';
import { NotPassedOn, type Shared } from '../../src/sharing/shared.ts';
import { HOUR, MINUTE, NOW, noSignal } from '../support/timing.ts';
import { settled } from '../support/virtual-clock.ts';

type World = Awaited<ReturnType<typeof startSupervised>>;

const worlds: World[] = [];
/** Ends the backfills. */
let stopped = new AbortController();
afterEach(async () => {
  stopped.abort(new Error('the test is over'));
  stopped = new AbortController();
  for (const world of worlds.splice(0)) await world.stop();
});

async function start(plan: AccountPlan, machines = 4, sections: Sections = {}): Promise<World> {
  const world = await startSupervised({ plan, machines, sections });
  worlds.push(world);
  return world;
}

function sharedOf({ supervisor }: World): Shared {
  const { shared } = supervisor.engine();
  if (!shared) throw new Error('nothing is shared');
  return shared;
}

const PAGE: Question = {
  endpoint: 'machine_metrics',
  path: '/api/v2/machine-metrics',
  body: { range: { timestamp: { start: NOW / 1000 - 7_200, end: NOW / 1000 - 3_600 } }, page_size: 10 },
  isAgreed: false,
};

/** Asks page after page, eight at a time, as a backfill does at most. Returns how many were answered. */
function backfill(world: World): () => number {
  const { signal } = stopped;
  let answered = 0;
  const read = async (): Promise<void> => {
    while (!signal.aborted) {
      await sharedOf(world).request(PAGE, signal);
      answered += 1;
    }
  };
  for (let i = 0; i < 8; i += 1) read().catch(() => undefined);
  return () => answered;
}

const SOURCES = ['machines', 'daily_returns', 'slashings', 'sync_committee'];
const attemptsOf = ({ shown }: World): number[] =>
  SOURCES.map((source) => shown().value('beaconchain_source_attempts_total', source));
const machinesEvery = ({ shown }: World): number => shown().value('beaconchain_source_interval_seconds', 'machines');

describe('exporter/shared-access', () => {
  it.each([
    ['four machines', 4, 0.9],
    ['a fleet that takes two thirds of the rate', 300, 0.3],
  ])('%s: polled as often as without a backfill, which gets the rest of the rate', async (_, machines, share) => {
    const alone = await start('hobbyist', machines);
    await alone.clock.advance(8.5 * MINUTE);
    const beside = await start('hobbyist', machines);
    await beside.clock.advance(3 * MINUTE);
    const answered = backfill(beside);
    await beside.clock.advance(5.5 * MINUTE);
    expect(attemptsOf(beside)).toEqual(attemptsOf(alone));
    expect(machinesEvery(beside)).toBe(60);
    expect(beside.shown().reasons()).toEqual([]);
    expect(answered()).toBeGreaterThan(5 * 60 * 0.9 * share);
    // The metrics tell the requests of the backfill as well.
    const requests = beside.shown().value('beaconchain_api_requests_total');
    expect(Math.abs(requests - beside.service.requests.length)).toBeLessThanOrEqual(2);
  });

  it('beside a fleet that takes the whole rate a backfill gets a request a minute', async () => {
    const world = await start('hobbyist', 600);
    await world.clock.advance(3 * MINUTE);
    const answered = backfill(world);
    await world.clock.advance(5 * MINUTE);
    expect(answered()).toBeGreaterThanOrEqual(4);
    expect(answered()).toBeLessThanOrEqual(6);
    expect(world.shown().reasons()).toEqual([]);
  });

  it('a backfill gets what the polls do not need of the month, and more only if that was agreed', async () => {
    const world = await start({ perSecond: 10, perMonth: 2_000 }, 4, { slashings: { enabled: false } });
    await world.clock.advance(10 * MINUTE);
    // Of 1,800 requests twelve hours of polls take six in five minutes: the silent machine is asked for by name.
    const left = sharedOf(world).limits().machine_metrics.left.month ?? 0;
    expect(left).toBeGreaterThan(880);
    expect(left).toBeLessThan(930);
    const answered = backfill(world);
    await world.clock.advance(3 * MINUTE);
    expect(Math.abs(answered() - left)).toBeLessThanOrEqual(10);
    const renewal = Date.UTC(2026, 9, 1);
    await expect(sharedOf(world).request(PAGE, noSignal())).rejects.toEqual(new BudgetClosed(renewal));

    const { account } = world.service.sandbox;
    const before = account.inMonth;
    await world.clock.advance(20 * MINUTE);
    expect(machinesEvery(world)).toBe(60);
    const perHour = 3 * (account.inMonth - before);
    expect(1_800 - account.inMonth).toBeGreaterThan((perHour * (renewal - world.clock.now())) / HOUR);
    expect(world.shown().value('beaconchain_source_failures_total')).toBe(0);
    expect(world.shown().reasons()).toEqual([]);

    await settled(world.clock, sharedOf(world).request({ ...PAGE, isAgreed: true }, noSignal()));
  });

  it('nothing is left beside polls that the quota stretches', async () => {
    const world = await start('free_trial');
    await world.clock.advance(MINUTE);
    expect(sharedOf(world).limits().daily_returns).toMatchObject({ left: { month: 0 }, isKnown: true });
    await expect(sharedOf(world).request(PAGE, noSignal())).rejects.toThrow(BudgetClosed);
  });

  it.each([
    { path: '/api/v2/validators' },
    { path: '/api/v2/machine-metrics?key=1' },
    { endpoint: 'daily_returns' },
    { endpoint: 'sync_committee' },
  ] as const)('does not pass on %o', async (change) => {
    const world = await start('scale');
    const before = world.service.requests.length;
    const asked = sharedOf(world).request({ ...PAGE, ...change }, noSignal());
    await expect(asked).rejects.toThrow(NotPassedOn);
    expect(world.service.requests.length).toBe(before);
  });

  it('a request whose backfill has gone leaves the queue', async () => {
    const world = await start('hobbyist');
    await world.clock.advance(MINUTE);
    const answered = backfill(world);
    await world.clock.advance(10_000);
    const before = answered();
    stopped.abort(new Error('enough'));
    await world.clock.advance(0);
    const { length } = world.service.requests;
    await world.clock.advance(10_000);
    expect(answered()).toBe(before);
    expect(world.service.requests.slice(length).filter(({ body }) => body === JSON.stringify(PAGE.body))).toEqual([]);
  });

  it('a reload with another key ends the requests in progress, and later ones use it', async () => {
    const world = await start('hobbyist');
    await world.clock.advance(MINUTE);
    const pending = Array.from({ length: 8 }, () => sharedOf(world).request(PAGE, noSignal()));
    const ended = Promise.allSettled(pending);
    world.configure({}, 'another-key');
    await world.reload();
    const outcomes = await settled(world.clock, ended);
    expect(outcomes.filter(({ status }) => status === 'rejected').length).toBeGreaterThanOrEqual(7);
    const { length } = world.service.requests;
    await settled(
      world.clock,
      sharedOf(world)
        .request(PAGE, noSignal())
        .catch(() => undefined),
    );
    const keys = world.service.requests.slice(length).map(({ headers }) => headers.authorization ?? headers['apikey']);
    expect(keys.length).toBeGreaterThan(0);
    for (const key of keys) expect(key).toContain('another-key');
  });

  it('a reload with the same key leaves the requests in progress alone', async () => {
    const world = await start('hobbyist');
    await world.clock.advance(MINUTE);
    const ask = () => Promise.allSettled([1, 2, 3].map(() => sharedOf(world).request(PAGE, noSignal())));
    const pending = ask();
    world.configure({ machines: { interval: '2m' } });
    await world.reload();
    expect((await settled(world.clock, pending)).map(({ status }) => status)).toEqual(Array(3).fill('fulfilled'));
    const later = ask();
    world.configure({ machines: { interval: '3m' } });
    await world.reload();
    world.configure({}, 'another-key');
    await world.reload();
    expect((await settled(world.clock, later)).map(({ status }) => status)).toContain('rejected');
  });
});
