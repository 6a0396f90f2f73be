import { gzipSync } from 'node:zlib';
import type { SandboxAnswer } from '../../src/sandbox/answer.ts';
import type { Fault } from './fault-server.ts';

const MIB = 2 ** 20;
type Respond = NonNullable<Fault['request']>;
type Headers = Record<string, string | string[]>;

/** Another answer than the genuine one, with its headers where none are given. */
function instead(status: number, body: string | Buffer, headers?: Headers): Fault {
  return {
    request: (response, genuine) => {
      response.writeHead(status, headers ?? genuine.headers);
      response.end(body);
    },
  };
}

/** The genuine answer with another body, where there is one. */
function spoilt(spoil: (body: string) => string): Fault {
  return {
    request: (response, genuine) => {
      response.writeHead(genuine.status, genuine.headers);
      response.end(genuine.status === 200 ? spoil(genuine.body) : genuine.body);
    },
  };
}

/** Bytes of our own in place of an answer that Node would write. */
function raw(write: (socket: NonNullable<Parameters<Respond>[0]['socket']>, genuine: SandboxAnswer) => void): Fault {
  return {
    request: (response, genuine) => {
      if (response.socket) write(response.socket, genuine);
    },
  };
}

const HEAD = 'HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 1000\r\n';

/** Connections that break, and answers that do not come to their end. */
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

/** Nothing comes, or next to nothing. */
export const HANGS = {
  'hangs after connecting': { connection: (socket) => void socket.resume() },
  'hangs before the head': { request: () => undefined },
  'hangs in the head': raw((socket) => void socket.write('HTTP/1.1 200 OK\r\nconte')),
  'hangs in the body': raw((socket) => void socket.write(`${HEAD}\r\n{"data":`)),
  'a byte now and then': raw((socket, genuine) => {
    let left = `${HEAD}\r\n${genuine.body}`;
    const timer = setInterval(() => {
      socket.write(left.slice(0, 1));
      left = left.slice(1);
    }, 10);
    socket.on('close', () => clearInterval(timer));
  }),
} as const satisfies Record<string, Fault>;

/** Bodies as large as the other side takes them; tells how much that was. */
export function flood(bytes: number, onEnd: (sent: number) => void): Fault {
  return {
    request: (response, genuine) => {
      response.writeHead(200, { ...genuine.headers, 'content-length': bytes });
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
    },
  };
}

const BOMB = gzipSync(Buffer.alloc(64 * MIB, ' '));

/** Nested so deep that a parser which calls itself runs out of stack. */
const DEEP = `${'[{"data":'.repeat(100_000)}0${'}]'.repeat(100_000)}`;

/** Answers that are complete, and are none. */
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

/** Every value below `data` (of v2 also `range`), whatever it is, becomes another. */
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

/** Records of the right shape with values that cannot be. */
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

/** What is there twice counts once. */
export const DUPLICATES: Fault = spoilt((body) => {
  const parsed = JSON.parse(body);
  const twice = (value: unknown): unknown => (Array.isArray(value) ? [...value, ...value] : value);
  const { data } = parsed;
  parsed.data = Array.isArray(data)
    ? twice(data)
    : Object.fromEntries(Object.entries(data).map(([key, list]) => [key, twice(list)]));
  return JSON.stringify(parsed);
});

/** Gives back what it was sent, the key as well. */
export function echo(status: number): Fault {
  return {
    request: (response, _, request) => {
      response.writeHead(status, { 'x-echo': JSON.stringify(request.headers) });
      response.end(JSON.stringify(request));
    },
  };
}

/** Never followed, and least of all with the key. `target` is another host. */
export function redirects(status: number, target: string): Fault {
  return {
    request: (response, _, { path }) => {
      response.writeHead(status, { location: `${target}${path}` });
      response.end();
    },
  };
}

/** By status. */
export const STORMS = {
  'status 500': instead(500, '{"error":"internal"}'),
  'status 502 with HTML': instead(502, '<html>Bad gateway</html>', { 'content-type': 'text/html' }),
  'status 503 that asks to wait': instead(503, '', { 'retry-after': '5' }),
  'status 520': instead(520, ''),
} as const satisfies Record<string, Fault>;

/** The status alone. */
export function refusal(status: number): Fault {
  return instead(status, '{"error":"no"}');
}

/** A 429 with these headers and no others. */
export function tooMany(headers: Headers): Fault {
  return instead(429, '{"error":"rate limit exceeded"}', headers);
}
