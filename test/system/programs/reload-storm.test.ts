import { performance } from 'node:perf_hooks';
import { describe, expect, it } from 'vitest';
import { scrape } from '../../support/ask.ts';
import { seriesValue, steppedBack } from '../../support/exposition-text.ts';
import { type Running, waitFor } from '../../support/program.ts';
import { startReloading } from '../../support/reloading.ts';

const KEY = 'the-key';
const ATTEMPTS = 'beaconchain_source_attempts_total';

type Reloading = Awaited<ReturnType<typeof startReloading>>;

/** Asks for a reload every so often while `work` goes on. */
async function storm(
  { reload, program, configure }: Reloading,
  { everyMs, how = 'POST', configurations = [] }: { everyMs: number; how?: string; configurations?: string[] },
  work: () => Promise<unknown>,
): Promise<void> {
  const answers: Promise<{ status: number }>[] = [];
  let asked = 0;
  const timer = setInterval(() => {
    const next = configurations[asked % configurations.length];
    asked += 1;
    if (next !== undefined) configure(next);
    if (how === 'SIGHUP') program.child.kill('SIGHUP');
    else answers.push(reload());
  }, everyMs);
  try {
    await work();
  } finally {
    clearInterval(timer);
  }
  expect(asked).toBeGreaterThan(1);
  for (const { status } of await Promise.all(answers)) expect(status).toBe(200);
}

/** Waits until a source was polled so often with success; no counter steps back meanwhile. */
async function polled({ port }: Reloading, source: string, times: number): Promise<void> {
  let before = await scrape(port);
  const lost: string[] = [];
  await waitFor(async () => {
    const text = await scrape(port);
    lost.push(...steppedBack(before, text));
    before = text;
    expect(seriesValue(text, ATTEMPTS, { source })).toBeGreaterThanOrEqual(times);
    expect(seriesValue(text, 'beaconchain_source_up', { source })).toBe(1);
  }, 30_000);
  expect(lost).toEqual([]);
}

async function expectOrderlyStop(program: Running): Promise<void> {
  const before = performance.now();
  expect(await program.stop()).toEqual({ code: 0, signal: null });
  expect(performance.now() - before).toBeLessThan(5_000);
}

const FAST = { perSecond: 10 };

describe.concurrent('system/programs/reload-storm', () => {
  it.each([
    [500, 'POST'],
    [900, 'POST'],
    [900, 'SIGHUP'],
  ])('every source is polled on although a reload without a change comes every %i ms by %s', async (everyMs, how) => {
    const more = 'machines: {interval: 2s}\nslashings: {interval: 2s}\n';
    const world = await startReloading({ key: KEY, more, service: { plan: FAST } });
    await storm(world, { everyMs, how }, async () => {
      await polled(world, 'machines', 3);
      await polled(world, 'slashings', 3);
    });
    await expectOrderlyStop(world.program);
  });

  it.each([
    ['which changes nothing', []],
    [
      'which changes something each time',
      ['', '{interval: 2s}', '{interval: 2s, max: 5000}'].map((machines) =>
        machines === '' ? 'slashings: {catch_up: 5d}\nbudget: {utilization: 0.8}\n' : `machines: ${machines}\n`,
      ),
    ],
  ])('sweeps that take longer than that end under a reload every 300 ms, %s', async (_, configurations) => {
    const more = 'machines: {interval: 2s}\n';
    const world = await startReloading({ key: KEY, more, service: { plan: FAST, machines: 120 } });
    await storm(world, { everyMs: 300, configurations }, async () => {
      await polled(world, 'machines', 3);
      expect(await world.value('beaconchain_machines', { chain: 'mainnet' })).toBeGreaterThan(110);
    });
  });

  it('300 reloads that come together are few, and a stop does not wait for 300 more', async () => {
    const world = await startReloading({ key: KEY });
    await world.isUp('machines');
    const answers = await Promise.all(Array.from({ length: 300 }, () => world.reload()));
    for (const answer of answers) expect(answer).toEqual({ status: 200, text: 'reloaded\n' });
    // Not all of them have connected when the first is done.
    expect(world.program.lines('configuration reloaded').length).toBeLessThan(100);
    const cut = Array.from({ length: 300 }, () => world.reload().catch(() => undefined));
    await expectOrderlyStop(world.program);
    await Promise.all(cut);
  });

  it('a reload holds what was written before it was asked for, also in the middle of a storm', async () => {
    const world = await startReloading({ key: KEY });
    const crowd = Array.from({ length: 50 }, () => world.reload());
    for (const minutes of [2, 3, 4, 5]) {
      world.configure(`machines: {interval: ${minutes}m}\n`);
      crowd.push(...Array.from({ length: 20 }, () => world.reload()));
      await world.reload();
      expect(await world.value('beaconchain_source_interval_seconds', { source: 'machines' })).toBe(minutes * 60);
    }
    for (const { status } of await Promise.all(crowd)) expect(status).toBe(200);
  });

  it('a mistake is told to all who asked together, and once in the log', async () => {
    const world = await startReloading({ key: KEY });
    await world.isUp('machines');
    world.configure('machines: {interval: soon}\n');
    const answers = await Promise.all(Array.from({ length: 100 }, () => world.reload()));
    for (const { status, text } of answers) expect([status, text]).toEqual([500, expect.stringContaining('interval')]);
    expect(world.program.lines('configuration not reloaded').length).toBeLessThan(40);
  });
});
