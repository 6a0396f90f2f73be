import { HOUR, MINUTE } from '../../support/timing.ts';
import type { ServiceSetting } from '../service/setting.ts';
import { kind } from './kind.ts';
import { later } from './later.ts';
import { secondsOf } from './words.ts';

type Views = ServiceSetting['views'];

/** What happens to days and sync committees, and to what the service offers. */
export const PERIOD_KINDS = [
  kind<{ ms: number }>({
    name: 'day late',
    weight: 2,
    draw: (random) => ({ ms: random.scale(MINUTE, 8 * HOUR) }),
    apply: ({ ms }, world) => world.service.periods.delayDay(ms, world.clock.now()),
    tell: ({ ms }) => `the next day of daily returns comes ${secondsOf(ms)} later than usual`,
  }),
  kind<{ ms: number }>({
    name: 'older day',
    weight: 7,
    draw: (random) => ({ ms: random.scale(HOUR, 24 * HOUR) }),
    apply: ({ ms }, world) => world.service.periods.showOlderDay(world.clock.now() + ms),
    tell: ({ ms }) => `for ${secondsOf(ms)} the newest day is missing from the answers`,
  }),
  kind<{ lateMs: number; ms: number }>({
    name: 'period late',
    weight: 2,
    draw: (random) => ({ lateMs: random.scale(MINUTE, 6 * HOUR), ms: random.scale(10 * MINUTE, 12 * HOUR) }),
    apply: ({ lateMs, ms }, world) => world.service.periods.delayPeriod(lateMs, world.clock.now() + ms),
    tell: ({ lateMs, ms }) => `for ${secondsOf(ms)} sync committees are known ${secondsOf(lateMs)} late`,
  }),
  kind<{ views: Views; ms: number }>({
    name: 'views refused',
    weight: 2,
    draw: (random, { service }) => {
      const kept = (view: boolean): boolean => view && random.happens(0.6);
      const { latest, finalized, committee } = service.views;
      return {
        views: { latest: kept(latest), finalized: kept(finalized), committee: kept(committee) },
        ms: random.scale(MINUTE, 6 * HOUR),
      };
    },
    apply: ({ views, ms }, world) => {
      const { service } = world;
      service.change({ views });
      later(world, ms, () => service.change({ views: world.story.setting.service.views }));
    },
    tell: ({ views, ms }) => `for ${secondsOf(ms)} the service answers only these views: ${JSON.stringify(views)}`,
  }),
  kind<object>({
    name: 'other path',
    weight: 1,
    draw: () => ({}),
    apply: (_, { service }) => {
      const isUsual = service.setting.dailyReturnsPath === 'benchmark-store';
      service.change({ dailyReturnsPath: isUsual ? 'eth-store' : 'benchmark-store' });
    },
    tell: () => 'daily returns have the other path',
  }),
  kind<{ endpoint: 'sync_committee_members' | 'proposer_slashings' }>({
    name: 'extra forbidden',
    weight: 1,
    draw: (random) => ({ endpoint: random.pick(['sync_committee_members', 'proposer_slashings'] as const) }),
    apply: ({ endpoint }, { service }) => {
      service.account.forbidden.add(endpoint);
    },
    tell: ({ endpoint }) => `the plan does not include ${endpoint} any more`,
  }),
];
