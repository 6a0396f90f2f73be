import { MINUTE, SECOND } from '../../support/timing.ts';
import type { ExporterHost } from '../exporter-host.ts';
import { REDIS_PREFIX } from '../exporter-setting.ts';
import type { Random } from '../random.ts';
import type { SimulatedRedis } from '../redis.ts';
import type { Setting } from '../story.ts';
import type { World } from '../world.ts';
import { kind } from './kind.ts';
import { anyHost } from './process.ts';
import { secondsOf } from './words.ts';

export const LEASE = `${REDIS_PREFIX}:lease`;

function spell(random: Random): number {
  return random.pick([
    random.scale(100, 8 * SECOND),
    random.scale(8 * SECOND, 30 * SECOND),
    random.scale(SECOND, 3 * MINUTE),
  ]);
}

/** One of the hosts, or all of them. */
function someHosts(random: Random, setting: Setting): string {
  return random.happens(0.2) ? '*' : anyHost(random, setting);
}

function hostsOf(world: World, host: string) {
  return world.hosts.filter(({ name }) => host === '*' || name === host);
}

/** A fault on the way between one host and Redis, which ends by itself. */
function during(world: World, one: ExporterHost, ms: number, begin: () => void, end: () => void): void {
  begin();
  one.noteRedisTrouble();
  world.clock.after(ms, () => {
    one.noteRedisTrouble();
    end();
  });
}

/** Nothing passes between a host and Redis for a while. */
export function cutOff(world: World, one: ExporterHost, ms: number): void {
  const { redisNetwork } = one;
  during(
    world,
    one,
    ms,
    () => redisNetwork.cut(),
    () => redisNetwork.heal(),
  );
}

/** Whether a command that an operator gives by hand would fail. */
export function refusesOperator({ isDown, isReadOnly, isFull }: SimulatedRedis): boolean {
  return isDown || isReadOnly || isFull;
}

const said = (host: string): string => (host === '*' ? 'every replica' : host);

const MEDDLING: Readonly<Record<string, readonly (readonly string[])[]>> = {
  'made permanent': [['PERSIST', LEASE]],
  deleted: [['DEL', LEASE]],
  overwritten: [['SET', LEASE, 'garbage']],
  emptied: [['SET', LEASE, '']],
  'given to a replica that is no more': [['SET', LEASE, '17 gone']],
  'overwritten with a day to live': [['SET', LEASE, 'garbage', 'PX', '86400000']],
  'replaced by a hash': [
    ['DEL', LEASE],
    ['HSET', LEASE, 'gar', 'bage'],
  ],
};
const MEDDLINGS = Object.keys(MEDDLING);

/** What happens to the Redis that replicas share, and to the ways to it. */
export const REDIS_KINDS = [
  kind<{ ms: number; keeps: 'all' | 'nothing' }>({
    name: 'redis down',
    weight: 4,
    draw: (random, { exporter }) =>
      exporter.replicas === 0 ? undefined : { ms: spell(random), keeps: random.pick(['all', 'all', 'nothing']) },
    apply: ({ ms, keeps }, world) => {
      const { redis, clock } = world;
      if (!redis || redis.isDown) return;
      redis.stop();
      clock.after(ms, () => {
        world.noteRedisTrouble();
        if (redis.isDown) redis.start({ keeps });
      });
    },
    tell: ({ ms, keeps }) => `Redis is down for ${secondsOf(ms)}, and comes back with ${keeps} of its data`,
    simpler: ({ ms, keeps }) => (keeps === 'all' ? [] : [{ ms, keeps: 'all' }]),
  }),
  kind<{ lagMs: number }>({
    name: 'redis failover',
    weight: 4,
    draw: (random, { exporter }) =>
      exporter.replicas === 0
        ? undefined
        : { lagMs: random.pick([0, random.scale(10, 2_000), random.scale(SECOND, 2 * MINUTE)]) },
    apply: ({ lagMs }, world) => {
      world.redis?.copy();
      world.clock.after(lagMs, () => {
        if (world.isCalm) return;
        world.noteRedisTrouble();
        world.redis?.failover();
      });
    },
    tell: ({ lagMs }) =>
      `${secondsOf(lagMs)} later a standby of Redis takes over that has nothing of what is written from now on`,
    simpler: ({ lagMs }) => (lagMs > 0 ? [{ lagMs: 0 }] : []),
  }),
  kind<object>({
    name: 'redis failover in a write',
    weight: 1,
    draw: (_, { exporter }) => (exporter.replicas === 0 ? undefined : {}),
    apply: (_, world) => {
      const { redis } = world;
      redis?.copy();
      redis?.watch?.onceWritten(() => {
        if (world.isCalm) return;
        world.noteRedisTrouble();
        redis.failover();
      });
    },
    tell: () => 'before the answer to the next write, a standby of Redis takes over that does not have it',
  }),
  kind<{ how: 'read-only' | 'full'; ms: number }>({
    name: 'redis refuses',
    weight: 2,
    draw: (random, { exporter }) =>
      exporter.replicas === 0 ? undefined : { how: random.pick(['read-only', 'full']), ms: spell(random) },
    apply: ({ how, ms }, world) => {
      const { redis, clock } = world;
      if (!redis) return;
      const set = (is: boolean): void => {
        world.noteRedisTrouble();
        if (how === 'full') redis.isFull = is;
        else redis.isReadOnly = is;
      };
      set(true);
      clock.after(ms, () => set(false));
    },
    tell: ({ how, ms }) => `Redis is ${how} for ${secondsOf(ms)}`,
  }),
  kind<{ ms: number }>({
    name: 'redis clock',
    weight: 2,
    draw: (random, { exporter }) =>
      exporter.replicas === 0
        ? undefined
        : { ms: random.pick([random.between(-20_000, 20_000), random.between(-3_600_000, 3_600_000)]) },
    apply: ({ ms }, world) => {
      world.noteRedisTrouble();
      world.stepRedisClock(ms);
    },
    tell: ({ ms }) => `the clock of Redis is set ${secondsOf(Math.abs(ms))} ${ms < 0 ? 'back' : 'forward'}`,
  }),
  kind<{ how: string }>({
    name: 'lease meddled with',
    weight: 2,
    draw: (random, { exporter }) =>
      exporter.replicas === 0 ? undefined : { how: MEDDLINGS[random.between(0, MEDDLINGS.length - 1)] ?? '' },
    apply: ({ how }, world) => {
      world.noteRedisTrouble();
      const { redis } = world;
      if (!redis || refusesOperator(redis)) return;
      for (const command of MEDDLING[how] ?? []) redis.execute(command);
    },
    tell: ({ how }) => `the lease in Redis is ${how} by hand`,
  }),
  kind<{ host: string; ms: number }>({
    name: 'redis unreachable',
    weight: 9,
    draw: (random, setting) =>
      setting.exporter.replicas === 0 ? undefined : { host: someHosts(random, setting), ms: spell(random) },
    apply: ({ host, ms }, world) => {
      for (const one of hostsOf(world, host)) cutOff(world, one, ms);
    },
    tell: ({ host, ms }) => `nothing passes between ${said(host)} and Redis for ${secondsOf(ms)}`,
  }),
  kind<{ host: string; losing: number; delaying: number; resetting: number; ms: number }>({
    name: 'redis network',
    weight: 4,
    draw: (random, setting) => {
      if (setting.exporter.replicas === 0) return undefined;
      const share = (): number => (random.happens(0.5) ? 0 : random.scale(1, 300) / 1_000);
      const shares = { losing: share(), delaying: share(), resetting: share() };
      return { host: someHosts(random, setting), ...shares, ms: spell(random) };
    },
    apply: ({ host, losing, delaying, resetting, ms }, world) => {
      for (const one of hostsOf(world, host)) {
        during(
          world,
          one,
          ms,
          () => Object.assign(one.redisNetwork, { losing, delaying, resetting }),
          () => Object.assign(one.redisNetwork, { losing: 0, delaying: 0, resetting: 0 }),
        );
      }
    },
    tell: ({ host, losing, delaying, resetting, ms }) =>
      `between ${said(host)} and Redis ${losing * 100} % are lost, ${delaying * 100} % delayed, ${resetting * 100} % reset, for ${secondsOf(ms)}`,
  }),
  kind<{ host: string }>({
    name: 'redis reset',
    weight: 2,
    draw: (random, setting) => (setting.exporter.replicas === 0 ? undefined : { host: someHosts(random, setting) }),
    apply: ({ host }, world) => {
      for (const one of hostsOf(world, host)) {
        one.noteRedisTrouble();
        one.redisNetwork.reset();
      }
    },
    tell: ({ host }) => `every connection between ${said(host)} and Redis is reset`,
  }),
];
