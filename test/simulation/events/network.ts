import { ENDPOINTS, type Endpoint } from '../../../src/api/errors.ts';
import { HOUR, MINUTE, SECOND } from '../../support/timing.ts';
import type { Random } from '../random.ts';
import { BODY_FAULTS, type BodyFault, type Outage } from '../service/disturbances.ts';
import type { NetworkFaults } from '../service/network.ts';
import { kind } from './kind.ts';
import { anyHost } from './process.ts';
import { secondsOf } from './words.ts';

const DATE = 'date';

function aWhile(random: Random): number {
  return random.pick([random.scale(SECOND, MINUTE), random.scale(MINUTE, 30 * MINUTE), random.scale(MINUTE, 6 * HOUR)]);
}

/** A wait as a header names it, or something that is none. `date 300`: the HTTP date in 300 s. */
function aWait(random: Random): string {
  const seconds = random.pick([random.between(1, 5), random.scale(1, 600), random.scale(60, 4 * 3_600)]);
  return random.pick([
    String(seconds),
    String(seconds),
    String(seconds),
    '0',
    `${seconds}.5`,
    '0.4',
    `${DATE} ${seconds}`,
    '-5',
    'soon',
    '',
    '99999999999',
    '1e3',
  ]);
}

function waitHeaders(random: Random): Record<string, string> {
  const headers: Record<string, string> = {};
  if (random.happens(0.6)) headers['ratelimit-reset'] = aWait(random);
  if (random.happens(0.6)) headers['retry-after'] = aWait(random);
  return headers;
}

/** HTTP dates are written when they are sent. */
function dated(headers: Readonly<Record<string, string>>, now: number): Record<string, string> {
  const written = (text: string): string =>
    text.startsWith(DATE) ? new Date(now + 1_000 * Number(text.slice(DATE.length))).toUTCString() : text;
  return Object.fromEntries(Object.entries(headers).map(([name, text]) => [name, written(text)]));
}

/** What happens between the processes and the service. */
export const NETWORK_KINDS = [
  kind<Omit<Outage, 'until'> & { forMs: number }>({
    name: 'outage',
    weight: 3,
    draw: (random) => ({
      forMs: aWhile(random),
      status: random.pick([500, 502, 503, 520]),
      body: random.pick(['json', 'text', 'html', 'none']),
      ...(random.happens(0.3) ? { retryAfter: aWait(random) } : {}),
    }),
    apply: ({ forMs, ...outage }, world) =>
      world.service.disturbances.begin({ ...outage, until: world.clock.now() + forMs }),
    tell: ({ forMs, status, body, retryAfter }) =>
      `the service answers ${status} (${body}${retryAfter === undefined ? '' : `, retry-after: ${retryAfter}`}) for ${secondsOf(forMs)}`,
    simpler: ({ retryAfter, ...what }) => (retryAfter === undefined ? [] : [what]),
  }),
  kind<{ times: number; headers: Readonly<Record<string, string>>; body: 'json' | 'text' }>({
    name: '429',
    weight: 4,
    draw: (random) => ({
      times: random.pick([1, 1, random.between(2, 6)]),
      headers: waitHeaders(random),
      body: random.pick(['json', 'text']),
    }),
    apply: ({ times, headers, body }, world) =>
      world.service.disturbances.refuse({ times, headers: dated(headers, world.clock.now()), body }),
    tell: ({ times, headers }) => `the next ${times} requests are refused with 429 ${JSON.stringify(headers)}`,
    simpler: ({ times, ...what }) => (times > 1 ? [{ ...what, times: 1 }] : []),
  }),
  kind<{ how: BodyFault; times: number; endpoint?: Endpoint }>({
    name: 'bodies',
    weight: 2,
    draw: (random) => ({
      how: BODY_FAULTS[random.between(0, BODY_FAULTS.length - 1)] ?? 'truncated',
      times: random.between(1, 10),
      ...(random.happens(0.5) ? { endpoint: ENDPOINTS[random.between(0, ENDPOINTS.length - 1)] ?? 'epoch_slots' } : {}),
    }),
    apply: (what, world) => world.service.disturbances.spoil(what),
    tell: ({ how, times, endpoint = 'any endpoint' }) => `the next ${times} bodies of ${endpoint} are spoilt: ${how}`,
  }),
  kind<{ faults: Partial<NetworkFaults>; forMs: number }>({
    name: 'network faults',
    weight: 4,
    draw: (random) => {
      const share = random.pick([0.02, 0.2, 0.5]);
      const what = random.pick(['lostBefore', 'lostAfter', 'reset', 'slow', 'brokenBody', 'stalledBody']);
      return { faults: { [what]: share }, forMs: aWhile(random) };
    },
    apply: ({ faults, forMs }, world) => world.network.disturb(faults, world.clock.now() + forMs),
    tell: ({ faults, forMs }) => `the network has ${JSON.stringify(faults)} for ${secondsOf(forMs)}`,
  }),
  kind<{ forMs: number; how: 'refused' | 'silent'; host?: string }>({
    name: 'cut off',
    weight: 2,
    draw: (random, setting) => ({
      forMs: aWhile(random),
      how: random.pick(['refused', 'silent']),
      ...(random.happens(0.5) ? { host: anyHost(random, setting) } : {}),
    }),
    apply: ({ forMs, how, host }, world) => world.network.cut(world.clock.now() + forMs, how, host),
    tell: ({ forMs, how, host = 'everyone' }) => `${host} does not reach the service for ${secondsOf(forMs)} (${how})`,
  }),
];
