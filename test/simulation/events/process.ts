import type { Random } from '../random.ts';
import type { Setting } from '../story.ts';
import { kind } from './kind.ts';
import { secondsOf } from './words.ts';

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;

/** The name of one of the hosts. */
export function anyHost(random: Random, { exporter }: Setting): string {
  return ['a', 'b', 'c'][random.between(0, Math.max(1, exporter.replicas) - 1)] ?? 'a';
}

function downTime(random: Random): number {
  return random.pick([0, SECOND, random.scale(SECOND, 5 * MINUTE), random.scale(MINUTE, 12 * HOUR)]);
}

/** What happens to the processes and their machines. */
export const PROCESS_KINDS = [
  kind<{ host: string; downMs: number; afterCalls: number }>({
    name: 'kill',
    weight: 6,
    draw: (random, setting) => ({
      host: anyHost(random, setting),
      downMs: downTime(random),
      afterCalls: random.happens(0.7) ? random.between(1, 60) : 0,
    }),
    apply: ({ host, downMs, afterCalls }, world) => world.host(host).kill(downMs, afterCalls),
    tell: ({ host, downMs, afterCalls }) =>
      `kill -9 on ${host}, ${afterCalls} calls later, down for ${secondsOf(downMs)}`,
  }),
  kind<{ host: string; downMs: number }>({
    name: 'restart',
    weight: 3,
    draw: (random, setting) => ({ host: anyHost(random, setting), downMs: downTime(random) }),
    apply: ({ host, downMs }, world) => world.host(host).restart(downMs),
    tell: ({ host, downMs }) => `SIGTERM to ${host}, started again ${secondsOf(downMs)} later`,
  }),
  kind<{ host: string; downMs: number }>({
    name: 'power',
    weight: 3,
    draw: (random, setting) => ({ host: anyHost(random, setting), downMs: downTime(random) }),
    apply: ({ host, downMs }, world) => world.host(host).losePower(downMs),
    tell: ({ host, downMs }) => `${host} loses power for ${secondsOf(downMs)}`,
  }),
  kind<{ host: string; ms: number; suspended: boolean }>({
    name: 'pause',
    weight: 3,
    draw: (random, setting) => ({
      host: anyHost(random, setting),
      ms: random.pick([random.scale(SECOND, MINUTE), random.scale(MINUTE, 3 * HOUR)]),
      suspended: random.happens(0.3),
    }),
    apply: ({ host, ms, suspended }, world) => world.host(host).process?.clock.pause(ms, suspended),
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
];
