import { expect, it } from 'vitest';
import type { Settings } from '../../src/exporter/settings.ts';
import { publicKeyOf } from '../../src/sandbox/validator.ts';
import { ConfigFile } from '../../src/sources/registry.ts';
import { steppedBack } from '../support/exposition/exposition-text.ts';
import { Metrics, SOURCES } from '../support/exposition/scraped-metrics.ts';
import { FaultServer } from '../support/faults/fault-server.ts';
import { logLines } from '../support/log/log-lines.ts';
import { startInProcess } from '../support/programs/served-exporter.ts';
import { MINUTE, NOW } from '../support/time/timing.ts';
import { TRACKED, workDone } from '../support/time/under-way.ts';
import { settled, VirtualClock } from '../support/time/virtual-clock.ts';
import { atTheEnd } from '../support/vitest/cleanup.ts';

const KEY = 'the-key';

/** The sections of a configuration file that do not name the service. */
type Sections = Readonly<Record<string, Record<string, unknown>>>;

/** Two configurations that differ in every section that takes no restart. */
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

/** Starts the exporter on virtual time, with a fault server as its service, on the plan hobbyist. */
async function start(world: { machines?: number } = {}) {
  const clock = new VirtualClock(NOW, workDone);
  const service = new FaultServer({ now: () => clock.now(), key: KEY, plan: 'hobbyist', ...world });
  await service.listen();
  const { log, lines } = logLines();
  const settingsOf = ({ api = {}, ...rest }: Sections, key = KEY): Settings => {
    const { url } = service;
    const chains = { mainnet: { v1_base_url: url } };
    return { config: ConfigFile.parse({ api: { base_url: url, ...api }, chains, ...rest }), key };
  };
  const settings = settingsOf({});
  let readings = 0;
  let read: Settings | Promise<never> = settings;
  const exporter = await startInProcess({
    settings,
    clock,
    log,
    outside: TRACKED,
    readAgain: async () => {
      readings += 1;
      return read;
    },
  });
  const reload = () => settled(clock, exporter.reload());
  atTheEnd(async () => {
    await settled(clock, exporter.stop());
    await service.close();
  });
  const shown = (): Metrics => new Metrics(Buffer.concat([...exporter.metrics('text', false)]).toString());
  let before = shown().text;
  return {
    clock,
    service,
    lines,
    exporter,
    shown,
    polls: (source: string): number => shown().value('beaconchain_source_attempts_total', source),
    readings: () => readings,
    /** Sets what the next reload reads. */
    configure: (next: Sections, key?: string): void => {
      read = settingsOf(next, key);
    },
    /** From now on reading the configuration hangs. */
    hang: (): void => {
      read = new Promise(() => undefined);
    },
    reload,
    /** Reloads every `everyMs` for `forMs`. @throws if a reload fails or a counter steps back */
    async storm(everyMs: number, forMs: number, prepare: (i: number) => void = () => undefined): Promise<void> {
      const end = clock.monotonic() + forMs;
      for (let i = 0; clock.monotonic() < end; i += 1) {
        const begun = clock.monotonic();
        prepare(i);
        const refusal = await reload();
        const after = shown().text;
        const lost = steppedBack(before, after);
        if (refusal !== undefined || lost.length > 0) throw new Error([refusal, ...lost].join('\n'));
        before = after;
        await clock.advance(Math.max(0, begun + everyMs - clock.monotonic()));
      }
    },
  };
}

it.each([false, true])(
  'a reload every 900 ms delays no poll, also if each one changes the configuration: %s',
  async (changes) => {
    const world = await start();
    await world.storm(900, 2.5 * MINUTE, (i) => {
      if (changes) world.configure(ALTERNATING[i % 2] ?? {});
    });
    expect(world.shown().value('beaconchain_source_failures_total')).toBe(0);
    for (const source of SOURCES) expect(world.shown().value('beaconchain_source_up', source), source).toBe(1);
    expect(world.polls('machines')).toBeGreaterThanOrEqual(2);
    expect(world.polls('slashings')).toBeGreaterThanOrEqual(2);
    expect(world.polls('daily_returns')).toBe(1);
  },
);

it('shows the external URL of the configuration, or none', async () => {
  const { configure, reload, shown } = await start();
  for (const external_url of ['https://a.example/b', 'http://c.example', null]) {
    configure({ web: { external_url } });
    await reload();
    const urls = shown().of('beaconchain_exporter_external_url_info');
    expect(urls.map(({ labels }) => labels['url'])).toEqual(external_url === null ? [] : [external_url]);
  }
});

it('counts a public key and its index as one validator as soon as the index is known', async () => {
  const world = await start();
  const key = publicKeyOf(world.service.sandbox.chains.mainnet, 100);
  const slashings = { interval: '12h' };
  world.configure({ slashings });
  await world.reload();
  await world.clock.advance(5 * MINUTE);
  world.configure({ slashings, validators: { watch: [100, key] } });
  await world.reload();
  const watched = () => world.shown().value('beaconchain_watched_validators');
  expect(watched()).toBe(2);
  await world.clock.advance(MINUTE);
  expect(watched()).toBe(1);
});

it('a stop waits only for the reload that has begun', async () => {
  const world = await start();
  const first = world.exporter.reload();
  await world.clock.advance(0);
  const second = world.exporter.reload();
  await settled(world.clock, world.exporter.stop());
  expect(await first).toBeUndefined();
  expect(await second).toBe('stopping');
  expect(world.readings()).toBe(1);
});

it('uses another key from the next request on, and lets requests in flight end', async () => {
  const world = await start({ machines: 100 });
  await world.clock.advance(5_000);
  const asked = world.service.requests.length;
  world.configure({}, 'another-key');
  expect(await world.reload()).toBeUndefined();
  await world.clock.advance(5_000);
  const keys = world.service.requests.slice(asked).map(({ headers }) => headers['authorization'] ?? headers['apikey']);
  expect(keys.length).toBeGreaterThan(0);
  for (const key of keys) expect(key).toContain('another-key');
  expect(world.shown().of('beaconchain_api_key_valid')).toMatchObject([{ value: 0 }]);
  world.configure({});
  await world.reload();
  await world.clock.advance(2 * MINUTE);
  for (const source of SOURCES) expect(world.shown().value('beaconchain_source_up', source), source).toBe(1);
});

it('reloads never exceed the limit of a second', async () => {
  const world = await start({ machines: 100 });
  await world.storm(300, MINUTE, (i) => world.configure({ ...ALTERNATING[i % 2] }, i % 5 === 4 ? 'another-key' : KEY));
  expect(world.shown().reasons()).not.toContain('rate_limited');
  expect(world.service.requests.length).toBeGreaterThan(15);
});

it('after access was revoked, only the first reload ten minutes later sends a request', async () => {
  const world = await start();
  await world.clock.advance(MINUTE);
  world.service.sandbox.account.isRevoked = true;
  const before = world.service.requests.length;
  while (world.service.requests.length === before) await world.clock.advance(1_000);
  const asked = before + 1;
  await world.storm(10_000, 9 * MINUTE);
  expect(world.service.requests.length).toBe(asked);
  await world.storm(10_000, 2 * MINUTE);
  expect(world.service.requests.length).toBe(asked + 1);
  await world.storm(10_000, 7 * MINUTE);
  expect(world.service.requests.length).toBe(asked + 1);
});

it('a reload gives up files that cannot be read within ten seconds', async () => {
  const world = await start();
  world.hang();
  const before = world.clock.monotonic();
  expect(await world.reload()).toBe('the files could not be read within 10 s');
  expect(world.clock.monotonic() - before).toBeLessThan(11_000);
  expect(world.shown().value('beaconchain_exporter_config_last_reload_successful')).toBe(0);
});
