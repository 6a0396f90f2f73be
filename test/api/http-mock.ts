import nock from 'nock';
import { afterEach, beforeEach, expect } from 'vitest';

/** A request on the wire. */
export interface SeenRequest {
  readonly method: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

export interface MockAnswer {
  readonly status?: number;
  readonly headers?: Record<string, string>;
  readonly body?: string;
}

export interface HttpMock {
  /** All requests of this test that had a mock, in order. */
  readonly seen: readonly SeenRequest[];
  /** Expects one more request and answers it. */
  answer(method: 'GET' | 'POST', url: string, answer?: MockAnswer): void;
}

/**
 * The wire format, with nock: exact requests and hand-written answers. Call it in a `describe`. Its tests reach no
 * network, not even loopback. A test fails on a request without a mock and on a mock without a request.
 */
export function httpMock(): HttpMock {
  const seen: SeenRequest[] = [];
  const unexpected: string[] = [];
  const note = ({ method, url }: Request): void => {
    unexpected.push(`${method} ${url}`);
  };

  beforeEach(() => {
    nock.disableNetConnect();
    nock.emitter.on('no match', note);
  });

  afterEach(() => {
    const unused = nock.pendingMocks();
    const outcome = { unexpected: [...unexpected], unused };
    nock.emitter.off('no match', note);
    nock.abortPendingRequests();
    nock.cleanAll();
    nock.enableNetConnect();
    seen.length = 0;
    unexpected.length = 0;
    expect(outcome).toEqual({ unexpected: [], unused: [] });
  });

  return {
    seen,
    answer(method, url, { status = 200, headers = {}, body = '' } = {}) {
      const { origin, pathname, search } = new URL(url);
      nock(origin)
        .intercept(pathname + search, method)
        .reply(async (request: Request) => {
          const sent = Object.fromEntries(request.headers);
          seen.push({ method: request.method, url: request.url, headers: sent, body: await request.clone().text() });
          return [status, body, headers];
        });
    },
  };
}
