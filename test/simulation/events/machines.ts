import { HOUR, MINUTE, SECOND } from '../../support/timing.ts';
import type { Random } from '../random.ts';
import type { Lag } from '../service/setting.ts';
import type { Setting } from '../story.ts';
import { kind } from './kind.ts';
import { later } from './later.ts';
import { secondsOf } from './words.ts';

function anyMachine(random: Random, { service }: Setting): string | undefined {
  return service.machines[random.between(0, service.machines.length - 1)];
}

/** What happens to the machines, and to their records. */
export const MACHINE_KINDS = [
  kind<{ name: string; ms?: number }>({
    name: 'silence',
    weight: 4,
    draw: (random, setting) => {
      const name = anyMachine(random, setting);
      if (name === undefined) return undefined;
      return random.happens(0.3) ? { name } : { name, ms: random.scale(MINUTE, 6 * HOUR) };
    },
    apply: ({ name, ms }, world) => {
      const { machines } = world.service;
      machines.silence(name, world.clock.now());
      if (ms !== undefined) later(world, ms, () => machines.wake(name, world.clock.now()));
    },
    tell: ({ name, ms }) => `machine ${name} falls silent${ms === undefined ? '' : ` for ${secondsOf(ms)}`}`,
    simpler: ({ name, ms }) => (ms === undefined ? [] : [{ name }]),
  }),
  kind<{ name: string }>({
    name: 'clients restart',
    weight: 2,
    draw: (random, setting) => named(anyMachine(random, setting)),
    apply: ({ name }, world) => world.service.machines.restart(name, world.clock.now()),
    tell: ({ name }) => `the clients of machine ${name} are restarted`,
  }),
  kind<{ name: string; free: number }>({
    name: 'disk fills',
    weight: 1,
    draw: (random, setting) => {
      const name = anyMachine(random, setting);
      return name === undefined ? undefined : { name, free: random.pick([0, 0.01, 0.6]) };
    },
    apply: ({ name, free }, world) => world.service.machines.fillDisk(name, free, world.clock.now()),
    tell: ({ name, free }) => `${100 * free} % of the disk of machine ${name} are free`,
  }),
  kind<{ name: string }>({
    name: 'machine appears',
    weight: 2,
    draw: (random) => ({ name: random.pick(['new-0', 'new-1', 'new "2"', 'new\n3']) }),
    apply: ({ name }, world) => {
      const { machines } = world.service;
      if (!machines.names.includes(name)) machines.add(name, world.clock.now());
    },
    tell: ({ name }) => `machine ${JSON.stringify(name)} pushes for the first time`,
  }),
  kind<{ lag: Lag }>({
    name: 'late records',
    weight: 3,
    draw: (random) => {
      const of = random.pick(['all', 'one', 'none'] as const);
      return { lag: { of, ms: of === 'none' ? 0 : random.scale(SECOND, 5 * MINUTE) } };
    },
    apply: ({ lag }, world) => world.service.machines.delay(lag, world.clock.now()),
    tell: ({ lag: { of, ms } }) =>
      of === 'none' ? 'records are on time' : `records of ${of} of the machines are ${secondsOf(ms)} late`,
  }),
  kind<{ share: number; ms: number }>({
    name: 'odd records',
    weight: 2,
    draw: (random) => ({ share: random.pick([0.05, 0.3, 1]), ms: random.scale(MINUTE, HOUR) }),
    apply: ({ share, ms }, world) => {
      const { machines } = world.service;
      machines.spoil(share, world.clock.now());
      later(world, ms, () => machines.spoil(0, world.clock.now()));
    },
    tell: ({ share, ms }) => `for ${secondsOf(ms)} ${Math.round(100 * share)} % of the records cannot be read`,
  }),
  kind<{ count: number }>({
    name: 'empty pages',
    weight: 1,
    draw: (random) => ({ count: random.between(1, 4) }),
    apply: ({ count }, world) => world.service.machines.emptyPages(count),
    tell: ({ count }) => `the next ${count} pages of machine records are empty, and have a cursor`,
  }),
];

function named(name: string | undefined): { name: string } | undefined {
  return name === undefined ? undefined : { name };
}
