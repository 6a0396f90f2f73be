import type { Socket } from 'node:net';
import { gzipSync } from 'node:zlib';
import type { Fault } from './fault-server.ts';

type Headers = Record<string, string | string[]>;

/** Another answer. Without headers it has those of the genuine one. */
function instead(status: number, body: string | Buffer = '', headers?: Headers): Fault {
  return { request: (_, genuine) => ({ status, headers: headers ?? genuine().headers, body }) };
}

/** The genuine answer, with another body if it is a good one. */
function spoilt(spoil: (body: string) => string): Fault {
  return {
    request(_, genuine) {
      const answer = genuine();
      return answer.status === 200 ? { ...answer, body: spoil(answer.body) } : answer;
    },
  };
}

/** Raw bytes on the socket in place of an HTTP answer. */
function raw(write: (socket: Socket) => void): Fault {
  return {
    request(_, __, { socket }) {
      if (socket) write(socket);
      return 'silence';
    },
  };
}

const HEAD = 'HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 1000\r\n';

/** Connections that break, and answers that break off. */
export const CONNECTION_FAULTS = {
  refused: { refuses: true },
  'reset in the body': raw((socket) => void socket.write(`${HEAD}\r\n{"data":`, () => socket.resetAndDestroy())),
  'not HTTP': raw((socket) => void socket.end('220 mail.test ESMTP\r\n\r\n')),
} as const satisfies Record<string, Fault>;

/** The service stops sending. */
export const HANGS_IN_BODY: Fault = raw((socket) => void socket.write(`${HEAD}\r\n{"data":`));

const BOMB = gzipSync(Buffer.alloc(8 * 2 ** 20, ' '));

/** Complete answers that are not what the API promises. */
export const UNREADABLE = {
  HTML: instead(200, '<!doctype html><title>Just a moment...</title>', { 'content-type': 'text/html' }),
  'truncated JSON': spoilt((body) => body.slice(0, -2)),
  'a gzip bomb': instead(200, BOMB, { 'content-type': 'application/json', 'content-encoding': 'gzip' }),
} as const satisfies Record<string, Fault>;

/** Changes every value below `data`, and below the `range` of v2. */
function values(change: (value: unknown) => unknown): Fault {
  const within = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(within);
    if (typeof value !== 'object' || value === null) return change(value);
    return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, within(inner)]));
  };
  return spoilt((body) => {
    const { data, range, ...rest } = JSON.parse(body);
    return JSON.stringify({ ...rest, data: within(data), ...(range && { range: within(range) }) });
  });
}

/** Records of the right shape with impossible values. The battery has many more, of each read. */
export const IMPOSSIBLE_VALUES = {
  'null for every value': values(() => null),
  'every number negative': values((value) => (typeof value === 'number' ? -1 - value : value)),
} as const satisfies Record<string, Fault>;

/** Every record twice. */
export const DUPLICATES: Fault = spoilt((body) => {
  const parsed = JSON.parse(body);
  const twice = (value: unknown): unknown => (Array.isArray(value) ? [...value, ...value] : value);
  const { data } = parsed;
  parsed.data = Array.isArray(data)
    ? twice(data)
    : Object.fromEntries(Object.entries(data).map(([key, list]) => [key, twice(list)]));
  return JSON.stringify(parsed);
});

/** Answers with the request itself, key included. */
export function echo(status: number): Fault {
  return {
    request: (request) => ({
      status,
      headers: { 'x-echo': JSON.stringify(request.headers) },
      body: JSON.stringify({ error: 'as asked', ...request }),
    }),
  };
}

/** Redirects to the same path on another host. */
export function redirects(status: number, target: string): Fault {
  return { request: ({ path }) => ({ status, headers: { location: `${target}${path}` } }) };
}

/** A failure of the service itself, which asks to wait. */
export const BUSY: Fault = instead(503, '', { 'retry-after': '5' });

const PAGE = '<!DOCTYPE html><title>Just a moment...</title>';
const HTML = { 'content-type': 'text/html; charset=UTF-8' };

/** Answers of what stands between the exporter and the service. */
export const BETWEEN = {
  "a CDN's challenge with status 403": instead(403, PAGE, { ...HTML, 'cf-mitigated': 'challenge' }),
  "a proxy's 404": instead(404, '404 page not found', { 'content-type': 'text/plain' }),
  "a proxy's 429": instead(429, 'slow down', { 'content-type': 'text/plain', 'retry-after': '7200' }),
} as const satisfies Record<string, Fault>;

export const PORTAL: Fault = instead(200, PAGE, HTML);

/** An answer with this status and a short error. */
export function refusal(status: number): Fault {
  return instead(status, '{"error":"no"}');
}

/** A 429 with only these headers. */
export function tooMany(headers: Headers): Fault {
  return instead(429, '{"error":"rate limit exceeded"}', headers);
}
