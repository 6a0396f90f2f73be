import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import type { Endpoint } from '../../api/errors.ts';
import { parseJson } from '../../api/json.ts';
import type { Answer, Transport, WireRequest } from '../../api/transport.ts';
import type { Headers } from '../../budget/headers.ts';
import type { Clock } from '../../lib/clock.ts';
import type { Milliseconds } from '../../lib/time.ts';

/** A request and its response as transmitted, without the host and the key. */
export interface Exchange {
  readonly endpoint: Endpoint;
  readonly method: string;
  readonly path: string;
  /** The JSON of a v2 request. */
  readonly asked: unknown;
  readonly status: number;
  readonly headers: Headers;
  /** From the request to the end of the answer. */
  readonly durationMs: Milliseconds;
  /** Undefined: it broke off. */
  readonly body: Body | undefined;
}

/** The body of an answer. A body that is not JSON, or exceeds the limits of the exporter, is kept as text. */
export type Body = { readonly json: unknown } | { readonly text: string };

/** Keeps what passes through a transport. */
export class Recorder {
  readonly exchanges: Exchange[] = [];
  readonly #clock: Clock;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** The same transport. The whole answer is read before it is passed on, refusals included. */
  record(send: Transport): Transport {
    return async (request, signal) => {
      const start = this.#clock.monotonic();
      const answer = await send(request, signal);
      const read = await readAll(answer);
      const durationMs = this.#clock.monotonic() - start;
      this.exchanges.push({
        ...requestOf(request),
        status: answer.status,
        headers: answer.headers,
        durationMs,
        body: read.bytes && (await bodyOf(request.endpoint, read.bytes)),
      });
      return {
        ...answer,
        async *body() {
          if (!read.bytes) throw read.error;
          yield read.bytes;
        },
        discard: () => undefined,
      };
    };
  }
}

function requestOf({
  endpoint,
  method,
  path,
  body,
}: WireRequest): Pick<Exchange, 'endpoint' | 'method' | 'path' | 'asked'> {
  return { endpoint, method, path, asked: body === undefined ? undefined : JSON.parse(body) };
}

async function readAll(answer: Answer): Promise<{ bytes?: Buffer; error?: unknown }> {
  try {
    return { bytes: await buffer(answer.body()) };
  } catch (error) {
    return { error };
  }
}

/** A body that the exporter refuses to parse stays text, because its values cannot be processed safely. */
async function bodyOf(endpoint: Endpoint, bytes: Buffer): Promise<Body> {
  try {
    return { json: await parseJson(endpoint, Readable.from([bytes])) };
  } catch {
    return { text: bytes.toString('utf8') };
  }
}
