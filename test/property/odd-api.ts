import * as fc from 'fast-check';
import { type Api, createApi } from '../../src/api/client.ts';
import type { WireRequest } from '../../src/api/transport.ts';
import type { Clock } from '../../src/lib/clock.ts';
import { bodyOf } from '../support/body.ts';
import { oddHeaders } from './odd-headers.ts';
import { type Spoil, spoil } from './odd-json.ts';

/** What becomes of one request; undefined: the good answer. */
export type Fault =
  | { readonly status: number; readonly headers: Record<string, string>; readonly spoil: Spoil }
  | undefined;

const status = fc.oneof(
  { weight: 8, arbitrary: fc.constant(200) },
  { weight: 1, arbitrary: fc.constantFrom(201, 204, 301, 302, 400, 401, 403, 404, 405, 418, 429, 500, 502, 503, 599) },
);

export const fault: fc.Arbitrary<Fault> = fc.oneof(
  { weight: 1, arbitrary: fc.constant(undefined) },
  { weight: 3, arbitrary: fc.record({ status, headers: oddHeaders, spoil }) },
);

/** Time that is always over. */
const HASTY: Clock = { now: () => 0, monotonic: () => 0, sleep: async () => undefined };

/**
 * The real client over a wire that answers with what `good` gives for the path, spoilt by the faults in their order; the
 * requests after the last fault get what is good.
 */
export function oddApi(good: (path: string) => unknown, faults: readonly Fault[] = []): Api {
  let requests = 0;
  const transport = async ({ path }: WireRequest) => {
    const fault = faults[requests];
    requests += 1;
    const body = good(path) ?? null;
    return {
      status: fault?.status ?? (body === null ? 400 : 200),
      headers: fault?.headers ?? {},
      body: () => bodyOf(fault ? fault.spoil(body) : JSON.stringify(body)),
      discard: () => undefined,
    };
  };
  return createApi(
    { baseUrl: 'http://v2', v1BaseUrls: { mainnet: 'http://v1' }, key: 'k', userAgent: 'test' },
    {
      transport,
      clock: HASTY,
      random: () => 0,
      budget: { acquire: async () => ({ release: () => undefined }) },
      observer: {
        requested: () => undefined,
        failed: () => undefined,
        took: () => undefined,
        invalidRecords: () => undefined,
      },
    },
  );
}
