import { HOUR, MINUTE, SECOND } from '../../support/timing.ts';
import type { Random } from '../random.ts';
import type { Lag, ServiceSetting } from '../service/setting.ts';
import type { Setting } from '../story.ts';
import type { World } from '../world.ts';
import { kind, later, span } from './kind.ts';

/** The name of a machine; undefined: there is none. */
function anyMachine(random: Random, { service }: Setting): { name: string } | undefined {
  const name = service.machines[random.between(0, service.machines.length - 1)];
  return name === undefined ? undefined : { name };
}

/** What can happen in the middle of a sweep, and how it ends. */
const IN_SWEEP: Readonly<Record<string, { begin(world: World): void; end?(world: World): void }>> = {
  'access is revoked': {
    begin: ({ service }) => {
      service.account.isRevoked = true;
    },
    end: (world) => {
      world.service.account.isRevoked = false;
      world.reload();
    },
  },
  'the plan allows one request per second': {
    begin: (world) => world.setPlan({ ...world.service.account.plan, perSecond: 1 }),
  },
  'others use up the month': { begin: (world) => world.spend(world.service.account.plan.perMonth ?? 0) },
  'a reload comes': { begin: (world) => world.reload() },
};
const TROUBLES = Object.keys(IN_SWEEP) as [string, ...string[]];

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
      const { machines } = world.service;
      machines.silence(name, world.clock.now());
      if (ms !== undefined) later(world, ms, () => machines.wake(name, world.clock.now()));
    },
    tell: ({ name, ms }) => `machine ${name} falls silent${ms === undefined ? '' : ` for ${span(ms)}`}`,
  }),
  kind<{ name: string }>({
    name: 'clients restart',
    weight: 2,
    draw: anyMachine,
    apply: ({ name }, { service, clock }) => service.machines.restart(name, clock.now()),
    tell: ({ name }) => `the clients of machine ${name} are restarted`,
  }),
  kind<{ name: string }>({
    name: 'machine appears',
    weight: 2,
    draw: (random) => ({ name: random.pick(['new-0', 'new-1', 'new "2"', 'new\n3']) }),
    apply: ({ name }, { service: { machines }, clock }) => {
      if (!machines.names.includes(name)) machines.add(name, clock.now());
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
    apply: ({ lag }, { service, clock }) => service.machines.delay(lag, clock.now()),
    tell: ({ lag: { of, ms } }) => `records of ${of} of the machines are ${span(ms)} late`,
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
    tell: ({ share, ms }) => `for ${span(ms)} ${Math.round(100 * share)} % of the records cannot be read`,
  }),
  kind<{ count: number }>({
    name: 'empty pages',
    weight: 1,
    draw: (random) => ({ count: random.between(1, 2) }),
    apply: ({ count }, { service }) => {
      service.machines.emptyPages = count;
    },
    tell: ({ count }) => `the next ${count} pages of machine records are empty, and have a cursor`,
  }),
  kind<{ what: string; ms: number }>({
    name: 'in the middle of a sweep',
    weight: 6,
    draw: (random, { service }) =>
      service.machines.length === 0
        ? undefined
        : { what: random.pick(TROUBLES), ms: random.scale(SECOND, 30 * MINUTE) },
    apply: ({ what, ms }, world) =>
      world.service.oncePaged(() => {
        const trouble = IN_SWEEP[what];
        if (world.isCalm || !trouble) return;
        trouble.begin(world);
        later(world, ms, () => trouble.end?.(world));
      }),
    tell: ({ what, ms }) =>
      `${what} after the next page that another one follows${IN_SWEEP[what]?.end ? `, for ${span(ms)}` : ''}`,
  }),
  kind<{ ms: number }>({
    name: 'later pages fail',
    weight: 9,
    draw: (random, { service }) =>
      2 * service.machines.length <= service.longestPage ? undefined : { ms: random.scale(2 * MINUTE, 60 * MINUTE) },
    apply: ({ ms }, { service, clock }) => service.disturbances.failLaterPages(clock.now() + ms),
    tell: ({ ms }) => `the service answers 500 to all pages of machines but the first, for ${span(ms)}`,
  }),
  kind<{ ms: number }>({
    name: 'older day',
    weight: 7,
    draw: (random) => ({ ms: random.scale(HOUR, 24 * HOUR) }),
    apply: ({ ms }, { service, clock }) => service.periods.showOlderDay(clock.now() + ms),
    tell: ({ ms }) => `for ${span(ms)} the newest day is missing from the answers`,
  }),
  kind<{ lateMs: number; ms: number }>({
    name: 'period late',
    weight: 2,
    draw: (random) => ({ lateMs: random.scale(MINUTE, 6 * HOUR), ms: random.scale(10 * MINUTE, 12 * HOUR) }),
    apply: ({ lateMs, ms }, { service, clock }) => service.periods.delayPeriod(lateMs, clock.now() + ms),
    tell: ({ lateMs, ms }) => `for ${span(ms)} sync committees are known ${span(lateMs)} late`,
  }),
  kind<{ views: ServiceSetting['views']; ms: number }>({
    name: 'views refused',
    weight: 2,
    draw: (random, { service: { views } }) => {
      const kept = (view: boolean): boolean => view && random.happens(0.6);
      const left = { latest: kept(views.latest), finalized: kept(views.finalized), committee: kept(views.committee) };
      return { views: left, ms: random.scale(MINUTE, 6 * HOUR) };
    },
    apply: ({ views, ms }, world) => {
      const { service } = world;
      service.change({ views });
      later(world, ms, () => service.change({ views: world.story.setting.service.views }));
    },
    tell: ({ views, ms }) => `for ${span(ms)} the service answers only these views: ${JSON.stringify(views)}`,
  }),
];
