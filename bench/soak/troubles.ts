import { setTimeout } from 'node:timers/promises';
import { largeBodies, SHAPES } from '../../test/support/body-shapes.ts';
import type { Fault } from '../../test/support/fault-server.ts';
import {
  CONNECTION_FAULTS,
  HANGS,
  IMPOSSIBLE_VALUES,
  refusal,
  STORMS,
  tooMany,
  UNREADABLE,
} from '../../test/support/faults.ts';
import { Child } from '../child.ts';
import { RELOAD_STORMS, reload } from './reloads.ts';
import { DISK_FAULTS } from './weak-disk.ts';
import { aborted, type Trouble, type World } from './world.ts';

const FAULTS: Readonly<Record<string, Fault>> = {
  ...CONNECTION_FAULTS,
  ...HANGS,
  ...UNREADABLE,
  ...IMPOSSIBLE_VALUES,
  ...STORMS,
  'status 401': refusal(401),
  'status 403': refusal(403),
  'status 429': tooMany({ 'ratelimit-reset': '120' }),
};
/** Refusals after which nothing, or one source, asks for a while: minutes from the begin. */
const PAUSES: Readonly<Record<string, number>> = { 'status 401': 17, 'status 403': 65 };

const SERVICE = Object.entries(FAULTS).map(
  ([name, fault]): Trouble => ({
    kind: 'service',
    name,
    isPolled: false,
    ...(name in PAUSES && { pauses: PAUSES[name] ?? 0 }),
    make: (world, signal) => suffer(world, fault, signal),
  }),
);

async function suffer({ service }: World, fault: Fault, signal: AbortSignal): Promise<void> {
  await service.suffer(fault);
  await aborted(signal);
  await service.suffer(undefined);
}

/** How many blocks are free, anew every 20 ms. The state takes some 60. */
const FREE: Readonly<Record<string, () => number>> = {
  'no block free': () => 0,
  'one block free': () => 1,
  'a few blocks free': () => 2 + Math.floor(Math.random() * 6),
  'as many blocks free as a large file takes, more or less': () => Math.floor(Math.random() * 60),
};

const TIGHT = Object.entries(FREE).map(
  ([name, free]): Trouble => ({
    kind: 'disk',
    name,
    isPolled: true,
    async make({ disk }, signal) {
      while (!signal.aborted) {
        disk.leave(free());
        await setTimeout(20);
      }
      disk.relax();
    },
  }),
);

const WEAK = Object.entries(DISK_FAULTS).map(
  ([name, fault]): Trouble => ({
    kind: 'disk',
    name,
    isPolled: true,
    async make(world, signal) {
      world.weaken(fault);
      await aborted(signal);
      world.weaken(undefined);
    },
  }),
);

/** Long enough for 32 MiB: the size of a body does not shrink with the time. */
const LARGE_BODY_MS = 5_000;

const LARGE_BODIES = Object.keys(SHAPES).flatMap((shape) =>
  [false, true].map(
    (isZipped): Trouble => ({
      kind: 'large bodies',
      name: `${shape}${isZipped ? ', compressed' : ''}`,
      // Bodies do not shrink with the time: a few of them take as long as the phase.
      isPolled: false,
      async make(world, signal) {
        world.configure({ timeoutMs: LARGE_BODY_MS });
        await reload(world);
        await suffer(world, largeBodies(shape, { isZipped, slots: 2 }), signal);
        world.configure({});
        await reload(world);
      },
    }),
  ),
);

const CROWDS = [
  ['passwords tried'],
  ['connections that say nothing', 'connections that say nothing', 'connections that say nothing'],
  ['headers byte by byte'],
  ['1,000 requests at once, answers not read'],
  ['downloads broken off'],
  ['scrapes at once'],
];

const CLIENTS = CROWDS.map(
  (crowd): Trouble => ({
    kind: 'clients',
    name: crowd[0] ?? '',
    isPolled: true,
    async make({ port }, signal) {
      const others = crowd.map((kind) => new Child<number>('crowd-client.ts', { args: [kind, `${port}`, 'plain'] }));
      await aborted(signal);
      await Promise.all(others.map((other) => other.stop()));
    },
  }),
);

const SINGLE = [...SERVICE, ...TIGHT, ...WEAK, ...RELOAD_STORMS, ...LARGE_BODIES, ...CLIENTS];

/** Names of what goes on side by side. */
const TOGETHER = [
  ['with a chain that comes and goes', 'every second rename fails'],
  ['with a change each time, from 20 clients', 'writes that take a part, or fail'],
  ['with a chain that comes and goes', 'as many blocks free as a large file takes, more or less', 'reset in the body'],
  ['wide', 'passwords tried', 'no block free'],
  ['of long texts, compressed', 'connections that say nothing', 'scrapes at once'],
];

const SEVERAL = TOGETHER.map((names): Trouble => {
  const parts = names
    .map((name) => SINGLE.find((trouble) => trouble.name === name))
    .filter((part) => part !== undefined);
  if (parts.length < names.length) throw new RangeError(`no such troubles: ${names}`);
  const mayLack = parts.find((part) => part.mayLack)?.mayLack;
  return {
    kind: 'several',
    name: names.join(' + '),
    isPolled: parts.every(({ isPolled }) => isPolled),
    ...(mayLack && { mayLack }),
    make: async (world, signal) => void (await Promise.all(parts.map((part) => part.make(world, signal)))),
  };
});

/** Every trouble once, each kind spread over the day. */
export function troubles(mayMount: boolean, only: RegExp | undefined): Trouble[] {
  const kinds = [SERVICE, [...(mayMount ? TIGHT : []), ...WEAK], RELOAD_STORMS, LARGE_BODIES, CLIENTS, SEVERAL];
  return kinds
    .flatMap((kind) => kind.map((trouble, i) => ({ trouble, at: (i + 0.5) / kind.length })))
    .toSorted((a, b) => a.at - b.at)
    .map(({ trouble }) => trouble)
    .filter(({ kind, name }) => !only || only.test(`${kind}: ${name}`));
}
