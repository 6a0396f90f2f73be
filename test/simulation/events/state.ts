import { HOUR, MINUTE, SECOND } from '../../support/timing.ts';
import type { ExporterHost } from '../exporter-host.ts';
import { STATE_DIR } from '../exporter-setting.ts';
import { makeOlder } from '../older-state.ts';
import type { World } from '../world.ts';
import { kind } from './kind.ts';
import { anyHost, onFiles } from './process.ts';
import { secondsOf } from './words.ts';

const DAMAGES = ['removed', 'emptied', 'cut in half', 'replaced by garbage'] as const;
type Damage = (typeof DAMAGES)[number];
const DOCUMENTS = ['ledger', 'exporter', 'process', 'machines', 'slashings-mainnet'] as const;

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
  host.disk.put(file, texts[how]);
}

const NEWER = '{"version":99,"value":{}}';

/** Whether something else in the story may have changed the file. */
function isTouched({ story }: World): boolean {
  const touching = ['state damaged', 'state removed', 'upgrade', 'power', 'disk lies'];
  const all = story.events.map(({ kind }) => kind);
  return all.some((one) => touching.includes(one)) || all.filter((one) => one === 'newer state').length > 1;
}

const FOREIGN_LOCK = JSON.stringify({
  pid: 1,
  started: '7',
  host: 'elsewhere',
  boot: 'b',
  namespace: 'n',
  id: 'foreign',
});
const PAUSED_MS = 40 * SECOND;
const HELD_MS = 3 * MINUTE;
/** What was under way when the process was paused still ends. */
const UNDER_WAY_MS = 10 * SECOND;
const TOUCHED_EVERY_MS = 10 * SECOND;

/** A process is paused for so long that another machine takes its lock. It must write nothing from then on. */
function takeOver(world: World, host: ExporterHost): void {
  const { process, disk } = host;
  if (!process?.exporter || process.isStopping) return;
  const { clock } = world;
  const end = clock.now() + HELD_MS;
  let documents: string | undefined;
  const documentsNow = (): string => {
    const files = [...disk.filesIn(STATE_DIR)].filter(([name]) => name.endsWith('.json'));
    return JSON.stringify(files.map(([name, bytes]) => [name, bytes.toString()]).sort());
  };
  const hold = (): void => {
    host.noteDiskTrouble();
    if (documents !== undefined && documents !== documentsNow() && host.process === process)
      world.fail('state: nothing is written under the lock of another machine', `${host.name} has written`);
    if (clock.now() >= end || host.process !== process) {
      disk.remove(`${STATE_DIR}/lock`);
      if (host.process === process) host.restart(SECOND);
      return;
    }
    if (process.clock.resumesAt + UNDER_WAY_MS <= clock.now()) documents ??= documentsNow();
    disk.put(`${STATE_DIR}/lock`, FOREIGN_LOCK, { touchedAt: clock.now() });
    clock.after(TOUCHED_EVERY_MS, hold);
  };
  host.pause(PAUSED_MS, false);
  clock.after(PAUSED_MS / 2, hold);
}

/** What others do to the state directory of a host. */
export const STATE_KINDS = [
  kind<{ host: string; document: string; how: Damage; downMs?: number }>({
    name: 'state damaged',
    weight: 2,
    draw: onFiles((random, setting) => ({
      host: anyHost(random, setting),
      document: random.pick([...DOCUMENTS, 'lock']),
      how: random.pick(DAMAGES),
      ...(random.happens(0.6) && { downMs: random.scale(SECOND, 5 * MINUTE) }),
    })),
    apply: ({ host, document, how, downMs }, world) => {
      const one = world.host(host);
      if (downMs === undefined && document !== 'lock') return damage(one, document, how);
      // To a running process another lock means that another process has the directory.
      one.upgrade(downMs ?? SECOND, (down) => damage(down, document, how));
    },
    tell: ({ host, document, how, downMs }) =>
      `on ${host} the document ${document} is ${how}${downMs === undefined ? '' : `, while it is down for ${secondsOf(downMs)}`}`,
  }),
  kind<{ host: string; document: string; downMs: number; keptMs: number }>({
    name: 'newer state',
    weight: 1,
    draw: onFiles((random, setting) => ({
      host: anyHost(random, setting),
      document: random.pick(DOCUMENTS),
      downMs: random.scale(SECOND, 5 * MINUTE),
      keptMs: random.scale(SECOND, 10 * MINUTE),
    })),
    apply: ({ host, document, downMs, keptMs }, world) => {
      const one = world.host(host);
      const file = `${STATE_DIR}/${document}.json`;
      one.upgrade(downMs, () => {
        if (!one.disk.filesIn(STATE_DIR).has(`${document}.json`)) return;
        one.disk.put(file, NEWER);
        one.spoilState();
        one.newerStateUntil = Math.max(one.newerStateUntil, world.clock.now() + downMs + keptMs);
        world.clock.after(downMs + keptMs, () => {
          const left = one.disk.filesIn(STATE_DIR).get(`${document}.json`)?.toString();
          if (left !== NEWER && !isTouched(world))
            world.fail('state: a newer one is left as it is', `${document} of ${host} is ${left}`);
          one.spoilState();
          one.disk.remove(file);
        });
      });
    },
    tell: ({ host, document, downMs, keptMs }) =>
      `while ${host} is down for ${secondsOf(downMs)}, its document ${document} is replaced by one of version 99, which is removed ${secondsOf(keptMs)} later`,
  }),
  kind<{ host: string; downMs?: number }>({
    name: 'state removed',
    weight: 1,
    draw: onFiles((random, setting) => ({
      host: anyHost(random, setting),
      ...(random.happens(0.5) && { downMs: random.scale(SECOND, 5 * MINUTE) }),
    })),
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
    draw: onFiles((random, setting) => ({ host: anyHost(random, setting), downMs: random.scale(SECOND, 5 * MINUTE) })),
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
    draw: onFiles((random, setting) => ({
      host: anyHost(random, setting),
      ageMs: random.scale(SECOND, HOUR),
      downMs: random.scale(SECOND, MINUTE),
    })),
    apply: ({ host, ageMs, downMs }, world) => {
      world.host(host).upgrade(downMs, (one) => {
        const { disk } = one;
        one.noteDiskTrouble();
        disk.put(`${STATE_DIR}/lock`, FOREIGN_LOCK, { touchedAt: world.clock.now() - ageMs });
      });
    },
    tell: ({ host, ageMs, downMs }) =>
      `${host} is down for ${secondsOf(downMs)}, and finds the lock of another machine, touched ${secondsOf(ageMs)} ago`,
  }),
  kind<{ host: string }>({
    name: 'lock taken over',
    weight: 2,
    draw: onFiles((random, setting) => ({ host: anyHost(random, setting) })),
    apply: ({ host }, world) => takeOver(world, world.host(host)),
    tell: ({ host }) =>
      `${host} is paused for ${secondsOf(PAUSED_MS)}, and another machine takes its lock over for ${secondsOf(HELD_MS)}`,
  }),
  kind<{ host: string }>({
    name: 'second process',
    weight: 2,
    draw: onFiles((random, setting) => ({ host: anyHost(random, setting) })),
    apply: ({ host }, world) => world.host(host).startSecond(),
    tell: ({ host }) => `a second process is started on the state directory of ${host}`,
  }),
];
