import { silence, wake } from '../../../src/sandbox/machines.ts';
import { HOUR, MINUTE } from '../../support/time/timing.ts';
import type { Random } from '../random.ts';
import { addCounting, machineIn } from '../service/fleet.ts';
import type { Setting } from '../story.ts';
import { kind, later } from './kind.ts';

/** The name of a machine; undefined: there is none. */
function anyMachine(random: Random, { service }: Setting): { name: string } | undefined {
  const name = service.machines[random.between(0, service.machines.length - 1)];
  return name === undefined ? undefined : { name };
}

/** What happens to the machines, to their records, and to what is due once a day or once a period. */
export const MACHINE_KINDS = [
  kind<{ name: string; ms?: number }>({
    name: 'silence',
    weight: 4,
    draw: (random, setting) => {
      const one = anyMachine(random, setting);
      return one && (random.happens(0.3) ? one : { ...one, ms: random.scale(MINUTE, 6 * HOUR) });
    },
    apply: ({ name, ms }, world) => {
      const machine = machineIn(world.service.machines, name);
      silence(machine, world.clock.now());
      if (ms !== undefined) later(world, ms, () => wake(machine, world.clock.now()));
    },
  }),
  kind<{ name: string }>({
    name: 'machine appears',
    weight: 2,
    draw: (random) => ({ name: random.pick(['new-0', 'new-1', 'new "2"', 'new\n3']) }),
    apply: ({ name }, { service: { machines }, clock }) => {
      if (!machines.machines.has(name)) addCounting(machines, name, { from: clock.now() });
    },
  }),
  kind<{ ms: number }>({
    name: 'later pages fail',
    weight: 9,
    draw: (random, { service }) =>
      2 * service.machines.length <= service.longestPage ? undefined : { ms: random.scale(2 * MINUTE, 60 * MINUTE) },
    apply: ({ ms }, { service, clock }) => service.disturbances.failLaterPages(clock.now() + ms),
  }),
  kind<{ ms: number }>({
    name: 'older day',
    weight: 7,
    draw: (random) => ({ ms: random.scale(HOUR, 24 * HOUR) }),
    apply: ({ ms }, { service: { sandbox }, clock }) => {
      sandbox.publication.olderUntil = clock.now() + ms;
    },
  }),
];
