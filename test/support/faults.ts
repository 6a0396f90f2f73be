import type { Socket } from 'node:net';
import { gzipSync } from 'node:zlib';
import type { SandboxAnswer } from '../../src/sandbox/answer.ts';
import type { Fault } from './fault-server.ts';

const MIB = 2 ** 20;
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
function raw(write: (socket: Socket, genuine: () => SandboxAnswer) => void): Fault {
  return {
    request(_, genuine, { socket }) {
      if (socket) write(socket, genuine);
      return 'silence';
    },
  };
}

const HEAD = 'HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 1000\r\n';

/** Connections that break, and answers that break off. */
export const CONNECTION_FAULTS = {
  refused: { refuses: true },
  'reset at connect': { connection: (socket) => void socket.resetAndDestroy() },
  'closed at connect': { connection: (socket) => void socket.end() },
  'reset before the head': raw((socket) => void socket.resetAndDestroy()),
  'reset in the head': raw((socket) => void socket.write('HTTP/1.1 200 OK\r\nconte', () => socket.resetAndDestroy())),
  'reset in the body': raw((socket) => void socket.write(`${HEAD}\r\n{"data":`, () => socket.resetAndDestroy())),
  'closed in the body': raw((socket) => void socket.end(`${HEAD}\r\n{"data":`)),
  'not HTTP': raw((socket) => void socket.end('220 mail.test ESMTP\r\n\r\n')),
  'a head of 1 MB': raw((socket) => void socket.end(`${HEAD}x-filler: ${'a'.repeat(MIB)}\r\n\r\n`)),
} as const satisfies Record<string, Fault>;

/** The service stops sending at some point, or sends one byte at a time. */
export const HANGS = {
  'hangs after connecting': { connection: (socket) => void socket.resume() },
  'hangs before the head': { request: () => 'silence' },
  'hangs in the head': raw((socket) => void socket.write('HTTP/1.1 200 OK\r\nconte')),
  'hangs in the body': raw((socket) => void socket.write(`${HEAD}\r\n{"data":`)),
  'a byte now and then': raw((socket, genuine) => {
    let left = `${HEAD}\r\n${genuine().body}`;
    const timer = setInterval(() => {
      socket.write(left.slice(0, 1));
      left = left.slice(1);
    }, 10);
    socket.on('close', () => clearInterval(timer));
  }),
} as const satisfies Record<string, Fault>;

/** A body of this size, which the client may refuse. `onEnd` receives the number of bytes sent. */
export function flood(bytes: number, onEnd: (sent: number) => void): Fault {
  return {
    request(_, genuine, response) {
      response.writeHead(200, { ...genuine().headers, 'content-length': bytes });
      const chunk = Buffer.alloc(MIB, ' ');
      let sent = 0;
      const more = (): void => {
        while (sent < bytes && !response.destroyed) {
          sent += chunk.length;
          if (!response.write(chunk)) return void response.once('drain', more);
        }
        response.end();
      };
      response.on('close', () => onEnd(sent));
      more();
      return 'silence';
    },
  };
}

const BOMB = gzipSync(Buffer.alloc(64 * MIB, ' '));

/** Nested so deeply that a recursive parser runs out of stack. */
const DEEP = `${'[{"data":'.repeat(100_000)}0${'}]'.repeat(100_000)}`;

/** Complete answers that are not what the API promises. */
export const UNREADABLE = {
  HTML: instead(200, '<!doctype html><title>Just a moment...</title>', { 'content-type': 'text/html' }),
  nothing: instead(200, ''),
  'truncated JSON': spoilt((body) => body.slice(0, -2)),
  'two documents': spoilt((body) => body + body),
  NaN: spoilt((body) => body.replace(/:\d+/g, ':NaN')),
  'no envelope': instead(200, '{}'),
  'data: null': instead(200, '{"status":"ERROR: no data","data":null}'),
  'a bare list': instead(200, '[]'),
  'deep nesting': instead(200, DEEP),
  'a gzip bomb': instead(200, BOMB, { 'content-type': 'application/json', 'content-encoding': 'gzip' }),
  'bytes that are no UTF-8': instead(200, Buffer.alloc(1_000, 0xff)),
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
    return JSON.stringify({ ...rest, data: within(data), ...(range && { range: within(range) }) }).replaceAll(
      '"1e99"',
      '1e99',
    );
  });
}

/** Records of the right shape with impossible values. */
export const IMPOSSIBLE_VALUES = {
  'text for every value': values(() => 'text'),
  'a number for every value': values(() => 0.5),
  'a flag for every value': values(() => true),
  'a list for every value': values(() => []),
  'an object for every value': values(() => ({})),
  'null for every value': values(() => null),
  '1e99 for every number': values((value) => (typeof value === 'number' ? '1e99' : value)),
  'every number negative': values((value) => (typeof value === 'number' ? -1 - value : value)),
  'deep nesting in the data': instead(200, `{"data":${DEEP}}`),
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
      body: JSON.stringify(request),
    }),
  };
}

/** Redirects to the same path on another host. */
export function redirects(status: number, target: string): Fault {
  return { request: ({ path }) => ({ status, headers: { location: `${target}${path}` } }) };
}

/** Failures of the service itself. */
export const STORMS = {
  'status 500': instead(500, '{"error":"internal"}'),
  'status 502 with HTML': instead(502, '<html>Bad gateway</html>', { 'content-type': 'text/html' }),
  'status 503 that asks to wait': instead(503, '', { 'retry-after': '5' }),
  'status 520': instead(520, ''),
} as const satisfies Record<string, Fault>;

/** An answer with this status and a short error. */
export function refusal(status: number): Fault {
  return instead(status, '{"error":"no"}');
}

/** A 429 with only these headers. */
export function tooMany(headers: Headers): Fault {
  return instead(429, '{"error":"rate limit exceeded"}', headers);
}
