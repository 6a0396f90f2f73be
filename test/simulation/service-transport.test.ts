import { buffer } from 'node:stream/consumers';
import { describe, expect, test } from 'vitest';
import { RequestFailed } from '../../src/api/errors.ts';
import { NOW } from '../support/timing.ts';
import { settled, VirtualClock } from '../support/virtual-clock.ts';
import { Random } from './random.ts';
import { Network, type NetworkFaults, NO_FAULTS } from './service/network.ts';
import { FINALIZED } from './service/requests.ts';
import { Service } from './service/service.ts';
import { calmSetting } from './service/setting.ts';
import { transportOf } from './service/transport.ts';

function worldOf(faults: Partial<NetworkFaults> = {}, latency = 100) {
  const clock = new VirtualClock(NOW);
  const random = new Random(1, 'transport');
  const service = new Service(calmSetting(), random, NOW);
  const network = new Network({ latency: { low: latency, high: latency }, faults: { ...NO_FAULTS, ...faults } });
  const dying = { isAlive: true };
  const wire = { process: 'a', timeoutMs: 30_000, time: clock, random, isAlive: () => dying.isAlive };
  return { clock, service, network, send: transportOf(service, network, wire), dying };
}

/** How the exchange ends, after how many ms, and what the service knows of it. */
async function outcomeOf({ clock, service, send }: ReturnType<typeof worldOf>, signal = new AbortController().signal) {
  const exchange = async (): Promise<string> => {
    try {
      const answer = await send(FINALIZED, signal);
      return (await buffer(answer.body())).length > 0 ? 'read' : 'empty';
    } catch (error) {
      return error instanceof RequestFailed ? error.reason : String(error);
    }
  };
  const end = await settled(clock, exchange());
  const after = clock.now() - NOW;
  await clock.advance(60_000);
  const [request] = service.records.requests;
  const since = (at: number | undefined): number | undefined => (at === undefined ? undefined : at - NOW);
  return { end, after, counted: since(request?.countedAt), delivered: since(request?.deliveredAt) };
}

describe('a request on its way', () => {
  test.each([
    ['nothing', {}, { end: 'read', after: 100, counted: 50, delivered: 100 }],
    ['a lost request', { lostBefore: 1 }, { end: 'timeout', after: 30_000 }],
    ['a lost answer', { lostAfter: 1 }, { end: 'timeout', after: 30_000, counted: 50 }],
    ['a body that breaks off', { brokenBody: 1 }, { end: 'network', after: 100, counted: 50 }],
    ['a body that stalls', { stalledBody: 1 }, { end: 'timeout', after: 30_000, counted: 50 }],
  ] as const)('%s', async (_, faults, expected) => {
    expect(await outcomeOf(worldOf(faults))).toEqual({ counted: undefined, delivered: undefined, ...expected });
  });

  test('a reset connection fails at once', async () => {
    expect(await outcomeOf(worldOf({ reset: 1 }))).toMatchObject({ end: 'network', after: 100, delivered: undefined });
  });

  test('a request that takes longer than the timeout is counted all the same', async () => {
    const outcome = await outcomeOf(worldOf({}, 50_000));
    expect(outcome).toEqual({ end: 'timeout', after: 30_000, counted: 25_000, delivered: undefined });
  });

  test.each([
    ['refused', { end: 'network', after: 10 }],
    ['silent', { end: 'timeout', after: 30_000 }],
  ] as const)('a network that is cut, %s', async (how, expected) => {
    const world = worldOf();
    world.network.cut(NOW + 1_000, how);
    expect(await outcomeOf(world)).toMatchObject({ ...expected, counted: undefined });
  });

  test('a process that stops does not wait, and the request is counted', async () => {
    const world = worldOf();
    const stop = new AbortController();
    world.clock.sleep(20).then(() => stop.abort('stopping'));
    expect(await outcomeOf(world, stop.signal)).toEqual({
      end: 'stopping',
      after: 20,
      counted: 50,
      delivered: undefined,
    });
  });

  test('a dead process hears nothing, and the request is counted', async () => {
    const { clock, service, send, dying } = worldOf();
    const heard: unknown[] = [];
    const note = (what: unknown): void => void heard.push(what);
    send(FINALIZED, new AbortController().signal).then(note, note);
    await clock.advance(20);
    dying.isAlive = false;
    await clock.advance(60_000);
    expect(heard).toEqual([]);
    expect(service.records.requests).toMatchObject([{ countedAt: NOW + 50, deliveredAt: undefined }]);
  });
});
