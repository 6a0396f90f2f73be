import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { openSharedState } from '../../src/exporter/state.ts';
import { LOST_WRITES } from '../../src/replica/decide.ts';
import { LEASE_TIMINGS, LeaseLost } from '../../src/replica/lease.ts';
import { RedisState } from '../../src/replica/redis.ts';
import { RedisLink } from '../../src/replica/redis-link.ts';
import { Replica } from '../../src/replica/replica.ts';
import { logLines } from '../support/log-lines.ts';
import { settled, VirtualClock } from '../support/virtual-clock.ts';
import type { Gate } from './gate.ts';
import { Random } from './random.ts';
import { SimulatedRedis } from './redis.ts';
import { connectTo } from './redis-connection.ts';
import { RedisNetwork } from './redis-network.ts';

const START = Date.UTC(2026, 0, 5);
const Doc = z.object({ count: z.number() });

/** A gate without latency. */
class Door implements Gate {
  isOpen = true;

  call<T>(_: string, effect: () => T): Promise<T> {
    return new Promise((resolve, reject) => {
      if (!this.isOpen) return;
      try {
        const result = effect();
        queueMicrotask(() => this.isOpen && resolve(result));
      } catch (error) {
        reject(error);
      }
    });
  }
}

class World {
  readonly clock = new VirtualClock(START);
  readonly redis = new SimulatedRedis(this.clock, 'p');
  readonly #random: Random;

  constructor(seed = 1) {
    this.#random = new Random(seed, 'replicas');
  }

  /** A replica that wants one document, and everything it was told. */
  replica(id: string) {
    const { clock, redis } = this;
    const network = new RedisNetwork(clock, this.#random.fork(id));
    const door = new Door();
    const { log, lines } = logLines();
    const link = new RedisLink({ url: 'redis://r', prefix: 'p' }, clock, connectTo(redis, network, clock, door));
    const replica = new Replica(new RedisState(link, 'p'), clock, log, { id });
    const seen: unknown[] = [];
    const told = { rewrites: 0, lapses: 0 };
    const subscriber = {
      wanted: ['doc'],
      apply: (values: ReadonlyMap<string, unknown>) => void seen.push(values.get('doc')),
      rewrite: () => {
        told.rewrites += 1;
      },
      onLapse: () => {
        told.lapses += 1;
      },
    };
    replica.subscribe(subscriber, []);
    replica.start(() => undefined);
    const save = (count: number) => replica.save('doc', { count });
    return { id, network, door, lines, replica, seen, told, save, leads: () => replica.leads() };
  }

  /** Lets time pass in small steps, and looks at each of them. Returns how long it took until `until` held. */
  async until(until: () => boolean, look: () => void = () => undefined, limitMs = 60_000): Promise<number> {
    const began = this.clock.monotonic();
    while (!until()) {
      if (this.clock.monotonic() - began > limitMs) throw new Error('did not happen');
      await this.clock.advance(10);
      look();
    }
    return this.clock.monotonic() - began;
  }

  save(one: { save(count: number): Promise<void> }, count: number): Promise<void> {
    return settled(this.clock, one.save(count));
  }
}

describe('replicas on the simulated Redis', () => {
  it('one of three leads, and the others read what it writes', async () => {
    const world = new World();
    const all = ['a', 'b', 'c'].map((id) => world.replica(id));
    await world.until(() => all.some((one) => one.leads()));
    const leaders = all.filter((one) => one.leads());
    expect(leaders).toHaveLength(1);
    const [leader] = leaders;
    const others = all.filter((one) => one !== leader);
    if (leader) await world.save(leader, 1);
    await world.clock.advance(1_000);
    expect(others.map(({ seen }) => seen)).toEqual([[{ count: 1 }], [{ count: 1 }]]);
    for (const { replica } of others) {
      await expect(settled(world.clock, replica.save('doc', { count: 9 }))).rejects.toThrow(LeaseLost);
      expect(await settled(world.clock, replica.load('doc', Doc))).toEqual({ count: 1 });
    }
    expect(world.redis.record.terms).toHaveLength(1);
    expect(world.redis.record.writes).toMatchObject([{ name: 'doc', lease: world.redis.record.term?.value }]);
  });

  it('after the death of the leader another leads within 15 s, and a write that was under way is executed', async () => {
    const world = new World();
    const [a, b] = [world.replica('a'), world.replica('b')];
    await world.until(() => a.leads() || b.leads());
    const [leader, other] = a.leads() ? [a, b] : [b, a];
    await world.save(leader, 4);
    leader.network.latencyMs = [100, 100];
    void leader.save(5).catch(() => undefined);
    await world.clock.advance(20);
    expect(world.redis.record.writes).toHaveLength(1);
    leader.door.isOpen = false;
    const took = await world.until(() => other.leads());
    expect(took).toBeGreaterThan(LEASE_TIMINGS.ttlMs - LEASE_TIMINGS.heartbeatMs);
    expect(took).toBeLessThan(15_000);
    expect(world.redis.document('doc')).toBe('{"version":2,"value":{"count":5}}');
    expect(other.seen.at(-1)).toEqual({ count: 5 });
    expect(world.redis.record.terms.map(({ end }) => end)).toEqual(['expired', undefined]);
  });

  it('a lease that is given back is taken at the next heartbeat', async () => {
    const world = new World();
    const a = world.replica('a');
    await world.until(() => a.leads());
    const b = world.replica('b');
    await world.save(a, 7);
    await settled(world.clock, a.replica.close());
    expect(await world.until(() => b.leads())).toBeLessThan(1_000);
    expect(b.seen).toEqual([{ count: 7 }]);
    expect(world.redis.record.terms.map(({ end }) => end)).toEqual(['released', undefined]);
  });

  it('who is cut off stops before another begins, and what it sent late changes nothing', async () => {
    for (let seed = 0; seed < 20; seed += 1) {
      const world = new World(seed);
      const a = world.replica('a');
      await world.until(() => a.leads());
      const b = world.replica('b');
      await world.clock.advance(seed * 40);
      a.network.cut();
      const late = a.save(666).catch((error: unknown) => error);
      await world.until(
        () => b.leads(),
        () => expect(a.leads() && b.leads()).toBe(false),
      );
      expect(a.told.lapses).toBe(1);
      await world.save(b, 1);
      a.network.heal();
      await world.clock.advance(5_000);
      expect(a.seen).toEqual([{ count: 1 }]);
      expect(await late).toBeInstanceOf(Error);
      expect(world.redis.record.writes.map(({ held }) => held)).toEqual([world.redis.record.term?.value]);
    }
  });

  it('a request that is held up is executed after the writer has given it up', async () => {
    const world = new World();
    const a = world.replica('a');
    await world.until(() => a.leads());
    await world.save(a, 2);
    a.network.delaying = 1;
    a.network.delayMs = [2_000, 2_001];
    const late = a.save(3).catch((error: unknown) => String(error));
    await world.clock.advance(1_900);
    expect(await late).toBe('RedisAway: no answer in time');
    expect(world.redis.record.writes).toHaveLength(1);
    await world.clock.advance(1_000);
    expect(world.redis.record.writes).toHaveLength(2);
    expect(world.redis.record.late).toBeGreaterThan(0);
    a.network.delaying = 0;
    await world.until(() => a.told.rewrites > 0);
    expect(a.leads()).toBe(true);
  });

  it('a write whose answer is lost is executed, and is written again later', async () => {
    const world = new World();
    const a = world.replica('a');
    await world.until(() => a.leads());
    a.network.latencyMs = [100, 100];
    const late = a.save(3).catch((error: unknown) => String(error));
    await world.until(() => world.redis.record.writes.length > 0);
    a.network.reset();
    expect(await settled(world.clock, late)).toBe('RedisAway: ECONNRESET');
    await world.clock.advance(100);
    expect(world.redis.record.unanswered).toBe(1);
    await world.until(() => a.told.rewrites > 0);
    expect(a.leads()).toBe(true);
  });

  it('after a failover to an older copy the leader writes again, and a follower does not go back', async () => {
    const world = new World();
    const a = world.replica('a');
    await world.until(() => a.leads());
    const b = world.replica('b');
    await world.save(a, 1);
    await world.clock.advance(1_000);
    world.redis.copy();
    await world.clock.advance(2_000);
    await world.save(a, 2);
    await world.clock.advance(1_000);
    world.redis.failover();
    await world.until(() => a.told.rewrites > 0);
    expect(a.leads()).toBe(true);
    expect(a.lines.map(({ msg }) => msg)).toContain(LOST_WRITES);
    await world.save(a, 3);
    await world.clock.advance(1_000);
    expect(b.seen).toEqual([{ count: 1 }, { count: 2 }, { count: 3 }]);
    const revisions = world.redis.record.writes.map(({ revision }) => Number(revision));
    expect(revisions).toEqual(revisions.toSorted((one, two) => one - two));
    expect(world.redis.record.losses).toBe(1);
  });

  it('a leader finds lost writes out by itself, at its next heartbeat or at its next write', async () => {
    const world = new World();
    const a = world.replica('a');
    await world.until(() => a.leads());
    const forget = (): unknown => world.redis.execute(['DEL', 'p:meta', 'p:documents', 'p:revisions']);
    await world.save(a, 1);
    // The next heartbeat takes note of the revision.
    await world.clock.advance(1_000);
    forget();
    await world.until(() => a.told.rewrites === 1, undefined, 1_000);
    // The first write after the loss finds it out once more.
    await world.save(a, 2);
    expect(a.told.rewrites).toBe(2);
    forget();
    await world.save(a, 3);
    expect(a.told.rewrites).toBe(3);
    expect(a.lines.filter(({ msg }) => msg === LOST_WRITES)).toHaveLength(3);
  });

  it.each(['all', 'nothing'] as const)('after a restart that keeps %s the same replica leads on', async (keeps) => {
    for (let seed = 0; seed < 10; seed += 1) {
      const world = new World(seed);
      const a = world.replica('a');
      await world.until(() => a.leads());
      // The heartbeats of the two lie otherwise each time.
      await world.clock.advance(seed * 50);
      const b = world.replica('b');
      await world.save(a, 1);
      await world.clock.advance(1_000);
      world.redis.stop();
      await world.clock.advance(3_000);
      expect(a.lines.map(({ msg }) => msg)).toContain('redis is unreachable');
      world.redis.start({ keeps });
      await world.until(() => a.told.rewrites > 0);
      await world.clock.advance(10_000);
      expect([a.leads(), b.leads(), b.seen]).toEqual([true, false, [{ count: 1 }]]);
      const holders = world.redis.record.terms.map(({ value }) => value.split(' ')[1]);
      expect(holders).toEqual(keeps === 'all' ? ['a'] : ['a', 'a']);
    }
  });

  it('a server that is full refuses writes and renews the lease; a standby does neither', async () => {
    const world = new World();
    const a = world.replica('a');
    await world.until(() => a.leads());
    world.redis.isFull = true;
    await expect(world.save(a, 1)).rejects.toThrow('OOM, the server is out of memory');
    await world.clock.advance(20_000);
    expect(a.leads()).toBe(true);
    world.redis.isFull = false;
    world.redis.isReadOnly = true;
    await expect(world.save(a, 1)).rejects.toThrow('READONLY, the server is a standby');
    await world.clock.advance(10_000);
    expect(a.leads()).toBe(false);
  });

  it('is opened as the program opens it, unless the server takes no writes', async () => {
    const { clock, redis } = new World();
    const network = new RedisNetwork(clock, new Random(1, 'opened'));
    const connect = connectTo(redis, network, clock, new Door());
    const { log } = logLines();
    const open = () =>
      settled(clock, openSharedState({ url: 'redis://r', prefix: 'p' }, clock, log, { connect, id: 'a' }));
    expect((await open()).id).toBe('a');
    redis.isReadOnly = true;
    await expect(open()).rejects.toThrow('the state in Redis cannot be used: READONLY');
    redis.isReadOnly = false;
    redis.stop();
    await expect(open()).rejects.toThrow('the state in Redis cannot be used: ECONNREFUSED');
    redis.start({ keeps: 'all' });
    network.cut();
    await expect(open()).rejects.toThrow(/the state in Redis cannot be used: (no answer in time|ETIMEDOUT)/);
  });

  it('a lease without an end, which nobody holds, is taken over', async () => {
    const world = new World();
    for (const command of [
      ['SET', 'p:lease', 'garbage'],
      ['HSET', 'p:lease', 'gar', 'bage'],
    ]) {
      world.redis.execute(['DEL', 'p:lease']);
      world.redis.execute(command);
      const a = world.replica('a');
      expect(await world.until(() => a.leads())).toBeGreaterThan(LEASE_TIMINGS.ttlMs);
      await settled(world.clock, a.replica.close());
    }
  });

  it('a step of the clock of the server ends the lease, and its holder takes it again first', async () => {
    const world = new World();
    const a = world.replica('a');
    await world.until(() => a.leads());
    const b = world.replica('b');
    await world.clock.advance(1_000);
    world.redis.stepClock(3_600_000);
    await world.clock.advance(10_000);
    expect([a.leads(), b.leads()]).toEqual([true, false]);
    expect(a.replica.clock.now() - world.clock.now()).toBeGreaterThan(3_599_000);
    expect(world.redis.record.terms.map(({ end }) => end)).toEqual(['expired', undefined]);
  });

  it('a lease that is lost while its holder is cut off is left to it for as long as it may believe in it', async () => {
    for (const lose of [
      ({ redis }: World) => redis.stepClock(60_000),
      ({ redis }: World) => redis.restart({ keeps: 'nothing' }),
      ({ redis }: World) => redis.execute(['DEL', 'p:lease']),
    ]) {
      const world = new World();
      const a = world.replica('a');
      await world.until(() => a.leads());
      const b = world.replica('b');
      await world.clock.advance(1_000);
      a.network.cut();
      lose(world);
      const took = await world.until(
        () => b.leads(),
        () => expect([a.leads(), b.leads()]).not.toEqual([true, true]),
      );
      expect(took).toBeLessThan(LEASE_TIMINGS.ttlMs + 1_000);
    }
  });

  it('whatever the networks do, no two lead at once, and a seed gives the same run', async () => {
    const runs: string[] = [];
    for (const seed of [1, 2, 3, 4, 5, 1]) {
      const world = new World(seed);
      const all = ['a', 'b', 'c'].map((id) => world.replica(id));
      const random = new Random(seed, 'faults');
      for (let minute = 0; minute < 10; minute += 1) {
        for (const { network } of all) {
          [network.losing, network.delaying, network.resetting] = [random, random, random].map((one) =>
            one.happens(0.5) ? one.unit() / 5 : 0,
          ) as [number, number, number];
          if (random.happens(0.3)) network.cut();
          else network.heal();
        }
        if (random.happens(0.3)) world.redis.copy();
        if (random.happens(0.3)) world.redis.restart({ keeps: 'all' });
        for (let passed = 0; passed < 60_000; passed += 50) {
          await world.clock.advance(50);
          const leaders = all.filter((one) => one.leads());
          expect(leaders.length).toBeLessThanOrEqual(1);
          if (passed % 5_000 === 0) for (const one of leaders) void one.save(passed).catch(() => undefined);
        }
      }
      for (const { lease, held } of world.redis.record.writes) expect(lease).toBe(held);
      expect(world.redis.record.writes.length).toBeGreaterThan(10);
      runs.push(JSON.stringify(world.redis.record));
    }
    expect(runs[5]).toBe(runs[0]);
    expect(new Set(runs).size).toBe(5);
  }, 30_000);
});
