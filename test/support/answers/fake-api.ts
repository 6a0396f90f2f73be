import type { Api } from '../../../src/api/client.ts';
import type { ApiRequest } from '../../../src/api/endpoints.ts';
import { type FailureReason, RequestFailed } from '../../../src/api/errors.ts';
import { expectReadable, readAnswer, readRecords } from '../../../src/api/reading.ts';
import { Refusal } from '../../../src/sandbox/refusal.ts';
import type { Sandbox } from '../../../src/sandbox/world.ts';
import { refusalOf, saidBy } from './known-request.ts';

/** A request as the service sees it. */
export type SentRequest = Omit<ApiRequest, 'envelope'>;

export interface FakeApi extends Api {
  /** Its time, Unix ms. Until the first `round` it is after everything. */
  at: number;
  /** All requests, in order. */
  readonly requests: SentRequest[];
  /** The number of records that could not be read. */
  invalidRecords(): number;
}

const REASONS: Readonly<Record<number, FailureReason>> = { 403: 'forbidden', 404: 'not_found' };

/**
 * The typed fake of the service, for unit tests without HTTP. It refuses a request that the service does not know. `answer`
 * returns the body for a request, or throws. The body passes through JSON, so that a field with `undefined` is absent, as
 * on the wire.
 */
export function fakeApi(answer: (request: SentRequest) => unknown): FakeApi {
  const requests: SentRequest[] = [];
  let invalid = 0;
  const api: FakeApi = {
    at: Number.MAX_SAFE_INTEGER,
    now: () => api.at,
    fastMs: () => 0,
    requests,
    invalidRecords: () => invalid,

    async request<A>({ envelope, ...request }: ApiRequest<A>, signal: AbortSignal): Promise<A> {
      signal.throwIfAborted();
      requests.push(structuredClone(request));
      const { path, body, accept } = request;
      const refusal = refusalOf({ path, body: JSON.stringify(body), accept });
      const answered = refusal ?? (await orRefusal(() => answer(request)));
      if (answered instanceof Refusal) throw failed(request, REASONS[answered.status] ?? 'bad_request');
      const { value, odd } = readAnswer(envelope, JSON.parse(JSON.stringify(answered)));
      if (value === undefined) throw new RequestFailed(request.endpoint, 'invalid_body', 'unexpected shape');
      if (odd) invalid += 1;
      return value;
    },

    records(endpoint, record, items, isPlausible) {
      const read = api.recordsInPart(endpoint, record, items, isPlausible);
      expectReadable(endpoint, { count: read.count, unreadable: read.count - read.records.length });
      return read.records;
    },

    recordsInPart(_endpoint, record, items, isPlausible) {
      const read = readRecords(record, items, isPlausible);
      invalid += read.invalid;
      return read;
    },
  };
  return api;
}

async function orRefusal(answer: () => unknown): Promise<unknown> {
  try {
    return await answer();
  } catch (error) {
    if (error instanceof Refusal) return error;
    throw error;
  }
}

/** A service that is this world, at the time of the api. `fault`: an error, or the answer in place of that of the world. */
export function apiOf(sandbox: Sandbox, fault: (request: SentRequest) => unknown = () => undefined): FakeApi {
  const api = fakeApi((request) => {
    const instead = fault(request);
    if (instead instanceof Error) throw instead;
    return instead ?? saidBy(sandbox, { ...request, body: JSON.stringify(request.body) }, api.at);
  });
  return api;
}

/** The failure of a request, as the client throws it. */
export function failed(request: SentRequest, reason: FailureReason): RequestFailed {
  return new RequestFailed(request.endpoint, reason, 'made up');
}

/** An answer that is always this failure. */
export function failing(reason: FailureReason): (request: SentRequest) => never {
  return (request) => {
    throw failed(request, reason);
  };
}

/** A service that gives one body to every request. */
export function answering(body: unknown): FakeApi {
  return fakeApi(() => body);
}
