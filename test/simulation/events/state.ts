import { MINUTE, SECOND } from '../../support/timing.ts';
import type { ExporterHost } from '../exporter-host.ts';
import { STATE_DIR } from '../exporter-setting.ts';
import type { World } from '../world.ts';
import { kind } from './kind.ts';
import { anyHost, onFiles } from './process.ts';
import { secondsOf } from './words.ts';

const DAMAGES = ['removed', 'emptied', 'cut in half', 'replaced by garbage'] as const;
type Damage = (typeof DAMAGES)[number];
const DOCUMENTS = ['ledger', 'exporter', 'process', 'machines', 'slashings-mainnet'] as const;

function damage(host: ExporterHost, document: string, how: Damage): void {
  host.noteDiskTrouble();
  const name = `${document}.json`;
  const bytes = host.disk.filesIn(STATE_DIR).get(name);
  if (!bytes) return;
  host.spoilState();
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
  const touching = ['state damaged', 'state removed', 'power', 'disk lies'];
  const all = story.events.map(({ kind }) => kind);
  return all.some((one) => touching.includes(one)) || all.filter((one) => one === 'newer state').length > 1;
}

/** What others do to the state directory of a host. */
export const STATE_KINDS = [
  kind<{ host: string; document: string; how: Damage; downMs?: number }>({
    name: 'state damaged',
    weight: 2,
    draw: onFiles((random, setting) => ({
      host: anyHost(random, setting),
      document: random.pick(DOCUMENTS),
      how: random.pick(DAMAGES),
      ...(random.happens(0.6) && { downMs: random.scale(SECOND, 5 * MINUTE) }),
    })),
    apply: ({ host, document, how, downMs }, world) => {
      const one = world.host(host);
      if (downMs === undefined) damage(one, document, how);
      else one.upgrade(downMs, (down) => damage(down, document, how));
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
];
