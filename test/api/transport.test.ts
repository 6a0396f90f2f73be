import { createServer, type RequestListener, type Server } from 'node:http';
import { text } from 'node:stream/consumers';
import { setImmediate } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { readBody } from '../../src/api/body.ts';
import { type Answer, createTransport, type Lookup } from '../../src/api/transport.ts';
import { listen } from '../support/network/listen.ts';
import { HOUR, noSignal } from '../support/time/timing.ts';
import { failureOf, get } from './api-harness.ts';
import { fillBacklog } from './full-backlog.ts';

async function serve(handler: RequestListener): Promise<{ server: Server; base: string }> {
  const server = createServer(handler);
  return { server, base: `http://127.0.0.1:${await listen(server)}` };
}

function transportOf(timeoutMs: number, lookup?: Lookup) {
  const transport = createTransport({ timeoutMs, ...(lookup && { lookup }) });
  onTestFinished(() => transport.close());
  return transport;
}

/** The answer of one exchange with this handler, and its body. */
async function exchange(handler: RequestListener, timeoutMs = 5_000, stop = noSignal()): Promise<[Answer, string]> {
  const { base } = await serve(handler);
  const answer = await transportOf(timeoutMs).send(get(base), stop);
  return [answer, await text(answer.body())];
}

const FAST = 50;
const MIB = 1024 * 1024;

/** Returns a function that sends a request and resolves to the number of connections so far. */
async function keeping(handler: RequestListener): Promise<() => Promise<number>> {
  const { server, base } = await serve(handler);
  server.keepAliveTimeout = 0;
  const opened = vi.fn();
  server.on('connection', opened);
  const { send } = transportOf(5_000);
  return async () => {
    await text((await send(get(base), noSignal())).body());
    return opened.mock.calls.length;
  };
}

describe('api/transport', () => {
  it('reuses a connection for consecutive requests', async () => {
    // A server that offers ten minutes.
    const ask = await keeping((_, response) => {
      response.writeHead(200, { connection: 'keep-alive', 'keep-alive': 'timeout=600' }).end('{}');
    });
    for (let i = 0; i < 19; i += 1) await ask();
    // A second connection can open, because a connection is free only a moment after its body ended.
    expect(await ask()).toBeLessThanOrEqual(2);
  });

  it('keeps an unused connection for 66 s, longer than the pause between two sweeps, but not for 75 s', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    onTestFinished(() => void vi.useRealTimers());
    const ask = await keeping((_, response) => response.end('{}'));
    const seen: number[] = [];
    for (const pauseMs of [0, 66_000, 75_000]) {
      await vi.advanceTimersByTimeAsync(pauseMs);
      seen.push(await ask());
      await setImmediate();
    }
    expect(seen).toEqual([1, 1, 2]);
  });

  describe('gzip', () => {
    const zipped =
      (bytes: Buffer): RequestListener =>
      ({ headers }, response) => {
        response.writeHead(200, { 'content-encoding': headers['accept-encoding'] }).end(bytes);
      };

    it('is requested and read', async () => {
      const [, text] = await exchange(zipped(gzipSync('{"ü":1}')));
      expect(text).toBe('{"ü":1}');
    });

    it('is limited by its unpacked size', async () => {
      const { base } = await serve(zipped(gzipSync(Buffer.alloc(64 * MIB, ' '))));
      const answer = await transportOf(20_000).send(get(base), noSignal());
      const failure = await failureOf(readBody('epoch_slots', answer.body()));
      expect(failure.message).toBe('epoch_slots: invalid_body (more than 1048576 bytes)');
    });

    it.each([
      ['broken off', gzipSync('a'.repeat(100)).subarray(0, -9)],
      ['not gzip', Buffer.from('{}')],
    ])('is an invalid body if it is %s', async (_name, bytes) => {
      expect((await failureOf(exchange(zipped(bytes)))).reason).toBe('invalid_body');
    });
  });
});

describe('api/transport: failures', () => {
  it('a body that trickles in beyond api.timeout is a timeout', async () => {
    const trickle: RequestListener = (_, response) => {
      const timer = setInterval(() => response.write(' '), FAST / 5);
      response.on('close', () => clearInterval(timer));
    };
    expect((await failureOf(exchange(trickle, FAST))).reason).toBe('timeout');
  });

  it.each<[string, RequestListener]>([
    ['before the head', (request) => void request.socket.destroy()],
    [
      'in the body',
      (request, response) => {
        response.writeHead(200, { 'content-length': '100' });
        response.write('{"data":', () => request.socket.resetAndDestroy());
      },
    ],
    ['by an answer that is not HTTP', (request) => void request.socket.end('220 mail.test ESMTP\r\n\r\n')],
  ])('a connection that breaks %s is network', async (_, handler) => {
    const failure = await failureOf(exchange(handler));
    expect(failure.reason).toBe('network');
    expect(failure.message).toMatch(
      /^epoch_slots: network \(connection to the service: (UND_ERR_SOCKET|ECONNRESET|failed)\)$/,
    );
  });

  it('returns the status of a 429 whose body never ends', async () => {
    const { base } = await serve((_, response) => {
      response.writeHead(429, { 'retry-after': '7' });
      response.write('Too Many');
    });
    const answer = await transportOf(5_000).send(get(base), noSignal());
    expect([answer.status, answer.headers['retry-after']]).toEqual([429, '7']);
  });

  it.each([
    ['long body that nobody reads', HOUR, MIB],
    ['body that nobody reads and that never comes', FAST, 1],
  ])('closes the connection of a %s at once, not at the timeout', async (_, timeoutMs, bytes) => {
    const closed = Promise.withResolvers<void>();
    const { base } = await serve((_request, response) => {
      response.on('close', closed.resolve).writeHead(500);
      response.write(Buffer.alloc(bytes));
    });
    (await transportOf(timeoutMs).send(get(base), noSignal())).discard();
    await closed.promise;
  });

  it('rejects with the reason of the abort signal, before the headers and in the body', async () => {
    const before = new AbortController();
    const head = exchange(() => before.abort('stopping'), 5_000, before.signal);
    await expect(head).rejects.toBe('stopping');
    const during = new AbortController();
    const { base } = await serve((_, response) => void response.write('{"data":'));
    const answer = await transportOf(5_000).send(get(base), during.signal);
    const body = text(answer.body());
    during.abort('stopping');
    await expect(body).rejects.toBe('stopping');
    await expect(transportOf(5_000).send(get(base), during.signal)).rejects.toBe('stopping');
  });

  it('an abort ends a connection attempt at once, not at the timeout', async () => {
    const base = `http://127.0.0.1:${await silentPort()}`;
    const stop = new AbortController();
    const transport = transportOf(HOUR);
    const asked = transport.send(get(base), stop.signal);
    for (let turn = 0; turn < 10; turn += 1) await setImmediate();
    stop.abort('stopping');
    await expect(asked).rejects.toBe('stopping');
    await transport.close();
  });
});

/** A look-up that finds the first of these lists of addresses, then the next. */
function finding(...answers: readonly (readonly string[])[]): Lookup {
  let asked = 0;
  return async () => (answers[asked++] ?? []).map((address) => ({ address, family: 4 }));
}

/** A port that accepts no connection on 127.0.0.1. */
async function silentPort(): Promise<number> {
  const { server, base } = await serve(() => undefined);
  await new Promise((resolve) => server.close(resolve));
  const port = Number(new URL(base).port);
  onTestFinished(await fillBacklog(port));
  return port;
}

describe('api/transport: connecting', () => {
  const error = (code: string) => () => Promise.reject(Object.assign(new Error('name.test secret'), { code }));

  it('tries the next address while one does not respond', async () => {
    const port = await silentPort();
    const server = createServer((_, response) => response.end('{}'));
    await new Promise<void>((resolve) => server.listen(port, '127.0.0.2', resolve));
    onTestFinished(() => void server.close());
    const { send } = transportOf(HOUR, finding(['127.0.0.1', '127.0.0.2']));
    expect((await send(get(`http://name.test:${port}`), noSignal())).status).toBe(200);
  });

  it('tries an address until api.timeout, even after the others failed', async () => {
    const { send } = transportOf(20 * FAST, finding(['127.0.0.2', '127.0.0.1', '127.0.0.3']));
    const failure = await failureOf(send(get(`http://name.test:${await silentPort()}`), noSignal()));
    expect(failure.message).toBe(
      'epoch_slots: timeout (no complete response within api.timeout; in progress: connection to the service)',
    );
  });

  it('looks a name up again after a failure, because the host may have moved', async () => {
    const { base } = await serve((_, response) => response.end('{}'));
    const { send } = transportOf(5_000, finding(['127.0.0.2'], ['127.0.0.1']));
    const request = get(base.replace('127.0.0.1', 'name.test'));
    await failureOf(send(request, noSignal()));
    expect((await send(request, noSignal())).status).toBe(200);
  });

  it.each<[string, string, Lookup, string]>([
    ['the name', 'http', error('ENOTFOUND'), 'DNS look-up of the service: ENOTFOUND'],
    ['the address', 'http', finding(['127.0.0.2']), 'connection to the service: ECONNREFUSED'],
    ['TLS', 'https', finding(['127.0.0.1']), 'TLS with the service: ERR_SSL_WRONG_VERSION_NUMBER'],
  ])('says that %s failed', async (_, scheme, lookup, expected) => {
    const { base } = await serve(() => undefined);
    const { send } = transportOf(5_000, lookup);
    const failure = await failureOf(send(get(`${scheme}://name.test:${new URL(base).port}`), noSignal()));
    expect(failure.message).toBe(`epoch_slots: network (${expected})`);
  });

  it('says that the name server does not respond', async () => {
    const { send } = transportOf(FAST, () => new Promise(() => undefined));
    expect((await failureOf(send(get('http://name.test'), noSignal()))).message).toBe(
      'epoch_slots: timeout (no complete response within api.timeout; in progress: DNS look-up of the service)',
    );
  });
});
