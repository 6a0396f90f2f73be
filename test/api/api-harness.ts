import * as z from 'zod';
import { createApi } from '../../src/api/client.ts';
import type { ApiRequest } from '../../src/api/endpoints.ts';
import { RequestFailed } from '../../src/api/errors.ts';
import type { Transport, WireRequest } from '../../src/api/transport.ts';
import { emptyLedger, opensAt } from '../../src/budget/ledger.ts';
import { RateLimiter } from '../../src/budget/rate-limiter.ts';
import { NOW } from '../support/time/timing.ts';
import { VirtualClock } from '../support/time/virtual-clock.ts';

export const KEY = 'S3cr3t-K3y';
export const V2_URL = 'https://api.test/api/v2/machine-metrics';
export const V1_URL = 'https://hoodi.test/prefix/api/v1/epoch/latest/slots';

export const V2_REQUEST: ApiRequest = {
  endpoint: 'machine_metrics',
  priority: 'fleet',
  path: '/api/v2/machine-metrics',
  body: { range: { timestamp: { start: 1, end: 2 } }, cursor: 'ü"/', page_size: 10 },
  envelope: z.object({ data: z.object({ system_metrics: z.array(z.unknown()) }) }),
};

export const V1_REQUEST: ApiRequest = {
  endpoint: 'epoch_slots',
  priority: 'head_pass',
  chain: 'hoodi',
  path: '/api/v1/epoch/latest/slots',
  envelope: z.object({ status: z.string(), data: z.array(z.unknown()) }),
};

/** A request in the form that the client hands to the transport. */
export function get(base: string, rest: Partial<WireRequest> = {}): WireRequest {
  return { endpoint: 'epoch_slots', base, path: '/x', method: 'GET', headers: { apikey: 'secret' }, ...rest };
}

/** The real client and rate limiter on a virtual clock, with a log of the observer's calls. */
export function apiHarness(transport: Transport, start = NOW) {
  const clock = new VirtualClock(start);
  const rateLimiter = new RateLimiter({ utilization: 1 }, { clock, ledger: emptyLedger() });
  const log: string[] = [];
  const answered = (date: number, tookMs: number) => log.push(`date ${new Date(date).toISOString()} ${tookMs}`);
  const api = createApi(
    () => ({
      baseUrl: 'https://api.test',
      v1BaseUrls: { mainnet: 'https://api.test', hoodi: 'https://hoodi.test/prefix' },
      key: KEY,
      userAgent: 'beaconchain-exporter/1.2.3',
    }),
    {
      budget: rateLimiter,
      transport,
      clock: Object.assign(clock, { answered }),
      random: () => 0.5,
      observer: {
        requested: (endpoint) => log.push(`requested ${endpoint}`),
        failed: (failure) => log.push(`failed ${failure.endpoint} ${failure.reason}`),
        took: (endpoint, seconds) => log.push(`took ${endpoint} ${seconds}`),
        invalidRecords: (endpoint, count) => log.push(`invalid ${endpoint} ${count}`),
      },
    },
  );
  /** When the next v2 request may leave, Unix ms. */
  const opens = () =>
    opensAt(rateLimiter.settleLedger(), 'machine_metrics https://api.test', { utilization: 1 }, clock.now());
  return { api, clock, rateLimiter, log, opensAt: opens };
}

/** The failure of a request. @throws if the request succeeds */
export async function failureOf(promise: Promise<unknown>): Promise<RequestFailed> {
  const error = await promise.then(
    () => new Error('it did not fail'),
    (reason: unknown) => reason,
  );
  if (error instanceof RequestFailed) return error;
  throw error;
}
