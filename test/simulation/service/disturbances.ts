import type { Endpoint } from '../../../src/api/errors.ts';
import type { WireRequest } from '../../../src/api/transport.ts';
import { SHAPES } from '../../support/body-shapes.ts';

/** An answer of something in front of the service, or of a service that fails. */
export interface Outage {
  readonly until: number;
  readonly status: 500 | 502 | 503 | 520;
  readonly body: 'json' | 'text' | 'html' | 'none';
  readonly retryAfter?: string;
}

/** 429 for no reason, which no window counts. */
export interface Refusals {
  readonly times: number;
  /** As they are, without regard to their sense. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: 'json' | 'text';
}

export const BODY_FAULTS = [
  'truncated',
  'html',
  'empty',
  'empty_object',
  'null_data',
  'two_documents',
  'deep',
  'wide',
] as const;
export type BodyFault = (typeof BODY_FAULTS)[number];

export interface SpoiltBodies {
  readonly how: BodyFault;
  readonly times: number;
  /** By default every endpoint. */
  readonly endpoint?: Endpoint;
}

export interface Instead {
  readonly status: number;
  readonly headers: Record<string, string>;
  readonly body: string;
}

const SHAPE_BYTES = 50_000;
const HTML = '<!DOCTYPE html><html><head><title>Error</title></head><body><h1>Bad gateway</h1></body></html>';

/** What stands between the service and a good answer. */
export class Disturbances {
  #outage: Outage | undefined;
  #refusals: { readonly what: Refusals; left: number } | undefined;
  #bodies: { readonly what: SpoiltBodies; left: number }[] = [];
  #noCursorUntil = Number.NEGATIVE_INFINITY;

  begin(outage: Outage): void {
    this.#outage = outage;
  }

  refuse(what: Refusals): void {
    this.#refusals = { what, left: what.times };
  }

  spoil(what: SpoiltBodies): void {
    this.#bodies.push({ what, left: what.times });
  }

  /** Until a time no page but the first one is served. */
  failLaterPages(until: number): void {
    this.#noCursorUntil = until;
  }

  calm(): void {
    this.#noCursorUntil = Number.NEGATIVE_INFINITY;
    this.#outage = undefined;
    this.#refusals = undefined;
    this.#bodies = [];
  }

  /** An answer that does not come from the service: nothing is counted. */
  inFront(now: number): Instead | undefined {
    if (this.#outage && now < this.#outage.until && this.#outage.status !== 500) return outageAnswer(this.#outage);
    if (!this.#refusals || this.#refusals.left <= 0) return undefined;
    this.#refusals.left -= 1;
    const { headers, body } = this.#refusals.what;
    const isJson = body === 'json';
    const type = { 'content-type': isJson ? 'application/json' : 'text/plain' };
    const text = isJson ? '{"error":"Too Many Requests: upgrade at /api/pricing"}' : 'Too Many Requests';
    return { status: 429, headers: { ...type, ...headers }, body: text };
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
    const fault = this.#bodies.find(({ what, left }) => left > 0 && (what.endpoint ?? endpoint) === endpoint);
    if (!fault) return { body, isWhole: true };
    fault.left -= 1;
    this.#bodies = this.#bodies.filter(({ left }) => left > 0);
    return { body: spoilt(fault.what.how, body), isWhole: false };
  }
}

function outageAnswer({ status, body, retryAfter }: Outage): Instead {
  const headers = {
    'content-type': { json: 'application/json', text: 'text/plain', html: 'text/html', none: 'text/plain' }[body],
    ...(retryAfter === undefined ? {} : { 'retry-after': retryAfter }),
  };
  const error = '{"error":"internal server error. please try again later."}';
  return { status, headers, body: { json: error, text: 'internal server error', html: HTML, none: '' }[body] };
}

function spoilt(how: BodyFault, body: string): string {
  switch (how) {
    case 'truncated':
      return body.slice(0, Math.floor((body.length * 2) / 3));
    case 'html':
      return HTML;
    case 'empty':
      return '';
    case 'empty_object':
      return '{}';
    case 'null_data':
      return '{"status":"ERROR: internal server error","data":null}';
    case 'two_documents':
      return body + body;
    case 'deep':
    case 'wide':
      return SHAPES[how]?.(SHAPE_BYTES) ?? '';
  }
}
