import { LEASE_TIMINGS } from '../../../src/replica/lease.ts';
import { SECOND } from '../../support/timing.ts';
import type { ExporterHost } from '../exporter-host.ts';
import { ownerOf } from '../redis-record.ts';
import type { World } from '../world.ts';
import { kind } from './kind.ts';
import { later } from './later.ts';
import { cutOff, LEASE, refusesOperator } from './redis.ts';
import { secondsOf } from './words.ts';

function leaderOf({ redis, hosts }: World): ExporterHost | undefined {
  const holder = ownerOf(redis?.record.term?.value);
  return hosts.find(({ name, process }) => holder === `${name}-${process?.number}`);
}

/** What happens to the replica that leads, at the worst moment. */
export const LEADER_KINDS = [
  kind<{ answers: number; ms: number }>({
    name: 'leader paused before a request',
    weight: 10,
    draw: (random, { exporter }) =>
      exporter.replicas === 0
        ? undefined
        : {
            answers: random.pick([1, random.between(1, 12)]),
            // Often it comes back when its lease is about to end.
            ms: random.pick([random.scale(9 * SECOND, 40 * SECOND), random.between(7 * SECOND, 11 * SECOND)]),
          },
    apply: ({ answers, ms }, world) => {
      // After an answer it often waits for its turn to send the next request.
      let left = answers;
      const isLast = (): boolean => --left <= 0;
      world.traffic.onceEnded(isLast, ({ host }) => later(world, 1, () => world.host(host).pause(ms, false)));
    },
    tell: ({ answers, ms }) =>
      `after answer ${answers} from now the process that has it is paused for ${secondsOf(ms)}`,
  }),
  kind<{ ms: number }>({
    name: 'leader cut off, and its lease lost',
    weight: 3,
    draw: (random, { exporter }) =>
      exporter.replicas === 0 ? undefined : { ms: random.scale(3 * SECOND, 15 * SECOND) },
    apply: ({ ms }, world) => {
      const { redis } = world;
      const leader = leaderOf(world);
      if (!leader || !redis || refusesOperator(redis)) return;
      cutOff(world, leader, ms);
      redis.execute(['DEL', LEASE]);
    },
    tell: ({ ms }) => `nothing passes between the leader and Redis for ${secondsOf(ms)}, and the lease is deleted`,
  }),
  kind<{ how: 'deleted' | 'expired' }>({
    name: 'lease lost in a write',
    weight: 2,
    draw: (random, { exporter }) =>
      exporter.replicas === 0 ? undefined : { how: random.pick(['deleted', 'expired']) },
    apply: ({ how }, world) => {
      const { redis } = world;
      redis?.watch?.onceWriting(() => {
        if (world.isCalm || refusesOperator(redis)) return;
        world.noteRedisTrouble();
        if (how === 'deleted') redis.execute(['DEL', LEASE]);
        else world.stepRedisClock(LEASE_TIMINGS.ttlMs);
      });
    },
    tell: ({ how }) =>
      how === 'deleted'
        ? 'the lease is deleted right before the next write'
        : 'the clock of Redis is set forward by the length of a lease right before the next write',
  }),
];
