import { DAY, HOUR, MINUTE, SECOND } from '../../support/timing.ts';
import type { ExporterHost } from '../exporter-host.ts';
import type { Random } from '../random.ts';
import type { Setting } from '../story.ts';
import type { World } from '../world.ts';
import { type Kind, kind } from './kind.ts';
import { later } from './later.ts';
import { secondsOf } from './words.ts';

/** The name of one of the hosts. */
export function anyHost(random: Random, { exporter }: Setting): string {
  return ['a', 'b', 'c'][random.between(0, Math.max(1, exporter.replicas) - 1)] ?? 'a';
}

/** Draws an event that is about files: it makes no sense where the state is in Redis. */
export function onFiles<W extends object>(draw: (random: Random, setting: Setting) => W): Kind<W>['draw'] {
  return (random, setting) => (setting.exporter.replicas > 0 ? undefined : draw(random, setting));
}

/** The end or the start of this month, whichever is nearer. */
function nearestTurn(now: number): number {
  const date = new Date(now);
  const [start, end] = [0, 1].map((more) => Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + more));
  return now - (start ?? 0) < (end ?? 0) - now ? (start ?? 0) : (end ?? 0);
}

function downTime(random: Random): number {
  return random.pick([0, SECOND, random.scale(SECOND, 5 * MINUTE), random.scale(MINUTE, 12 * HOUR)]);
}

interface KillWhat {
  readonly host: string;
  readonly downMs: number;
  /** After so many calls, of any kind or of one. */
  readonly calls?: number;
  readonly call?: string | undefined;
  /** And then so many of any kind. */
  readonly more?: number | undefined;
}

/** What happens to the process that has just been told to wait. */
interface InWait {
  readonly waitSeconds: number;
  readonly afterMs: number;
  readonly what: 'killed' | 'stopped' | 'set ahead';
  readonly ms: number;
}

/** The clock of a host is ahead for a while. */
function setAhead(world: World, host: ExporterHost, byMs: number, forMs: number): void {
  host.setClock(byMs);
  later(world, forMs, () => host.setClock(0));
}

/** Calls after which a death is likely to leave something half done. */
const DISK_CALLS = [
  'disk create',
  'disk write',
  'disk sync',
  'disk close',
  'disk rename',
  'disk sync directory',
  'disk rm',
  'request',
  'answer',
] as const;
/** Calls after which something is not yet synced. */
const UNSYNCED = ['disk create', 'disk write', 'disk write', 'disk rename', 'disk rm'] as const;
const REDIS_CALLS = ['redis: send', 'redis: answer', 'redis: connected', 'request', 'answer'] as const;

/** What happens to the processes and their machines. */
export const PROCESS_KINDS = [
  kind<KillWhat>({
    name: 'kill',
    weight: 8,
    draw: (random, setting) => {
      const calls = setting.exporter.replicas > 0 ? REDIS_CALLS : DISK_CALLS;
      const what = { host: anyHost(random, setting), downMs: downTime(random) };
      return random.pick<KillWhat>([
        what,
        { ...what, calls: random.between(1, 60) },
        { ...what, calls: 1, call: random.pick(calls) },
        { ...what, calls: 1, call: calls[0], more: random.between(1, 9) },
        { ...what, calls: random.between(1, 4), call: calls[0], more: random.between(1, 9) },
        { ...what, calls: random.between(1, 10), call: random.pick(calls) },
      ]);
    },
    apply: ({ host, downMs, calls, call, more }, world) =>
      world.host(host).kill(downMs, calls === undefined ? undefined : { calls, call, more }),
    tell: ({ host, downMs, calls, call, more }) => {
      const which = calls === undefined ? '' : ` after ${call ?? 'any'} call ${calls} from now`;
      return `kill -9 on ${host}${which}${more ? ` and ${more} more calls` : ''}, down for ${secondsOf(downMs)}`;
    },
    simpler: ({ host, downMs, calls = 0, call, more }) => [
      { host, downMs },
      ...(calls > 1 ? [{ host, downMs, calls: 1, call, more }] : []),
    ],
  }),
  kind<{ host: string; downMs: number }>({
    name: 'restart',
    weight: 3,
    draw: (random, setting) => ({ host: anyHost(random, setting), downMs: downTime(random) }),
    apply: ({ host, downMs }, world) => world.host(host).restart(downMs),
    tell: ({ host, downMs }) => `SIGTERM to ${host}, started again ${secondsOf(downMs)} later`,
  }),
  kind<{ host: string; moreMs: number }>({
    name: 'stopped for long',
    weight: 1,
    draw: (random, setting) => ({ host: anyHost(random, setting), moreMs: random.scale(MINUTE, 2 * HOUR) }),
    apply: ({ host, moreMs }, world) => {
      const { catchUpDays } = world.exporter;
      if (catchUpDays < 1) world.host(host).restart(catchUpDays * DAY + moreMs);
    },
    tell: ({ host, moreMs }) => `${host} is stopped for ${secondsOf(moreMs)} more than catch_up, unless that is days`,
  }),
  kind<InWait>({
    name: 'in a wait',
    weight: 5,
    draw: (random) => {
      const waitSeconds = random.between(120, 1_800);
      const ms = random.scale(SECOND, (waitSeconds * SECOND) / 3);
      // Mostly so late that the wait must have been written.
      const afterMs = random.pick([random.scale(SECOND, 10 * SECOND), random.between(6, 40) * SECOND]);
      return { waitSeconds, afterMs, what: random.pick(['killed', 'stopped', 'set ahead']), ms };
    },
    apply: ({ waitSeconds, afterMs, what, ms }, world) => {
      const headers = { 'retry-after': String(waitSeconds) };
      world.service.disturbances.refuse({ times: 1, headers, body: 'json' });
      world.traffic.onceEnded(
        ({ head }) => head?.status === 429 && head.headers['retry-after'] === headers['retry-after'],
        ({ host: name }) =>
          later(world, afterMs, () => {
            const host = world.host(name);
            if (what === 'killed') host.kill(ms);
            else if (what === 'stopped') host.restart(ms);
            else setAhead(world, host, HOUR, ms);
          }),
      );
    },
    tell: ({ waitSeconds, afterMs, what, ms }) => {
      const then = what === 'set ahead' ? 'its clock is an hour ahead' : `it is ${what}`;
      return `the next request is refused for ${waitSeconds} s; ${secondsOf(afterMs)} after its process has the answer, ${then} for ${secondsOf(ms)}`;
    },
  }),
  kind<{ times: number; downMs: number; isKilled: boolean; pauseMs: number }>({
    name: 'restart after a request',
    weight: 4,
    draw: (random) => ({
      times: random.between(1, 10),
      downMs: random.scale(1, SECOND),
      isKilled: random.happens(0.7),
      pauseMs: random.pick([0, random.between(15, 60) * SECOND]),
    }),
    apply: ({ times, downMs, isKilled, pauseMs }, world) => {
      const next = (left: number): void => {
        if (left === 0) return;
        world.traffic.onceEnded(
          () => !world.isCalm,
          ({ host }) => {
            if (isKilled) world.host(host).kill(downMs);
            else world.host(host).restart(downMs);
            if (pauseMs === 0) next(left - 1);
            else later(world, pauseMs, () => next(left - 1));
          },
        );
      };
      next(times);
    },
    tell: ({ times, downMs, isKilled, pauseMs }) =>
      `${times} times, ${secondsOf(pauseMs)} apart, the process that has the next answer is ${isKilled ? 'killed' : 'stopped'} at once for ${secondsOf(downMs)}`,
    simpler: ({ times, ...rest }) => (times > 1 ? [{ ...rest, times: 1 }] : []),
  }),
  kind<{ host: string; downMs: number; calls?: number; call?: string }>({
    name: 'power',
    weight: 7,
    draw: (random, setting) => {
      const what = { host: anyHost(random, setting), downMs: downTime(random) };
      if (setting.exporter.replicas > 0 || random.happens(0.2)) return what;
      return { ...what, calls: random.between(1, 6), call: random.pick(UNSYNCED) };
    },
    apply: ({ host, downMs, calls, call }, world) =>
      world.host(host).losePower(downMs, calls === undefined ? undefined : { calls, call }),
    tell: ({ host, downMs, calls, call }) =>
      `${host} loses power${calls === undefined ? '' : ` after ${call} call ${calls} from now`} for ${secondsOf(downMs)}`,
    simpler: ({ host, downMs, calls = 0, call }) => [
      ...(calls > 0 ? [{ host, downMs }] : []),
      ...(calls > 1 && call !== undefined ? [{ host, downMs, calls: 1, call }] : []),
    ],
  }),
  kind<{ host: string; ms: number; suspended: boolean }>({
    name: 'pause',
    weight: 3,
    draw: (random, setting) => ({
      host: anyHost(random, setting),
      ms: random.pick([random.scale(SECOND, MINUTE), random.scale(MINUTE, 3 * HOUR)]),
      suspended: random.happens(0.3),
    }),
    apply: ({ host, ms, suspended }, world) => world.host(host).pause(ms, suspended),
    tell: ({ host, ms, suspended }) => `${host} is ${suspended ? 'suspended' : 'paused'} for ${secondsOf(ms)}`,
  }),
  kind<{ host: string; offsetMs: number }>({
    name: 'clock',
    weight: 3,
    draw: (random, setting) => ({
      host: anyHost(random, setting),
      offsetMs: random.pick([
        0,
        random.between(-5_000, 5_000),
        random.between(-HOUR, HOUR),
        random.between(-48, 48) * HOUR,
      ]),
    }),
    apply: ({ host, offsetMs }, world) => world.host(host).setClock(offsetMs),
    tell: ({ host, offsetMs }) =>
      `the clock of ${host} is set to true time ${offsetMs < 0 ? '-' : '+'} ${secondsOf(Math.abs(offsetMs))}`,
  }),
  kind<{ host: string; byMs: number; forMs: number }>({
    name: 'clock ahead',
    weight: 3,
    draw: (random, setting) => ({
      host: anyHost(random, setting),
      byMs: random.scale(10 * MINUTE, 48 * HOUR),
      forMs: random.scale(MINUTE, HOUR),
    }),
    apply: ({ host, byMs, forMs }, world) => setAhead(world, world.host(host), byMs, forMs),
    tell: ({ host, byMs, forMs }) => `the clock of ${host} is ${secondsOf(byMs)} ahead for ${secondsOf(forMs)}`,
  }),
  kind<{ host: string; byMs: number }>({
    name: 'clock at the turn of the month',
    weight: 1,
    draw: (random, setting) => ({ host: anyHost(random, setting), byMs: random.scale(SECOND, 6 * HOUR) }),
    apply: ({ host, byMs }, world) => {
      const now = world.clock.now();
      const turn = nearestTurn(now);
      if (Math.abs(turn - now) > 2 * DAY) return;
      world.host(host).setClock(turn - now + (turn > now ? byMs : -byMs));
    },
    tell: ({ host, byMs }) =>
      `the clock of ${host} is set ${secondsOf(byMs)} beyond the turn of the month, unless that is days away`,
  }),
];
