import { MINUTE, SECOND } from '../../support/timing.ts';
import type { World } from '../world.ts';
import { kind } from './kind.ts';
import { later } from './later.ts';
import { secondsOf } from './words.ts';

interface Trouble {
  readonly said: string;
  begin(world: World): void;
  /** Absent: it does not end by itself. */
  end?(world: World): void;
}

const TROUBLES: Readonly<Record<string, Trouble>> = {
  revoked: {
    said: 'access is revoked',
    begin: ({ service }) => {
      service.account.isRevoked = true;
    },
    end: (world) => {
      world.service.account.isRevoked = false;
      world.reload();
    },
  },
  lowered: {
    said: 'the plan allows one request per second',
    begin: (world) => world.setPlan({ ...world.service.account.plan, perSecond: 1 }),
  },
  'used up': {
    said: 'other users of the account use up its month',
    begin: (world) => world.spend(world.service.account.plan.perMonth ?? 0),
  },
  reload: { said: 'a reload comes', begin: (world) => world.reload() },
};
const NAMES = Object.keys(TROUBLES);

/** What happens to sweeps of several pages. */
export const SWEEP_KINDS = [
  kind<{ what: string; ms: number }>({
    name: 'in the middle of a sweep',
    weight: 6,
    draw: (random, { service }) =>
      service.machines.length === 0
        ? undefined
        : { what: NAMES[random.between(0, NAMES.length - 1)] ?? '', ms: random.scale(SECOND, 30 * MINUTE) },
    apply: ({ what, ms }, world) =>
      world.service.oncePaged(() => {
        const trouble = TROUBLES[what];
        if (world.isCalm || !trouble) return;
        trouble.begin(world);
        later(world, ms, () => trouble.end?.(world));
      }),
    tell: ({ what, ms }) => {
      const { said, end } = TROUBLES[what] ?? {};
      return `${said} after the next page that another one follows${end ? `, for ${secondsOf(ms)}` : ''}`;
    },
  }),
  kind<{ ms: number }>({
    name: 'later pages fail',
    weight: 9,
    draw: (random, { service }) =>
      2 * service.machines.length <= service.longestPage ? undefined : { ms: random.scale(2 * MINUTE, 60 * MINUTE) },
    apply: ({ ms }, { service, clock }) => service.disturbances.failLaterPages(clock.now() + ms),
    tell: ({ ms }) => `the service answers 500 to all pages of machines but the first, for ${secondsOf(ms)}`,
  }),
];
