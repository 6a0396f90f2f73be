import type { Endpoint } from '../../../src/api/endpoints.ts';
import type { WireRequest } from '../../../src/api/transport.ts';

/** An answer of something in front of the service, such as a challenge with 403, or of a service that fails. */
export interface Outage {
  readonly until: number;
  readonly status: 403 | 500 | 502 | 503 | 520;
  readonly body: 'json' | 'html' | 'none';
  readonly retryAfter?: string;
}

/** 429 for no reason, which no window counts. */
export interface Refusals {
  readonly times: number;
  /** As they are, without regard to their sense. */
  readonly headers: Readonly<Record<string, string>>;
}

export interface Instead {
  readonly status: number;
  readonly headers: Record<string, string>;
  readonly body: string;
}

const HTML = '<!DOCTYPE html><html><head><title>Error</title></head><body><h1>Bad gateway</h1></body></html>';
const TOO_MANY = '{"error":"Too Many Requests"}';
const ERROR = '{"error":"internal server error. please try again later."}';

const SPOILT = {
  truncated: (body: string) => body.slice(0, Math.floor((body.length * 2) / 3)),
  html: () => HTML,
  empty: () => '',
  'an empty object': () => '{}',
  'without data': () => '{"status":"ERROR: internal server error","data":null}',
} as const satisfies Record<string, (body: string) => string>;

export type BodyFault = keyof typeof SPOILT;
export const BODY_FAULTS = Object.keys(SPOILT) as [BodyFault, ...BodyFault[]];

/** What stands between the service and a good answer. */
export class Disturbances {
  #outage: Outage | undefined;
  #refusals: Refusals = { times: 0, headers: {} };
  #bodies: { readonly how: BodyFault; readonly endpoint: Endpoint | undefined; left: number }[] = [];
  #noCursorUntil = Number.NEGATIVE_INFINITY;

  begin(outage: Outage): void {
    this.#outage = outage;
  }

  refuse(what: Refusals): void {
    this.#refusals = what;
  }

  /** The next bodies of this or any endpoint are spoilt. */
  spoil(how: BodyFault, times: number, endpoint: Endpoint | undefined): void {
    this.#bodies.push({ how, endpoint, left: times });
  }

  /** Until a time no page but the first one is served. */
  failLaterPages(until: number): void {
    this.#noCursorUntil = until;
  }

  calm(): void {
    this.#noCursorUntil = Number.NEGATIVE_INFINITY;
    this.#outage = undefined;
    this.#refusals = { times: 0, headers: {} };
    this.#bodies = [];
  }

  /** An answer that does not come from the service: nothing is counted. */
  inFront(now: number): Instead | undefined {
    if (this.#outage && now < this.#outage.until && this.#outage.status !== 500) return outageAnswer(this.#outage);
    const { times, headers } = this.#refusals;
    if (times <= 0) return undefined;
    this.#refusals = { times: times - 1, headers };
    return { status: 429, headers: { 'content-type': 'application/json', ...headers }, body: TOO_MANY };
  }

  /** The failure of the service itself, after it has counted the request. */
  failing({ body = '' }: WireRequest, now: number): Instead | undefined {
    if (now < this.#noCursorUntil && body.includes('"cursor"'))
      return outageAnswer({ until: now, status: 500, body: 'json' });
    return this.#outage && now < this.#outage.until && this.#outage.status === 500
      ? outageAnswer(this.#outage)
      : undefined;
  }

  /** The body as it is sent. `isWhole`: it is the good one. */
  sent(endpoint: Endpoint, body: string): { body: string; isWhole: boolean } {
    const fault = this.#bodies.find((one) => one.left > 0 && (one.endpoint ?? endpoint) === endpoint);
    if (!fault) return { body, isWhole: true };
    fault.left -= 1;
    return { body: SPOILT[fault.how](body), isWhole: false };
  }
}

function outageAnswer({ status, body, retryAfter }: Outage): Instead {
  const headers = {
    'content-type': { json: 'application/json', html: 'text/html', none: 'text/plain' }[body],
    ...(retryAfter === undefined ? {} : { 'retry-after': retryAfter }),
  };
  return { status, headers, body: { json: ERROR, html: HTML, none: '' }[body] };
}
