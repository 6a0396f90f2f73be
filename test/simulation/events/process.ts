import { DAY, HOUR, MINUTE, SECOND } from '../../support/timing.ts';
import { CALLS, type Call } from '../exporter-process.ts';
import type { Random } from '../random.ts';
import type { World } from '../world.ts';
import { aWhile, kind, later, span } from './kind.ts';

/** The end or the start of this month, whichever is nearer. */
function nearestTurn(now: number): number {
  const date = new Date(now);
  const [start = 0, end = 0] = [0, 1].map((more) => Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + more));
  return now - start < end - now ? start : end;
}

function downTime(random: Random): number {
  return random.pick([0, SECOND, random.scale(SECOND, 5 * MINUTE), random.scale(MINUTE, 12 * HOUR)]);
}

/** The clock of the process is wrong by so much for a while. */
function setClock(world: World, byMs: number, forMs: number): void {
  world.host.setClock(byMs);
  later(world, forMs, () => world.host.setClock(0));
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
    tell: ({ downMs, calls, call = 'call' }) =>
      `kill -9${calls === undefined ? '' : ` right after ${call} ${calls} from now`}, down for ${span(downMs)}`,
  }),
  kind<{ downMs: number }>({
    name: 'restart',
    weight: 3,
    draw: (random) => ({ downMs: downTime(random) }),
    apply: ({ downMs }, { host }) => host.restart(downMs),
    tell: ({ downMs }) => `SIGTERM, started again ${span(downMs)} later`,
  }),
  kind<{ moreMs: number }>({
    name: 'stopped for long',
    weight: 1,
    draw: (random, { exporter }) =>
      exporter.catchUpHours > 24 ? undefined : { moreMs: random.scale(MINUTE, 2 * HOUR) },
    apply: ({ moreMs }, { host, exporter }) => host.restart(exporter.catchUpHours * HOUR + moreMs),
    tell: ({ moreMs }) => `stopped for ${span(moreMs)} more than catch_up`,
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
    tell: ({ waitSeconds, afterMs, what, ms }) =>
      `the next request is refused for ${waitSeconds} s; ${span(afterMs)} after its answer the process is ${what} for ${span(ms)}`,
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
    tell: ({ times, downMs, isKilled, pauseMs }) =>
      `${times} times, ${span(pauseMs)} apart, the process is ${isKilled ? 'killed' : 'stopped'} for ${span(downMs)} when it has its next answer`,
  }),
  kind<{ ms: number; isSuspended: boolean }>({
    name: 'pause',
    weight: 3,
    draw: (random) => ({
      ms: random.pick([random.scale(SECOND, MINUTE), random.scale(MINUTE, 3 * HOUR)]),
      isSuspended: random.happens(0.3),
    }),
    apply: ({ ms, isSuspended }, { host }) => host.process?.clock.pause(ms, isSuspended),
    tell: ({ ms, isSuspended }) => `the process is ${isSuspended ? 'suspended' : 'paused'} for ${span(ms)}`,
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
    tell: ({ byMs, forMs }) =>
      `the clock is ${span(Math.abs(byMs))} ${byMs < 0 ? 'behind' : 'ahead'} for ${span(forMs)}`,
  }),
  kind<{ byMs: number }>({
    name: 'clock at the turn of the month',
    weight: 1,
    draw: (random) => ({ byMs: random.scale(SECOND, 6 * HOUR) }),
    apply: ({ byMs }, { clock, host }) => {
      const ms = nearestTurn(clock.now()) - clock.now();
      if (Math.abs(ms) <= 2 * DAY) host.setClock(ms + (ms > 0 ? byMs : -byMs));
    },
    tell: ({ byMs }) => `the clock is set ${span(byMs)} beyond the turn of the month, unless that is days away`,
  }),
  kind<{ ms: number; downMs?: number }>({
    name: 'writes fail',
    weight: 8,
    draw: (random) => ({ ms: aWhile(random), ...(random.happens(0.5) ? { downMs: downTime(random) } : {}) }),
    apply: ({ ms, downMs }, world) => {
      const { host } = world;
      host.documents.isFull = true;
      later(world, ms, () => {
        if (downMs !== undefined) host.kill(downMs);
        host.noteWriteTrouble();
        host.documents.isFull = false;
      });
    },
    tell: ({ ms, downMs }) =>
      `every write fails for ${span(ms)}${downMs === undefined ? '' : `, then kill -9, down for ${span(downMs)}`}`,
  }),
  kind<{ most: number; ms: number; downMs?: number }>({
    name: 'slow writes',
    weight: 4,
    draw: (random) => ({
      most: random.scale(100, 20_000),
      ms: aWhile(random),
      ...(random.happens(0.5) ? { downMs: downTime(random) } : {}),
    }),
    apply: ({ most, ms, downMs }, world) => {
      const { host } = world;
      host.documents.writeMs = [most / 20, most];
      later(world, ms, () => {
        if (downMs !== undefined) host.kill(downMs);
        host.noteWriteTrouble();
        host.documents.calm();
      });
    },
    tell: ({ most, ms, downMs }) =>
      `a write takes up to ${span(most)} for ${span(ms)}${downMs === undefined ? '' : `, then kill -9, down for ${span(downMs)}`}`,
  }),
];
