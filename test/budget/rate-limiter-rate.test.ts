import { describe, expect, it } from 'vitest';
import { emptyLedger } from '../../src/budget/ledger.ts';
import { BudgetClosed } from '../../src/budget/permit.ts';
import { RateLimiter } from '../../src/budget/rate-limiter.ts';
import type { Clock } from '../../src/toolkit/lib/clock.ts';
import { unit } from '../../src/toolkit/lib/random.ts';
import { NOW, noSignal } from '../support/time/timing.ts';
import { VirtualClock } from '../support/time/virtual-clock.ts';
import { bucket } from './queue.ts';

interface Service {
  /** When a window of one second begins: at each whole second, or with the first request after the last window. */
  readonly windows: 'aligned' | 'opened_by_request';
  readonly seed: number;
  /** Requests per second by bucket. */
  readonly limits: Readonly<Record<string, number>>;
  readonly bucketOf?: (route: string) => string;
  /** Another client uses up this share of the windows. */
  readonly neighbour?: number;
  /** `ratelimit-reset` of a 429, one after the other. */
  readonly resets?: readonly string[];
}

interface Backlog extends Service {
  readonly seconds: number;
  readonly utilization: number;
  readonly routes?: readonly string[];
}

/** Counts requests as the service does: in windows of one second per bucket, with refused ones (api-facts 6.1). */
function windowServer(clock: Clock, options: Service) {
  const { windows, seed, limits, bucketOf = () => 'default', neighbour = 0, resets = ['1'] } = options;
  const open = new Map<string, { start: number; count: number }>();
  let draws = 0;
  const random = (): number => unit(seed, ++draws);
  /** When each request was counted, monotonic ms. */
  const arrivals: number[] = [];
  const server = { arrivals, refused: 0, exchange };
  return server;

  /** One request of 20 to 400 ms. The service counts it at a random time between start and end. */
  async function exchange(route: string) {
    const latency = 20 + 380 * random();
    const there = latency * random();
    await clock.sleep(there);
    const head = count(bucketOf(route));
    await clock.sleep(latency - there);
    return head;
  }

  function count(name: string) {
    const limit = limits[name] ?? 0;
    const window = windowOf(name, limit);
    window.count += 1;
    arrivals.push(clock.monotonic());
    const headers = bucket(name, limit);
    if (window.count <= limit) return { status: 200, headers };
    server.refused += 1;
    return { status: 429, headers: { ...headers, 'ratelimit-reset': resets[server.refused % resets.length] ?? '1' } };
  }

  function windowOf(name: string, limit: number) {
    const now = clock.now();
    const last = open.get(name);
    if (last && now < last.start + 1_000) return last;
    const isTaken = neighbour > 0 && random() < neighbour;
    const window = { start: windows === 'aligned' ? Math.floor(now / 1_000) * 1_000 : now, count: isTaken ? limit : 0 };
    open.set(name, window);
    return window;
  }
}

/** Keeps more requests waiting on each route than may leave, for `seconds`. */
async function backlog({ seconds, utilization, routes = ['any'], ...options }: Backlog) {
  const clock = new VirtualClock(NOW + 137);
  const server = windowServer(clock, options);
  const rateLimiter = new RateLimiter({ utilization }, { clock, ledger: emptyLedger() });
  async function work(route: string): Promise<never> {
    for (;;) {
      try {
        const permit = await rateLimiter.acquire({ route, priority: 'fleet' }, noSignal());
        permit.release(await server.exchange(route));
      } catch (error) {
        if (!(error instanceof BudgetClosed)) throw error;
        await clock.sleep(error.until - clock.now());
      }
    }
  }
  const workers = 2 * Math.max(...Object.values(options.limits));
  for (const route of routes) for (let i = 0; i < workers; i += 1) void work(route);
  await clock.advance(seconds * 1_000);
  return { server, ledger: rateLimiter.settleLedger() };
}

const WINDOWS = ['aligned', 'opened_by_request'] as const;

describe('budget/rateLimiter: rate', () => {
  describe.each(WINDOWS)('with windows %s', (windows) => {
    it.each([
      { limit: 1, seconds: 900 },
      { limit: 2, seconds: 450 },
      { limit: 5, seconds: 200 },
      { limit: 50, seconds: 30 },
    ])(
      'spends at least 90 % of 0.9 x $limit/s under a backlog, and never more than $limit',
      async ({ limit, seconds }) => {
        const run = await backlog({ windows, seed: limit, limits: { default: limit }, seconds, utilization: 0.9 });
        expect(run.server.refused).toBe(0);
        const ratio = run.server.arrivals.length / (seconds * limit * 0.9);
        expect(ratio).toBeGreaterThanOrEqual(0.9);
        expect(ratio).toBeLessThanOrEqual(1);
      },
    );
  });

  it.each([
    { neighbour: 0.9, resets: ['1'], longestGap: 3 },
    { neighbour: 0.8, resets: ['1', '0'], longestGap: 3 },
    { neighbour: 0.3, resets: ['0'], longestGap: 300 },
  ])('another client that uses up many seconds does not silence us: %j', async ({ longestGap, ...busy }) => {
    const options = { windows: 'aligned', seed: 1, limits: { default: 1 }, utilization: 0.9 } as const;
    const { arrivals } = (await backlog({ ...options, ...busy, seconds: 7_200 })).server;
    const gaps = arrivals.slice(1).map((at, i) => (at - (arrivals[i] ?? at)) / 1_000);
    expect(Math.max(...gaps)).toBeLessThan(longestGap);
  });

  it.each(WINDOWS)('exceeds no bucket while it learns which route draws from which, windows %s', async (windows) => {
    // A legacy plan: v1 and v2 apart, v2 at one a second (api-facts 6.2).
    const bucketOf = (route: string): string => (route.startsWith('v1') ? 'default' : 'oldsubnewapi');
    const routes = ['v1 slots', 'v2 machines', 'v2 returns', 'v1 slashings', 'v2 sync'];
    for (let seed = 1; seed <= 5; seed += 1) {
      const limits = { default: 5, oldsubnewapi: 1 };
      const run = await backlog({ windows, seed, limits, bucketOf, routes, seconds: 60, utilization: 0.9 });
      expect(run.server.refused).toBe(0);
      expect(run.ledger.routes).toEqual(Object.fromEntries(routes.map((route) => [route, bucketOf(route)])));
    }
  });
});
