import { type DiskFailure, READ_ONLY } from '../disk-faults.ts';
import type { ExporterHost } from '../exporter-host.ts';
import { STATE_DIR } from '../exporter-setting.ts';
import { makeOlder } from '../older-state.ts';
import type { Random } from '../random.ts';
import type { World } from '../world.ts';
import { kind } from './kind.ts';
import { anyHost } from './process.ts';
import { secondsOf } from './words.ts';

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;

/** Failures of calls, by what they are called. */
const FAILURES: Readonly<Record<string, DiskFailure>> = {
  'fails every write with EIO': { code: 'EIO', calls: ['write'] },
  'fails every sync with EIO': { code: 'EIO', calls: ['sync', 'sync directory'] },
  'fails every sync of a directory with EIO': { code: 'EIO', calls: ['sync directory'] },
  'fails every rename with EIO': { code: 'EIO', calls: ['rename'] },
  'fails each third call with EIO': {
    code: 'EIO',
    calls: [
      'create',
      'open',
      'write',
      'read',
      'sync',
      'sync directory',
      'close',
      'read file',
      'rename',
      'rm',
      'readdir',
    ],
    each: 3,
  },
  'is read-only': READ_ONLY,
  'opens no file (EMFILE)': { code: 'EMFILE', calls: ['create', 'open', 'read file', 'readdir'] },
};
const NAMES = Object.keys(FAILURES);

const DAMAGES = ['removed', 'emptied', 'cut in half', 'replaced by garbage', 'replaced by one of version 99'] as const;
type Damage = (typeof DAMAGES)[number];
const DOCUMENTS = ['ledger', 'exporter', 'process', 'machines', 'slashings-mainnet', 'lock'] as const;

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

function damage(host: ExporterHost, document: string, how: Damage): void {
  host.noteDiskTrouble();
  const name = document === 'lock' ? document : `${document}.json`;
  const bytes = host.disk.filesIn(STATE_DIR).get(name);
  if (!bytes) return;
  if (document !== 'lock') host.spoilState();
  const file = `${STATE_DIR}/${name}`;
  if (how === 'removed') {
    host.disk.remove(file);
    return;
  }
  const half = bytes.subarray(0, Math.floor(bytes.length / 2)).toString();
  const texts = { emptied: '', 'cut in half': half, 'replaced by garbage': 'garbage' };
  host.disk.put(file, how === 'replaced by one of version 99' ? '{"version":99,"value":{}}' : texts[how]);
}

/** What happens to the disk of a host that keeps its state in files. */
export const DISK_KINDS = [
  kind<{ host: string; how: string; ms: number }>({
    name: 'disk fails',
    weight: 4,
    draw: (random, setting) =>
      setting.exporter.replicas > 0
        ? undefined
        : { host: anyHost(random, setting), how: NAMES[random.between(0, NAMES.length - 1)] ?? '', ms: spell(random) },
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
  kind<{ host: string; room: number; ms: number }>({
    name: 'disk full',
    weight: 3,
    draw: (random, setting) =>
      setting.exporter.replicas > 0
        ? undefined
        : {
            host: anyHost(random, setting),
            room: random.pick([0, random.between(1, 600), random.between(600, 20_000)]),
            ms: spell(random),
          },
    apply: ({ host, room, ms }, world) => {
      during(
        world,
        host,
        ms,
        ({ disk }) => {
          disk.room = room;
        },
        ({ disk }) => {
          disk.room = Number.POSITIVE_INFINITY;
        },
      );
    },
    tell: ({ host, room, ms }) => `the disk of ${host} has room for ${room} bytes, for ${secondsOf(ms)}`,
    simpler: ({ host, room, ms }) => (room > 0 ? [{ host, room: 0, ms }] : []),
  }),
  kind<{ host: string; bytes: number; ms: number }>({
    name: 'short writes',
    weight: 2,
    draw: (random, setting) =>
      setting.exporter.replicas > 0
        ? undefined
        : { host: anyHost(random, setting), bytes: random.scale(50, 5_000), ms: spell(random) },
    apply: ({ host, bytes, ms }, world) => {
      during(
        world,
        host,
        ms,
        ({ disk }) => {
          disk.bytesPerWrite = bytes;
        },
        ({ disk }) => {
          disk.bytesPerWrite = Number.POSITIVE_INFINITY;
        },
      );
    },
    tell: ({ host, bytes, ms }) => `a write on ${host} takes ${bytes} bytes at most, for ${secondsOf(ms)}`,
  }),
  kind<{ host: string; most: number; ms: number }>({
    name: 'slow disk',
    weight: 2,
    draw: (random, setting) =>
      setting.exporter.replicas > 0
        ? undefined
        : { host: anyHost(random, setting), most: random.scale(20, 5_000), ms: spell(random) },
    apply: ({ host, most, ms }, world) => {
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
    },
    tell: ({ host, most, ms }) => `each call to the disk of ${host} takes up to ${most} ms, for ${secondsOf(ms)}`,
  }),
  kind<{ host: string; ms: number }>({
    name: 'disk lies',
    weight: 1,
    draw: (random, setting) =>
      setting.exporter.replicas > 0 ? undefined : { host: anyHost(random, setting), ms: spell(random) },
    apply: ({ host, ms }, world) => {
      during(
        world,
        host,
        ms,
        ({ disk }) => {
          disk.liesAboutSync = true;
        },
        ({ disk }) => {
          disk.liesAboutSync = false;
        },
      );
    },
    tell: ({ host, ms }) => `the disk of ${host} forgets to sync, for ${secondsOf(ms)}`,
  }),
  kind<{ host: string; document: string; how: Damage; downMs?: number }>({
    name: 'state damaged',
    weight: 2,
    draw: (random, setting) =>
      setting.exporter.replicas > 0
        ? undefined
        : {
            host: anyHost(random, setting),
            document: random.pick(DOCUMENTS),
            how: random.pick(DAMAGES),
            ...(random.happens(0.6) && { downMs: random.scale(SECOND, 5 * MINUTE) }),
          },
    apply: ({ host, document, how, downMs }, world) => {
      const one = world.host(host);
      if (downMs === undefined && document !== 'lock') return damage(one, document, how);
      // To a running process another lock means that another process has the directory.
      one.upgrade(downMs ?? SECOND, (down) => damage(down, document, how));
    },
    tell: ({ host, document, how, downMs }) =>
      `on ${host} the document ${document} is ${how}${downMs === undefined ? '' : `, while it is down for ${secondsOf(downMs)}`}`,
  }),
  kind<{ host: string; downMs?: number }>({
    name: 'state removed',
    weight: 1,
    draw: (random, setting) =>
      setting.exporter.replicas > 0
        ? undefined
        : { host: anyHost(random, setting), ...(random.happens(0.5) && { downMs: random.scale(SECOND, 5 * MINUTE) }) },
    apply: ({ host, downMs }, world) => {
      const one = world.host(host);
      const remove = (): void => {
        one.noteDiskTrouble();
        one.spoilState();
        one.disk.remove(STATE_DIR);
      };
      if (downMs === undefined) remove();
      else one.upgrade(downMs, remove);
    },
    tell: ({ host, downMs }) =>
      `the state directory of ${host} is removed${downMs === undefined ? '' : `, while it is down for ${secondsOf(downMs)}`}`,
  }),
  kind<{ host: string; downMs: number }>({
    name: 'upgrade',
    weight: 2,
    draw: (random, setting) =>
      setting.exporter.replicas > 0
        ? undefined
        : { host: anyHost(random, setting), downMs: random.scale(SECOND, 5 * MINUTE) },
    apply: ({ host, downMs }, world) => {
      world.host(host).upgrade(downMs, (down) => {
        makeOlder(down.disk);
        down.versions.forget();
      });
    },
    tell: ({ host, downMs }) =>
      `${host} is killed, and started ${secondsOf(downMs)} later on the state of an earlier version`,
  }),
  kind<{ host: string; ageMs: number; downMs: number }>({
    name: 'foreign lock',
    weight: 1,
    draw: (random, setting) =>
      setting.exporter.replicas > 0
        ? undefined
        : {
            host: anyHost(random, setting),
            ageMs: random.scale(SECOND, HOUR),
            downMs: random.scale(SECOND, MINUTE),
          },
    apply: ({ host, ageMs, downMs }, world) => {
      const lock = { pid: 1, started: '7', host: 'elsewhere', boot: 'b', namespace: 'n', id: 'foreign' };
      world.host(host).upgrade(downMs, (one) => {
        const { disk } = one;
        one.noteDiskTrouble();
        disk.put(`${STATE_DIR}/lock`, JSON.stringify(lock), { touchedAt: world.clock.now() - ageMs });
      });
    },
    tell: ({ host, ageMs, downMs }) =>
      `${host} is down for ${secondsOf(downMs)}, and finds the lock of another machine, touched ${secondsOf(ageMs)} ago`,
  }),
  kind<{ host: string }>({
    name: 'second process',
    weight: 1,
    draw: (random, setting) => (setting.exporter.replicas > 0 ? undefined : { host: anyHost(random, setting) }),
    apply: ({ host }, world) => world.host(host).startSecond(),
    tell: ({ host }) => `a second process is started on the state directory of ${host}`,
  }),
];
