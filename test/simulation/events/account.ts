import { ENDPOINT_NAMES, type Endpoint } from '../../../src/api/endpoints.ts';
import { type AccountLimits, limitsOf } from '../../../src/sandbox/account.ts';
import { HOUR, MINUTE, SECOND } from '../../support/time/timing.ts';
import type { Random } from '../random.ts';
import { BODY_FAULTS, type BodyFault, type Outage } from '../service/disturbances.ts';
import type { NetworkFaults } from '../service/network.ts';
import { drawPlan } from '../service/setting.ts';
import type { Setting } from '../story.ts';
import type { World } from '../world.ts';
import { aWhile, kind, later } from './kind.ts';

function aBurst(random: Random, { service: { plan } }: Setting): number {
  const { perSecond, perMonth = 100 * perSecond } = plan;
  return random.pick([1, perSecond, random.scale(1, perMonth), Math.round(perMonth * random.unit())]);
}

/** A wait as a header names it, or an invalid value. `date 300`: the HTTP date in 300 s. */
function aWait(random: Random): string {
  const seconds = random.pick([random.between(1, 5), random.scale(1, 600), random.scale(60, 4 * 3_600)]);
  const odd = [`${seconds}.5`, '0', '0.4', '-5', 'soon', '', '99999999999', '1e3'] as const;
  return random.pick([String(seconds), String(seconds), `date ${seconds}`, random.pick(odd)]);
}

/** HTTP dates are written when they are sent. */
function dated(text: string, now: number): string {
  return text.startsWith('date') ? new Date(now + SECOND * Number(text.slice('date'.length))).toUTCString() : text;
}

function spendRepeatedly(world: World, left: number, everyMs: number, requests: number): void {
  if (left <= 0) return;
  world.spend(requests);
  later(world, everyMs, () => spendRepeatedly(world, left - 1, everyMs, requests));
}

/** What happens to the account, to the service, and on the way there. */
export const ACCOUNT_KINDS = [
  kind<{ requests: number }>({
    name: 'others at once',
    weight: 2,
    draw: (random, setting) => ({ requests: aBurst(random, setting) }),
    apply: ({ requests }, world) => world.spend(requests),
  }),
  kind<{ left: number }>({
    name: 'others leave little',
    weight: 3,
    // So many would use up an hour of another plan.
    draw: (random, { service: { plan } }) =>
      plan.perMonth === undefined || plan.perHour !== undefined ? undefined : { left: random.between(0, 12) },
    apply: ({ left }, world) => {
      const { perMonth = 0, perHour } = limitsOf(world.service.account.plan);
      const unused = perMonth - world.service.usedOfMonth(world.clock.now());
      if (unused > left && perHour === undefined) world.spend(unused - left);
    },
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
  }),
  kind<{ plan: AccountLimits }>({
    name: 'plan',
    weight: 2,
    draw: (random) => ({ plan: drawPlan(random) }),
    apply: ({ plan }, world) => world.setPlan(plan),
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
      const { account } = world.service;
      account.isRevoked = true;
      if (key !== undefined) later(world, forMs / 2, () => world.giveAnotherKey(key));
      later(world, forMs, () => {
        account.isRevoked = false;
      });
      later(world, forMs + reloadsAfterMs, () => world.reload());
    },
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
      later(world, Math.abs(lateMs), second);
    },
  }),
  kind<Omit<Outage, 'until'> & { forMs: number }>({
    name: 'outage',
    weight: 3,
    draw: (random) => ({
      forMs: aWhile(random),
      // A 403 with JSON would be the service's own.
      ...random.pick<Pick<Outage, 'status' | 'body'>>([
        { status: 403, body: 'html' },
        { status: random.pick([500, 502, 503, 520]), body: random.pick(['json', 'html', 'none']) },
        { status: random.pick([500, 502, 503, 520]), body: random.pick(['json', 'html', 'none']) },
      ]),
      ...(random.happens(0.3) ? { retryAfter: aWait(random) } : {}),
    }),
    apply: ({ forMs, ...outage }, { service, clock }) =>
      service.disturbances.begin({ ...outage, until: clock.now() + forMs }),
  }),
  kind<{ times: number; reset?: string; after?: string }>({
    name: '429',
    weight: 4,
    draw: (random) => ({
      times: random.pick([1, 1, random.between(2, 6)]),
      ...(random.happens(0.6) ? { reset: aWait(random) } : {}),
      ...(random.happens(0.6) ? { after: aWait(random) } : {}),
    }),
    apply: ({ times, reset, after }, { service, clock }) => {
      const named = (name: string, text: string | undefined): Record<string, string> =>
        text === undefined ? {} : { [name]: dated(text, clock.now()) };
      const headers = { ...named('ratelimit-reset', reset), ...named('retry-after', after) };
      service.disturbances.refuse({ times, headers });
    },
  }),
  kind<{ how: BodyFault; times: number; endpoint?: Endpoint }>({
    name: 'bodies',
    weight: 2,
    draw: (random) => ({
      how: random.pick(BODY_FAULTS),
      times: random.between(1, 10),
      ...(random.happens(0.5) ? { endpoint: random.pick(ENDPOINT_NAMES) } : {}),
    }),
    apply: ({ how, times, endpoint }, { service }) => service.disturbances.spoil(how, times, endpoint),
  }),
  kind<{ faults: Partial<NetworkFaults>; forMs: number }>({
    name: 'network faults',
    weight: 4,
    draw: (random) => {
      const share = random.pick([0.02, 0.2, 0.5]);
      const what = random.pick(['lostBefore', 'lostAfter', 'reset', 'slow', 'brokenBody', 'stalledBody']);
      return { faults: { [what]: share }, forMs: aWhile(random) };
    },
    apply: ({ faults, forMs }, { network, clock }) => network.disturb(faults, clock.now() + forMs),
  }),
  kind<{ forMs: number; how: 'refused' | 'silent' }>({
    name: 'cut off',
    weight: 2,
    draw: (random) => ({ forMs: aWhile(random), how: random.pick(['refused', 'silent']) }),
    apply: ({ forMs, how }, { network, clock }) => network.cut(clock.now() + forMs, how),
  }),
];
