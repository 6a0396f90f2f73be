import { ENDPOINTS, type Endpoint } from '../../../src/api/errors.ts';
import { HOUR, MINUTE, SECOND } from '../../support/timing.ts';
import type { Random } from '../random.ts';
import { drawPlan, type Plan } from '../service/setting.ts';
import type { Setting } from '../story.ts';
import type { World } from '../world.ts';
import { kind } from './kind.ts';
import { later } from './later.ts';
import { secondsOf } from './words.ts';

/** Some seconds to some hours. */
function aWhile(random: Random): number {
  return random.pick([random.scale(SECOND, MINUTE), random.scale(MINUTE, 30 * MINUTE), random.scale(MINUTE, 6 * HOUR)]);
}

function aBurst(random: Random, { service: { plan } }: Setting): number {
  const { perSecond, perMonth = 100 * perSecond } = plan;
  return random.pick([1, perSecond, random.scale(1, perMonth), Math.round(perMonth * random.unit())]);
}

function spendRepeatedly(world: World, left: number, everyMs: number, requests: number): void {
  if (left <= 0) return;
  world.spend(requests);
  later(world, everyMs, () => spendRepeatedly(world, left - 1, everyMs, requests));
}

function planText({ perSecond, perHour, perMonth }: Plan): string {
  const long = [perHour && `${perHour} per hour`, perMonth && `${perMonth} per month`].filter(Boolean);
  return [`${perSecond} requests per second`, ...long].join(', ');
}

/** What happens to the account at the service. */
export const ACCOUNT_KINDS = [
  kind<{ requests: number }>({
    name: 'others at once',
    weight: 2,
    draw: (random, setting) => ({ requests: aBurst(random, setting) }),
    apply: ({ requests }, world) => world.spend(requests),
    tell: ({ requests }) => `other users of the account send ${requests} requests at once`,
    simpler: ({ requests }) => (requests > 1 ? [{ requests: 1 }, { requests: Math.floor(requests / 2) }] : []),
  }),
  kind<{ left: number }>({
    name: 'others leave little',
    weight: 3,
    draw: (random, { service: { plan } }) =>
      plan.perMonth === undefined || plan.perHour !== undefined ? undefined : { left: random.between(0, 12) },
    apply: ({ left }, world) => {
      const { account } = world.service;
      const { perMonth, perHour } = account.plan;
      // So many would use up an hour of another plan too.
      if (perHour !== undefined) return;
      const used = [...account.counted(world.clock.now()).values()].map(({ month }) => month.ours + month.theirs);
      const unused = (perMonth ?? 0) - Math.max(0, ...used);
      const isCounted = used.length > 0 || world.service.setting.buckets === 'one';
      if (isCounted && unused > left) world.spend(unused - left);
    },
    tell: ({ left }) => `other users of the account use its month up but for ${left} requests`,
    simpler: ({ left }) => (left > 1 ? [{ left: 1 }] : []),
  }),
  kind<{ times: number; everyMs: number; requests: number }>({
    name: 'others for hours',
    weight: 2,
    draw: (random) => ({
      times: random.between(2, 40),
      everyMs: random.scale(SECOND, 30 * MINUTE),
      requests: random.pick([1, 1, random.scale(1, 50)]),
    }),
    apply: ({ times, everyMs, requests }, world) => spendRepeatedly(world, times, everyMs, requests),
    tell: ({ times, everyMs, requests }) =>
      `other users of the account send ${requests} requests every ${secondsOf(everyMs)}, ${times} times`,
  }),
  kind<{ plan: Plan }>({
    name: 'plan',
    weight: 2,
    draw: (random) => ({ plan: drawPlan(random) }),
    apply: ({ plan }, world) => world.setPlan(plan),
    tell: ({ plan }) => `the plan of the account allows ${planText(plan)} from now on`,
  }),
  kind<{ waitMs: number }>({
    name: 'renewal',
    weight: 2,
    draw: (random) => ({ waitMs: random.pick([0, random.scale(MINUTE, HOUR)]) }),
    apply: ({ waitMs }, world) => {
      if (waitMs > 0) {
        const headers = { 'retry-after': String(Math.ceil(waitMs / SECOND)) };
        world.service.disturbances.refuse({ times: 1, headers, body: 'json' });
      }
      later(world, waitMs, () => {
        world.service.account.renew();
        world.traffic.note({ kind: 'renewal', at: world.clock.now() });
      });
    },
    tell: ({ waitMs }) => {
      const wait = waitMs > 0 ? `the next request is refused for ${secondsOf(waitMs)}, in which ` : '';
      return `${wait}the quota of the account is renewed`;
    },
    simpler: ({ waitMs }) => (waitMs > 0 ? [{ waitMs: 0 }] : []),
  }),
  kind<{ forMs: number; reloadsAfterMs: number; key?: string }>({
    name: 'revocation',
    weight: 2,
    draw: (random) => ({
      forMs: aWhile(random),
      reloadsAfterMs: random.pick([0, 12 * MINUTE, random.scale(SECOND, HOUR)]),
      ...(random.happens(0.4) ? { key: `key-${random.between(0, 3)}` } : {}),
    }),
    apply: ({ forMs, reloadsAfterMs, key }, world) => {
      world.service.account.isRevoked = true;
      if (key !== undefined) {
        later(world, forMs / 2, () => {
          world.service.account.key = key;
          world.configure({ key });
          world.reload();
        });
      }
      later(world, forMs, () => {
        world.service.account.isRevoked = false;
      });
      later(world, forMs + reloadsAfterMs, () => world.reload());
    },
    tell: ({ forMs, reloadsAfterMs, key }) => {
      const another = key === undefined ? '' : ` half of which a reload brings ${key}`;
      return `access is revoked for ${secondsOf(forMs)}${another && `, after${another}`}; a reload comes ${secondsOf(reloadsAfterMs)} after that`;
    },
    simpler: ({ key, ...what }) => (key === undefined ? [] : [what]),
  }),
  kind<{ forMs: number }>({
    name: 'key refused',
    weight: 1,
    draw: (random) => ({ forMs: aWhile(random) }),
    apply: ({ forMs }, world) => {
      const { account } = world.service;
      account.key = 'unknown key';
      later(world, forMs, () => {
        account.key = world.exporter.key;
      });
    },
    tell: ({ forMs }) => `the service refuses the key for ${secondsOf(forMs)}`,
  }),
  kind<{ key: string; lateMs: number }>({
    name: 'another key',
    weight: 2,
    draw: (random) => ({
      key: `key-${random.between(0, 3)}`,
      lateMs: random.pick([0, 0, random.between(-30_000, 30_000), random.scale(SECOND, HOUR)]),
    }),
    apply: ({ key, lateMs }, world) => {
      const service = (): void => {
        world.service.account.key = key;
      };
      const operator = (): void => {
        world.configure({ key });
        world.reload();
      };
      const [first, second] = lateMs < 0 ? [service, operator] : [operator, service];
      first();
      if (lateMs === 0) second();
      else later(world, Math.abs(lateMs), second);
    },
    tell: ({ key, lateMs }) => {
      if (lateMs === 0) return `${key} replaces the key of the account, with a reload`;
      return lateMs < 0
        ? `the service takes only ${key}, and a reload with it comes ${secondsOf(-lateMs)} later`
        : `a reload with ${key} comes ${secondsOf(lateMs)} before the service takes it`;
    },
    simpler: ({ key, lateMs }) => (lateMs === 0 ? [] : [{ key, lateMs: 0 }]),
  }),
  kind<{ endpoints: readonly Endpoint[]; forMs: number }>({
    name: 'forbidden',
    weight: 2,
    draw: (random) => ({
      endpoints: [random.pick(['machine_metrics', 'epoch_slots', ...ENDPOINTS, 'sync_committee_members'])],
      forMs: aWhile(random),
    }),
    apply: ({ endpoints, forMs }, world) => {
      const { forbidden } = world.service.account;
      for (const endpoint of endpoints) forbidden.add(endpoint);
      later(world, forMs, () => {
        for (const endpoint of endpoints) forbidden.delete(endpoint);
      });
    },
    tell: ({ endpoints, forMs }) => `the plan does not include ${endpoints.join(', ')} for ${secondsOf(forMs)}`,
  }),
];
