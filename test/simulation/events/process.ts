import { HOUR, MINUTE, SECOND } from '../../support/time/timing.ts';
import { CALLS, type Call } from '../exporter-process.ts';
import type { Random } from '../random.ts';
import type { World } from '../world.ts';
import { aWhile, kind, later } from './kind.ts';

function downTime(random: Random): number {
  return random.pick([0, SECOND, random.scale(SECOND, 5 * MINUTE), random.scale(MINUTE, 12 * HOUR)]);
}

/** The clock of the process is wrong by so much for a while. */
function setClock(world: World, byMs: number, forMs: number): void {
  world.host.setClock(byMs);
  later(world, forMs, () => world.host.setClock(0));
}

/** The trouble with writes ends, as it may with a process that is killed. */
function endOfTrouble(world: World, { ms, downMs }: { ms: number; downMs?: number }, end: () => void): void {
  later(world, ms, () => {
    if (downMs !== undefined) world.host.kill(downMs);
    world.host.noteWriteTrouble();
    end();
  });
}

/** What happens to the process, to its machine and to the writes of its documents. */
export const PROCESS_KINDS = [
  kind<{ downMs: number; calls?: number; call?: Call }>({
    name: 'kill',
    weight: 10,
    draw: (random) => ({
      downMs: downTime(random),
      ...random.pick<{ calls?: number; call?: Call }>([
        {},
        { calls: random.between(1, 60) },
        { calls: random.pick([1, random.between(1, 10)]), call: random.pick(CALLS) },
      ]),
    }),
    apply: ({ downMs, calls, ...which }, { host }) =>
      host.kill(downMs, calls === undefined ? undefined : { calls, ...which }),
  }),
  kind<{ downMs: number }>({
    name: 'restart',
    weight: 3,
    draw: (random) => ({ downMs: downTime(random) }),
    apply: ({ downMs }, { host }) => host.restart(downMs),
  }),
  kind<{ moreMs: number }>({
    name: 'stopped for long',
    weight: 1,
    draw: (random, { exporter }) =>
      exporter.catchUpHours > 24 ? undefined : { moreMs: random.scale(MINUTE, 2 * HOUR) },
    apply: ({ moreMs }, { host, exporter }) => host.restart(exporter.catchUpHours * HOUR + moreMs),
  }),
  kind<{ waitSeconds: number; afterMs: number; what: 'killed' | 'stopped' | 'an hour ahead'; ms: number }>({
    name: 'in a wait',
    weight: 5,
    draw: (random) => {
      const waitSeconds = random.between(120, 1_800);
      const ms = random.scale(SECOND, (waitSeconds * SECOND) / 3);
      // Mostly so late that the wait must have been written.
      const afterMs = random.pick([random.scale(SECOND, 10 * SECOND), random.between(6, 40) * SECOND]);
      return { waitSeconds, afterMs, what: random.pick(['killed', 'stopped', 'an hour ahead']), ms };
    },
    apply: ({ waitSeconds, afterMs, what, ms }, world) => {
      const wait = String(waitSeconds);
      world.service.disturbances.refuse({ times: 1, headers: { 'retry-after': wait } });
      const act = (): void => {
        if (what === 'killed') world.host.kill(ms);
        else if (what === 'stopped') world.host.restart(ms);
        else setClock(world, HOUR, ms);
      };
      const isRefused = (headers: object | undefined): boolean => Object.values(headers ?? {}).includes(wait);
      world.traffic.onceEnded(
        ({ head }) => isRefused(head?.headers),
        () => later(world, afterMs, act),
      );
    },
  }),
  kind<{ times: number; downMs: number; isKilled: boolean; pauseMs: number }>({
    name: 'restart after a request',
    weight: 4,
    draw: (random) => ({
      times: random.between(1, 10),
      downMs: random.scale(1, SECOND),
      isKilled: random.happens(0.7),
      pauseMs: random.pick([1, random.between(15, 60) * SECOND]),
    }),
    apply: ({ times, downMs, isKilled, pauseMs }, world) => {
      const { host } = world;
      const next = (left: number): void => {
        if (left === 0) return;
        const act = (): void => {
          if (isKilled) host.kill(downMs);
          else host.restart(downMs);
          later(world, pauseMs, () => next(left - 1));
        };
        world.traffic.onceEnded(() => !world.isCalm, act);
      };
      next(times);
    },
  }),
  kind<{ ms: number; isSuspended: boolean }>({
    name: 'pause',
    weight: 3,
    draw: (random) => ({
      ms: random.pick([random.scale(SECOND, MINUTE), random.scale(MINUTE, 3 * HOUR)]),
      isSuspended: random.happens(0.3),
    }),
    apply: ({ ms, isSuspended }, { host }) => host.process?.clock.pause(ms, isSuspended),
  }),
  kind<{ byMs: number; forMs: number }>({
    name: 'clock',
    weight: 6,
    draw: (random) => ({
      byMs: random.pick([
        random.between(-5_000, 5_000),
        random.between(-HOUR, HOUR),
        random.between(-48, 48) * HOUR,
        random.scale(10 * MINUTE, 48 * HOUR),
      ]),
      forMs: random.scale(MINUTE, 6 * HOUR),
    }),
    apply: ({ byMs, forMs }, world) => setClock(world, byMs, forMs),
  }),
  kind<{ ms: number; downMs?: number }>({
    name: 'writes fail',
    weight: 8,
    draw: (random) => ({ ms: aWhile(random), ...(random.happens(0.5) ? { downMs: downTime(random) } : {}) }),
    apply: (what, world) => {
      const { documents } = world.host;
      documents.isFull = true;
      endOfTrouble(world, what, () => {
        documents.isFull = false;
      });
    },
  }),
  kind<{ most: number; ms: number; downMs?: number }>({
    name: 'slow writes',
    weight: 4,
    draw: (random) => ({
      most: random.scale(100, 20_000),
      ms: aWhile(random),
      ...(random.happens(0.5) ? { downMs: downTime(random) } : {}),
    }),
    apply: ({ most, ...what }, world) => {
      const { documents } = world.host;
      documents.writeMs = [most / 20, most];
      endOfTrouble(world, what, () => documents.calm());
    },
  }),
];
