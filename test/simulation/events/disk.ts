import { HOUR, MINUTE, SECOND } from '../../support/timing.ts';
import { type DiskFailure, READ_ONLY } from '../disk-faults.ts';
import type { ExporterHost } from '../exporter-host.ts';
import { STATE_DIR } from '../exporter-setting.ts';
import type { Random } from '../random.ts';
import type { World } from '../world.ts';
import { kind } from './kind.ts';
import { anyHost, onFiles } from './process.ts';
import { secondsOf } from './words.ts';

/** Failures of calls, by what they are called. */
const FAILURES: Readonly<Record<string, DiskFailure>> = {
  'fails every write with EIO': { code: 'EIO', calls: ['write'] },
  'fails every sync with EIO': { code: 'EIO', calls: ['sync', 'sync directory'] },
  'fails every sync of a file with EIO': { code: 'EIO', calls: ['sync'] },
  'fails every sync of a directory with EIO': { code: 'EIO', calls: ['sync directory'] },
  'fails every rename with EIO': { code: 'EIO', calls: ['rename'] },
  'fails each third call with EIO': {
    code: 'EIO',
    calls: ['create', 'open', 'write', 'sync', 'sync directory', 'close', 'read file', 'rename', 'rm', 'readdir'],
    each: 3,
  },
  'is read-only': READ_ONLY,
  'opens no file (EMFILE)': { code: 'EMFILE', calls: ['create', 'open', 'read file', 'readdir'] },
};
const NAMES = Object.keys(FAILURES);
/** A write fails when it has begun. */
const HALF_DONE = [
  'fails every write with EIO',
  'fails every sync of a file with EIO',
  'fails every rename with EIO',
] as const;

function anyFailure(random: Random): string {
  return NAMES[random.between(0, NAMES.length - 1)] ?? '';
}

function spell(random: Random): number {
  return random.pick([random.scale(SECOND, MINUTE), random.scale(MINUTE, HOUR), random.scale(MINUTE, 6 * HOUR)]);
}

/** A fault that ends by itself. */
function during(
  world: World,
  host: string,
  ms: number,
  begin: (one: ExporterHost) => void,
  end: (one: ExporterHost) => void,
): void {
  const one = world.host(host);
  begin(one);
  one.noteDiskTrouble();
  world.clock.after(ms, () => {
    one.noteDiskTrouble();
    end(one);
  });
}

/** A disk that works. */
const SOUND = { room: Number.POSITIVE_INFINITY, bytesPerWrite: Number.POSITIVE_INFINITY, liesAboutSync: false };

/** The disk is different in one respect for a while. */
function changeDisk<N extends keyof typeof SOUND>(
  world: World,
  host: string,
  ms: number,
  name: N,
  value: (typeof SOUND)[N],
): void {
  during(
    world,
    host,
    ms,
    ({ disk }) => Object.assign(disk, { [name]: value }),
    ({ disk }) => Object.assign(disk, { [name]: SOUND[name] }),
  );
}

/** Each call to the disk takes up to `most` ms for a while. */
function slow(world: World, host: string, most: number, ms: number): void {
  during(
    world,
    host,
    ms,
    (one) => {
      one.diskLatencyMs = [Math.max(1, most / 20), most];
    },
    (one) => {
      one.diskLatencyMs = [0, 0];
    },
  );
}

/** What happens to the disk of a host that keeps its state in files. */
export const DISK_KINDS = [
  kind<{ host: string; how: string; ms: number }>({
    name: 'disk fails',
    weight: 4,
    draw: onFiles((random, setting) => ({
      host: anyHost(random, setting),
      how: anyFailure(random),
      ms: spell(random),
    })),
    apply: ({ host, how, ms }, world) => {
      const failure = FAILURES[how];
      if (!failure) return;
      during(
        world,
        host,
        ms,
        ({ disk }) => disk.failing.add(failure),
        ({ disk }) => disk.failing.delete(failure),
      );
    },
    tell: ({ host, how, ms }) => `the disk of ${host} ${how}, for ${secondsOf(ms)}`,
  }),
  kind<{ host: string; how: string; ms: number; downMs: number }>({
    name: 'killed while the disk fails',
    weight: 4,
    draw: onFiles((random, setting) => ({
      host: anyHost(random, setting),
      how: random.happens(0.5) ? random.pick(HALF_DONE) : anyFailure(random),
      ms: random.scale(10 * SECOND, HOUR),
      downMs: random.scale(SECOND, MINUTE),
    })),
    apply: ({ host, how, ms, downMs }, world) => {
      const failure = FAILURES[how];
      if (!failure) return;
      during(
        world,
        host,
        ms,
        ({ disk }) => disk.failing.add(failure),
        (one) => {
          if (!world.isCalm) one.kill(downMs);
          one.disk.failing.delete(failure);
        },
      );
    },
    tell: ({ host, how, ms, downMs }) =>
      `the disk of ${host} ${how}, for ${secondsOf(ms)}, at the end of which it is killed for ${secondsOf(downMs)}`,
  }),
  kind<{ host: string; room: number; ms: number }>({
    name: 'disk full',
    weight: 3,
    draw: onFiles((random, setting) => ({
      host: anyHost(random, setting),
      room: random.pick([0, random.between(1, 600), random.between(600, 20_000)]),
      ms: spell(random),
    })),
    apply: ({ host, room, ms }, world) => changeDisk(world, host, ms, 'room', room),
    tell: ({ host, room, ms }) => `the disk of ${host} has room for ${room} bytes, for ${secondsOf(ms)}`,
    simpler: ({ host, room, ms }) => (room > 0 ? [{ host, room: 0, ms }] : []),
  }),
  kind<{ host: string; bytes: number; ms: number }>({
    name: 'short writes',
    weight: 2,
    draw: onFiles((random, setting) => ({
      host: anyHost(random, setting),
      bytes: random.scale(50, 5_000),
      ms: spell(random),
    })),
    apply: ({ host, bytes, ms }, world) => changeDisk(world, host, ms, 'bytesPerWrite', bytes),
    tell: ({ host, bytes, ms }) => `a write on ${host} takes ${bytes} bytes at most, for ${secondsOf(ms)}`,
  }),
  kind<{ host: string; bytes: number; downMs: number; ms: number; writes: number }>({
    name: 'killed with short writes',
    weight: 2,
    draw: onFiles((random, setting) => ({
      host: anyHost(random, setting),
      bytes: random.scale(1, 60),
      downMs: random.pick([0, random.scale(1, MINUTE)]),
      ms: random.scale(10 * SECOND, 10 * MINUTE),
      writes: random.between(0, 3),
    })),
    apply: ({ host, bytes, downMs, ms, writes }, world) => {
      world.host(host).kill(downMs, writes === 0 ? undefined : { calls: writes, call: 'disk write' });
      changeDisk(world, host, ms, 'bytesPerWrite', bytes);
    },
    tell: ({ host, bytes, downMs, ms, writes }) => {
      const when = writes === 0 ? '' : ` after ${writes} of them`;
      return `a write on ${host} takes ${bytes} bytes at most, for ${secondsOf(ms)}; kill -9${when}, down for ${secondsOf(downMs)}`;
    },
  }),
  kind<{ host: string; most: number; ms: number }>({
    name: 'slow disk',
    weight: 2,
    draw: onFiles((random, setting) => ({
      host: anyHost(random, setting),
      most: random.scale(20, 5_000),
      ms: spell(random),
    })),
    apply: ({ host, most, ms }, world) => slow(world, host, most, ms),
    tell: ({ host, most, ms }) => `each call to the disk of ${host} takes up to ${most} ms, for ${secondsOf(ms)}`,
  }),
  kind<{ host: string; most: number; downMs: number }>({
    name: 'power lost on a slow disk',
    weight: 5,
    draw: onFiles((random, setting) => ({
      host: anyHost(random, setting),
      most: random.scale(200, 5_000),
      downMs: random.scale(SECOND, MINUTE),
    })),
    apply: ({ host, most, downMs }, world) => {
      slow(world, host, most, 10 * MINUTE);
      const one = world.host(host);
      const when = (): boolean => one.disk.unsyncedIn(STATE_DIR).renames > 1;
      one.losePower(downMs, { calls: 1, call: 'disk rename', when });
    },
    tell: ({ host, most, downMs }) =>
      `for ten minutes each call to the disk of ${host} takes up to ${most} ms; it loses power for ${secondsOf(downMs)} when two renames are not synced`,
  }),
  kind<{ host: string; ms: number }>({
    name: 'disk lies',
    weight: 1,
    draw: onFiles((random, setting) => ({ host: anyHost(random, setting), ms: spell(random) })),
    apply: ({ host, ms }, world) => changeDisk(world, host, ms, 'liesAboutSync', true),
    tell: ({ host, ms }) => `the disk of ${host} forgets to sync, for ${secondsOf(ms)}`,
  }),
];
