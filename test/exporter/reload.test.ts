// The first import, because it patches modules that the program uses.

import { afterEach, describe, expect, it } from 'vitest';
import { MINUTE } from '../support/timing.ts';
import { settled } from '../support/virtual-clock.ts';
import { KEY, type Sections, startSupervised } from './supervised.ts';

type World = Awaited<ReturnType<typeof startSupervised>>;

const worlds: World[] = [];
afterEach(async () => {
  for (const world of worlds.splice(0)) await world.stop();
});

async function start(options: Parameters<typeof startSupervised>[0]): Promise<World> {
  const world = await startSupervised(options);
  worlds.push(world);
  return world;
}

const SOURCES = ['machines', 'daily_returns', 'slashings', 'sync_committee'];
const polls = ({ shown }: World, source: string): number => shown().value('beaconchain_source_attempts_total', source);
const failures = ({ shown }: World): number => shown().value('beaconchain_source_failures_total');

/** Differ in every section that may be changed without a restart. */
const ALTERNATING: readonly Sections[] = [
  {},
  {
    budget: { utilization: 0.8 },
    machines: { interval: '90s', expected: ['node-a'] },
    slashings: { interval: '90s', catch_up: '1d' },
    sync_committee: { interval: '2h' },
    api: { timeout: '9s' },
    log: { level: 'debug' },
  },
];

describe('exporter/reload', () => {
  it.each([
    [500, 'that changes nothing', false],
    [900, 'that changes nothing', false],
    [500, 'that changes everything that can be', true],
    [900, 'that changes everything that can be', true],
  ])('every source is polled as without it under a reload each %i ms %s', async (everyMs, _, changes) => {
    const world = await start({ plan: 'hobbyist' });
    await world.storm(everyMs, 4 * MINUTE, (i) => {
      if (changes) world.configure(ALTERNATING[i % 2] ?? {});
    });
    expect(failures(world)).toBe(0);
    for (const source of SOURCES) expect(world.shown().value('beaconchain_source_up', source), source).toBe(1);
    expect(polls(world, 'machines')).toBeGreaterThanOrEqual(changes ? 2 : 4);
    expect(polls(world, 'slashings')).toBeGreaterThanOrEqual(changes ? 2 : 3);
    expect(polls(world, 'daily_returns')).toBe(1);
  });

  it.each([false, true])(
    'sweeps of 1,000 machines end under a reload every 12 s, changed each time: %s',
    async (changes) => {
      const sections = { slashings: { enabled: false } };
      const world = await start({ plan: 'hobbyist', machines: 1_000, sections });
      const begun = world.clock.monotonic();
      await world.storm(12_000, 5 * MINUTE, (i) => {
        if (changes) world.configure({ ...ALTERNATING[i % 2], ...sections });
      });
      const seconds = (world.clock.monotonic() - begun) / 1000;
      // As without a reload: it takes three minutes and a half.
      expect(polls(world, 'machines')).toBeGreaterThanOrEqual(1);
      expect(failures(world)).toBe(0);
      expect(world.shown().value('beaconchain_machines')).toBeGreaterThan(990);
      expect(world.service.requests.length / seconds).toBeGreaterThan(0.65);
    },
  );

  it('reloads that come together are one, and one more for those that come meanwhile', async () => {
    const world = await start({ plan: 'hobbyist' });
    const outcomes = Array.from({ length: 300 }, () => world.exporter.reload());
    // The first has begun, and reads what was there when it did.
    await Promise.resolve();
    world.configure({ machines: { interval: '2m' } });
    outcomes.push(...Array.from({ length: 300 }, () => world.exporter.reload()));
    await settled(world.clock, Promise.all(outcomes));
    expect(new Set(await Promise.all(outcomes))).toEqual(new Set([undefined]));
    expect(world.readings()).toBeLessThanOrEqual(2);
    expect(world.shown().value('beaconchain_source_interval_seconds', 'machines')).toBe(120);
  });

  it('a stop waits for the reload that has begun, and for no other', async () => {
    const world = await start({ plan: 'hobbyist' });
    const first = world.exporter.reload();
    await world.clock.advance(0);
    const second = world.exporter.reload();
    await settled(world.clock, world.exporter.stop());
    expect(await first).toBeUndefined();
    expect(await second).toBe('stopping');
    expect(world.readings()).toBe(1);
  });

  it('polls of a source that is switched off end at once, and those of the others go on', async () => {
    const world = await start({ plan: 'hobbyist', machines: 200 });
    await world.clock.advance(5_000);
    const asked = world.service.requests.length;
    world.configure({ machines: { enabled: false } });
    expect(await world.reload()).toBeUndefined();
    await world.clock.advance(MINUTE);
    const paths = world.service.requests.slice(asked).map(({ path }) => path);
    expect(paths.filter((path) => path.includes('machine'))).toEqual([]);
    expect(polls(world, 'slashings')).toBeGreaterThanOrEqual(1);
    expect(failures(world)).toBe(0);
    expect(world.shown().of('beaconchain_machines')).toEqual([]);
  });

  it('another key is used from the next request on, and what was under way with the one before is no failure', async () => {
    const world = await start({ plan: 'hobbyist', machines: 200 });
    await world.clock.advance(5_000);
    const asked = world.service.requests.length;
    world.configure({}, 'another-key');
    expect(await world.reload()).toBeUndefined();
    await world.clock.advance(5_000);
    const keys = world.service.requests
      .slice(asked)
      .map(({ headers }) => headers['authorization'] ?? headers['apikey']);
    expect(keys.length).toBeGreaterThan(0);
    for (const key of keys) expect(key).toContain('another-key');
    expect(world.shown().of('beaconchain_api_key_valid')).toMatchObject([{ value: 0 }]);
    world.configure({});
    await world.reload();
    await world.clock.advance(3 * MINUTE);
    expect(world.service.requests.at(-1)?.headers['authorization'] ?? KEY).toContain(KEY);
    for (const source of SOURCES) expect(world.shown().value('beaconchain_source_up', source), source).toBe(1);
  });

  it('no second is exceeded, whatever is changed how often', async () => {
    const world = await start({ plan: 'hobbyist', machines: 100 });
    await world.storm(300, 2 * MINUTE, (i) =>
      world.configure({ ...ALTERNATING[i % 2] }, i % 5 === 4 ? 'another-key' : KEY),
    );
    const refused = world
      .shown()
      .of('beaconchain_api_request_failures_total')
      .filter(({ labels, value }) => labels['reason'] === 'rate_limited' && value > 0);
    expect(refused).toEqual([]);
    expect(world.service.requests.length).toBeGreaterThan(30);
  });

  it('revoked access is asked about once, by the first reload ten minutes later, also without a change', async () => {
    const world = await start({ plan: 'hobbyist' });
    await world.clock.advance(MINUTE);
    world.service.sandbox.revoked = true;
    const before = world.service.requests.length;
    while (world.service.requests.length === before) await world.clock.advance(1_000);
    const asked = before + 1;
    await world.storm(900, 9 * MINUTE);
    expect(world.service.requests.length).toBe(asked);
    await world.storm(900, 2 * MINUTE);
    expect(world.service.requests.length).toBe(asked + 1);
    await world.storm(900, 7 * MINUTE);
    expect(world.service.requests.length).toBe(asked + 1);
  });

  it('files that cannot be read are given up after ten seconds, and read by one reload at a time', async () => {
    const world = await start({ plan: 'hobbyist' });
    world.hang();
    const before = world.clock.monotonic();
    expect(await world.reload()).toBe('the files could not be read within 10 s');
    expect(world.clock.monotonic() - before).toBeLessThan(11_000);
    expect(await world.reload()).toBe('an earlier reload is still reading the files');
    expect(world.readings()).toBe(1);
    expect(world.shown().value('beaconchain_exporter_config_last_reload_successful')).toBe(0);
  });

  it('a stop does not wait for files that cannot be read', async () => {
    const world = await start({ plan: 'hobbyist' });
    world.hang();
    const reload = world.exporter.reload();
    const before = world.clock.monotonic();
    await settled(world.clock, world.exporter.stop());
    expect(world.clock.monotonic() - before).toBeLessThan(5_000);
    expect(await reload).toBe('stopping');
    expect(world.lines.map(({ msg }) => msg)).not.toContain('configuration not reloaded');
  });
});
