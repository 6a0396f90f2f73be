import type * as z from 'zod';
import { isRevoked, readHeaders, sentAtOf } from '../budget/headers.ts';
import type { Budget } from '../budget/permit.ts';
import type { Chain } from '../facts/chain.ts';
import type { Clock } from '../toolkit/lib/clock.ts';
import { MS_PER_HOUR } from '../toolkit/lib/duration.ts';
import type { Milliseconds, Seconds, UnixMs } from '../toolkit/lib/time.ts';
import { isOfService, mediaTypeOf, readBody } from './body.ts';
import { type ApiRequest, ENDPOINTS, type Endpoint } from './endpoints.ts';
import { type FailureReason, RequestFailed } from './errors.ts';
import { expectReadable, type Odd, type Records, readAnswer, readRecords } from './reading.ts';
import type { ServiceClock } from './service-clock.ts';
import { timesIn } from './times.ts';
import type { Answer, Transport, WireRequest } from './transport.ts';

/** The service as the sources use it. */
export interface Api {
  /** Unix ms. Judge a response by the time after it, because the response can show that our clock was wrong. */
  now(): UnixMs;
  /** How far `now` is ahead of the service's clock. 0 if it is not ahead, or no recent response shows it. */
  fastMs(): Milliseconds;
  /**
   * Sends the request as soon as the budget allows and reads the body with its envelope.
   * @throws RequestFailed when the request was sent and failed; BudgetClosed when it may not be sent for a long time.
   */
  request<A>(request: ApiRequest<A>, signal: AbortSignal): Promise<A>;
  /**
   * Reads the records of a list field by field. Counts a record with an odd field once, and keeps its other fields. Counts and drops
   * an implausible record; `isPlausible` is no part of the schema, because it depends on the time and zod compiles every new schema.
   * @throws RequestFailed if the list has records, and none is readable and plausible
   */
  records<S extends z.ZodType>(
    endpoint: Endpoint,
    record: S,
    items: readonly unknown[],
    isPlausible?: (record: z.output<S>) => boolean,
  ): readonly z.output<S>[];
  /** The same for one of several lists of a page. Does not throw, because another list may be readable. */
  recordsInPart<S extends z.ZodType>(
    endpoint: Endpoint,
    record: S,
    items: readonly unknown[],
    isPlausible?: (record: z.output<S>) => boolean,
  ): Records<z.output<S>>;
}

export interface ApiObserver {
  requested(endpoint: Endpoint): void;
  failed(failure: RequestFailed): void;
  took(endpoint: Endpoint, seconds: Seconds): void;
  /** Records with an odd field, and dropped records. */
  invalidRecords(endpoint: Endpoint, count: number): void;
}

export interface ApiOptions {
  readonly baseUrl: string;
  readonly v1BaseUrls: Readonly<Partial<Record<Chain, string>>>;
  /** Undefined if requests have no key. */
  readonly key: string | undefined;
  readonly userAgent: string;
}

export interface ApiDependencies {
  readonly budget: Budget;
  readonly transport: Transport;
  /** Absent in commands that show no metrics. */
  readonly observer?: ApiObserver | undefined;
  /** Called for an unreadable field of a record or response. */
  readonly onOdd?: ((endpoint: Endpoint, odd: Odd) => void) | undefined;
  /** A `ServiceClock` receives the `Date` of each response, and the times in it. */
  readonly clock: Clock & Partial<Pick<ServiceClock, 'answered' | 'contains' | 'correctionMs' | 'fastMs'>>;
  /** In [0, 1), for the jitter between retries. */
  readonly random: () => number;
}

/** @param currentOptions Called for each attempt, because a reload can change the options during a run */
export function createApi(currentOptions: () => ApiOptions, dependencies: ApiDependencies): Api {
  const { budget, transport, observer, onOdd, clock, random } = dependencies;

  async function attempt<A>(request: ApiRequest<A>, signal: AbortSignal): Promise<A> {
    const { endpoint, envelope, priority } = request;
    const options = currentOptions();
    const wire = wireRequest(options, request);
    const { release } = await budget.acquire({ route: routeOf(options, request), priority }, signal);
    return observed(endpoint, async () => {
      const exchanged = exchange(wire, signal);
      // Only a response of the service says something about the account.
      await release(await exchanged.catch(() => undefined));
      const answer = expectOk(endpoint, await exchanged);
      const { value, odd } = readAnswer(envelope, await readBody(endpoint, answer.body()));
      if (value === undefined)
        throw new RequestFailed(endpoint, 'invalid_body', `unexpected shape at ${odd?.place || 'body'}`);
      clock.contains?.(timesIn(request, value));
      noteInvalid(endpoint, odd ? 1 : 0, odd);
      return value;
    });
  }

  /** Sends a request. Returns the head of the response. @throws RequestFailed if the response is not from the service */
  async function exchange(wire: WireRequest, signal: AbortSignal): Promise<Answer> {
    const start = clock.monotonic();
    const answer = await transport(wire, signal);
    const tookMs = clock.monotonic() - start;
    const isOwn = await isOfService(wire.endpoint, answer);
    if (answer.status !== 200) answer.discard();
    if (!isOwn) throw foreignAnswer(wire.endpoint, answer, clock.now());
    const date = sentAtOf(answer.headers);
    // A server error can come from a local proxy, which has our own clock.
    if (answer.status < 500 && date !== undefined) clock.answered?.(date, tookMs);
    return answer;
  }

  async function observed<A>(endpoint: Endpoint, run: () => Promise<A>): Promise<A> {
    const start = clock.monotonic();
    observer?.requested(endpoint);
    try {
      return await run();
    } catch (error) {
      if (error instanceof RequestFailed) observer?.failed(error);
      throw error;
    } finally {
      observer?.took(endpoint, (clock.monotonic() - start) / 1000);
    }
  }

  async function retried<A>(run: () => Promise<A>, signal: AbortSignal): Promise<A> {
    let last: RequestFailed | undefined;
    for (let failures = 1; ; failures += 1) {
      try {
        return await run();
      } catch (error) {
        if (signal.aborted) throw error;
        // Reports the last failure, and why no attempt follows.
        if (!(error instanceof RequestFailed)) throw last ? withoutRetry(last, error) : error;
        last = error;
        const delay = retryDelay(error.reason, failures, random());
        if (delay === undefined) throw error;
        await clock.sleep(delay, signal);
      }
    }
  }

  const recordsInPart: Api['recordsInPart'] = (endpoint, record, items, isPlausible) => {
    const read = readRecords(record, items, isPlausible);
    noteInvalid(endpoint, read.invalid, read.odd);
    return read;
  };

  function noteInvalid(endpoint: Endpoint, count: number, odd: Odd | undefined): void {
    if (count > 0) observer?.invalidRecords(endpoint, count);
    if (odd) onOdd?.(endpoint, odd);
  }

  return {
    now: () => clock.now(),
    fastMs: () => clock.fastMs?.() ?? 0,
    request: (request, signal) => retried(() => attempt(request, signal), signal),

    records(endpoint, record, items, isPlausible) {
      const read = recordsInPart(endpoint, record, items, isPlausible);
      expectReadable(endpoint, { count: read.count, unreadable: read.count - read.records.length });
      return read.records;
    },
    recordsInPart,
  };
}

/** Hides the key in the headers, which a proxy may repeat and the probe shows. A short text is no key. */
export function withoutKey(answer: Answer, key: string): Answer {
  if (key.length < 8) return answer;
  const written = new RegExp(RegExp.escape(JSON.stringify(key).slice(1, -1)), 'gi');
  return { ...answer, headers: JSON.parse(JSON.stringify(answer.headers).replaceAll(written, 'API-KEY-HIDDEN')) };
}

const REASONS: Readonly<Record<number, FailureReason>> = {
  400: 'bad_request',
  401: 'unauthorized',
  403: 'forbidden',
  404: 'not_found',
  405: 'method_not_allowed',
  410: 'not_found',
  429: 'rate_limited',
};

/** @throws RequestFailed unless the status is 200. Status and headers decide, never the body (api-facts 7.3). */
function expectOk(endpoint: Endpoint, answer: Answer): Answer {
  const { status, headers } = answer;
  if (status === 200) return answer;
  const usual = status >= 500 ? 'server_error' : (REASONS[status] ?? 'unexpected_status');
  const reason = isRevoked(status, headers) ? 'revoked' : usual;
  throw new RequestFailed(endpoint, reason, `status ${status}`);
}

/** The longest `retry-after` to believe from anything but the service. */
const MAX_FOREIGN_WAIT_MS = MS_PER_HOUR;

/** The failure if a CDN or a proxy responds instead of the service, which will pass (api-facts 7.3). */
function foreignAnswer(endpoint: Endpoint, answer: Answer, now: UnixMs): RequestFailed {
  const detail = `status ${answer.status}, ${mediaTypeOf(answer)}, not from the service`;
  const waitMs = (readHeaders(answer.headers, now).resetSeconds ?? 0) * 1000;
  return new RequestFailed(endpoint, 'unexpected_status', detail, waitMs <= MAX_FOREIGN_WAIT_MS ? waitMs : 0);
}

const MAX_RETRIES = 2;
const FIRST_BACKOFF_MS = 1_000;

/**
 * How long to wait before the next attempt. Undefined if another attempt cannot help. `failures` includes this one;
 * `random` in [0, 1) spreads the callers ("equal jitter": at least half the backoff). After a 429 the budget decides: it keeps
 * the bucket closed until the reset.
 */
function retryDelay(reason: FailureReason, failures: number, random: number): Milliseconds | undefined {
  if (failures > MAX_RETRIES) return undefined;
  switch (reason) {
    case 'network':
    case 'timeout':
    case 'server_error':
      return FIRST_BACKOFF_MS * 2 ** (failures - 1) * (0.5 + random / 2);
    case 'rate_limited':
      return 0;
    default:
      return undefined;
  }
}

/** The failure, with the reason why no attempt follows, such as a closed budget. */
function withoutRetry(failure: RequestFailed, error: unknown): RequestFailed {
  const why = error instanceof Error ? error.message : String(error);
  failure.message = `${failure.message}, not repeated: ${why}`;
  return failure;
}

/** The route of a request in the budget: limits can differ by endpoint and by host. */
export function routeOf(options: ApiOptions, { endpoint, chain }: Pick<ApiRequest, 'endpoint' | 'chain'>): string {
  return `${endpoint} ${baseOf(options, endpoint, chain)}`;
}

function baseOf({ baseUrl, v1BaseUrls }: ApiOptions, endpoint: Endpoint, chain: Chain | undefined): string {
  const base = ENDPOINTS[endpoint].body ? baseUrl : chain && v1BaseUrls[chain];
  if (base === undefined) throw new TypeError(`no v1 host for chain ${chain}`);
  return base;
}

export function wireRequest(options: ApiOptions, { endpoint, path, body, accept, chain }: ApiRequest): WireRequest {
  const to = { endpoint, base: baseOf(options, endpoint, chain), path };
  const headers = { accept: accept ?? 'application/json', 'user-agent': options.userAgent };
  const { key } = options;
  if (!body) return { ...to, method: 'GET', headers: { ...headers, ...(key !== undefined && { apikey: key }) } };
  const authorization = key !== undefined && { authorization: `Bearer ${key}` };
  const posted = { ...headers, ...authorization, 'content-type': 'application/json' };
  return { ...to, method: 'POST', headers: posted, body: JSON.stringify(body) };
}
