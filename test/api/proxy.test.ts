import { createServer, type RequestListener } from 'node:http';
import { createServer as createSecureServer } from 'node:https';
import { connect, createServer as createTcpServer } from 'node:net';
import { text } from 'node:stream/consumers';
import { setImmediate } from 'node:timers/promises';
import { setDefaultCACertificates } from 'node:tls';
import { afterEach, beforeAll, describe, expect, it } from 'vitest';
import { createTransport, type WireRequest } from '../../src/api/transport.ts';
import type { Proxies } from '../../src/lib/proxies.ts';
import { type Certificate, makeCertificate } from '../support/certificates.ts';
import { type ForwardProxy, startForwardProxy } from '../support/forward-proxy.ts';
import { fillBacklog } from '../support/full-backlog.ts';
import { listen } from '../support/listen.ts';
import { freePort } from '../support/ports.ts';
import { HOUR, noSignal } from '../support/timing.ts';
import { areMissing, OPENSSL } from '../support/tools.ts';
import { failureOf } from './api-harness.ts';

const CREDENTIALS = 'user:p@ss/w%rd';
const IN_URL = 'user:p%40ss%2Fw%25rd';

const cleanups: (() => unknown)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).toReversed()) await cleanup();
});

let authority: Certificate;
let own: Certificate;

async function serve(listener: RequestListener, scheme: 'http' | 'https' = 'http'): Promise<string> {
  const server = scheme === 'http' ? createServer(listener) : createSecureServer(own, listener);
  return `${scheme}://localhost:${await listen(server)}`;
}

function transportOf(proxies: Partial<Proxies>, timeoutMs = 5_000) {
  const transport = createTransport({ timeoutMs, proxies: { http: '', https: '', except: '', ...proxies } });
  cleanups.push(() => transport.close());
  return transport;
}

function get(base: string, rest: Partial<WireRequest> = {}): WireRequest {
  return { endpoint: 'epoch_slots', base, path: '/x', method: 'GET', headers: { apikey: 'secret' }, ...rest };
}

const withCredentials = (url: string, credentials = IN_URL): string => `${url.replace('://', `://${credentials}@`)}/`;
const both = (url: string): Partial<Proxies> => ({ http: url, https: url });
const echo: RequestListener = (request, response) => {
  request.setEncoding('utf8').on('data', () => undefined);
  request.on('end', () =>
    response.end(
      JSON.stringify({
        url: request.url,
        apikey: request.headers['apikey'],
        proxy: request.headers['proxy-authorization'],
      }),
    ),
  );
};

describe.skipIf(areMissing(OPENSSL))('api/transport: through a proxy', () => {
  beforeAll(() => {
    authority = makeCertificate();
    own = makeCertificate({ issuer: authority });
    setDefaultCACertificates([authority.cert]);
  });

  it.each(['http', 'https'] as const)(
    'asks %s as it would without one, over connections that are kept',
    async (scheme) => {
      const proxy = await startForwardProxy({ credentials: CREDENTIALS });
      const base = await serve(echo, scheme);
      const { send } = transportOf(both(withCredentials(proxy.url)));
      for (let i = 0; i < 10; i += 1) {
        const answer = await send(get(`${base}/prefix`, { method: 'POST', body: '{"a":1}' }), noSignal());
        expect([answer.status, await text(answer.body())]).toEqual([200, '{"url":"/prefix/x","apikey":"secret"}']);
      }
      if (scheme === 'http') {
        expect(proxy.forwards).toEqual(Array.from({ length: 10 }, () => `${base}/prefix/x`));
        expect(proxy.heard()).toContain('secret');
      } else {
        // The second one: a body has ended a moment before its connection is free again.
        expect(proxy.tunnels.length).toBeLessThanOrEqual(2);
        expect(new Set(proxy.tunnels)).toEqual(new Set([new URL(base).host]));
        for (const secret of ['secret', 'prefix', '"a":1']) expect(proxy.heard()).not.toContain(secret);
      }
    },
  );

  it('asks over one that speaks TLS itself', async () => {
    const proxy = await startForwardProxy({ credentials: CREDENTIALS, tls: own });
    const url = withCredentials(proxy.url.replace('127.0.0.1', 'localhost'));
    for (const scheme of ['http', 'https'] as const) {
      const answer = await transportOf(both(url)).send(get(await serve(echo, scheme)), noSignal());
      expect([answer.status, await text(answer.body())]).toEqual([200, '{"url":"/x","apikey":"secret"}']);
    }
    expect([proxy.tunnels.length, proxy.forwards.length]).toEqual([1, 1]);
  });

  it('follows no redirect', async () => {
    const proxy = await startForwardProxy();
    const base = await serve((_, response) => response.writeHead(302, { location: '/elsewhere' }).end());
    expect((await transportOf(both(proxy.url)).send(get(base), noSignal())).status).toBe(302);
    expect(proxy.forwards).toHaveLength(1);
  });

  it.each([
    ['other.test, localhost', true],
    ['.test', false],
  ])('with NO_PROXY=%s goes there without it: %s', async (except, isDirect) => {
    const proxy = await startForwardProxy();
    const base = await serve(echo);
    expect((await transportOf({ ...both(proxy.url), except }).send(get(base), noSignal())).status).toBe(200);
    expect(proxy.forwards).toHaveLength(isDirect ? 0 : 1);
  });

  it('the variables of the process are not read behind our back', async () => {
    const proxy = await startForwardProxy();
    const base = await serve(echo);
    process.env['http_proxy'] = proxy.url;
    cleanups.push(() => delete process.env['http_proxy']);
    for (const proxies of [undefined, { http: '', https: '', except: '' }]) {
      const transport = createTransport({ timeoutMs: 5_000, ...(proxies && { proxies }) });
      expect((await transport.send(get(base), noSignal())).status).toBe(200);
      await transport.close();
    }
    expect(proxy.forwards).toEqual([]);
  });

  describe.each(['http', 'https'] as const)('to %s', (scheme) => {
    /** What a request through this proxy fails with, and that the one after it is answered where `mend` was called. */
    async function failing(proxy: ForwardProxy, credentials = IN_URL, timeoutMs = 5_000, mend?: () => Promise<void>) {
      const base = await serve(echo, scheme);
      const { send } = transportOf(both(withCredentials(proxy.url, credentials)), timeoutMs);
      const failure = await failureOf(send(get(base), noSignal()));
      expect(failure.message).not.toMatch(/user|p@ss|p%40|dXNlc|127\.0\.0\.1/);
      if (mend) {
        await mend();
        expect((await send(get(base), noSignal())).status).toBe(200);
      }
      return failure;
    }

    it('is network where the password is wrong', async () => {
      const proxy = await startForwardProxy({ credentials: CREDENTIALS });
      const failure = await failing(proxy, 'user:wrong');
      expect(failure).toMatchObject({ reason: 'network', status: undefined });
      expect(failure.message).toBe('epoch_slots: network (the proxy responded with status 407)');
    });

    it('is network where it takes no connection, and over when it does', async () => {
      const proxy = await startForwardProxy({ credentials: CREDENTIALS });
      await proxy.close();
      const failure = await failing(proxy, IN_URL, 5_000, () => proxy.open());
      expect(failure.message).toBe('epoch_slots: network (ECONNREFUSED)');
    });

    it('is a timeout where it does not answer, and over when it does', async () => {
      const proxy = await startForwardProxy({ credentials: CREDENTIALS });
      proxy.behave('silence');
      const failure = await failing(proxy, IN_URL, 300, async () => proxy.behave(undefined));
      expect(failure.reason).toBe('timeout');
    });

    it('is a timeout where no connection to it comes about', async () => {
      const port = await freePort();
      cleanups.push(await fillBacklog(port));
      const { send } = transportOf(both(`http://127.0.0.1:${port}/`), 300);
      const failure = await failureOf(send(get(await serve(echo, scheme)), noSignal()));
      expect(failure.reason).toBe('timeout');
    });

    it('is network where its name is not known', async () => {
      const { send } = transportOf(both('http://proxy.invalid:3128/'));
      const failure = await failureOf(send(get(await serve(echo, scheme)), noSignal()));
      expect(failure.message).toMatch(/^epoch_slots: network \((ENOTFOUND|EAI_AGAIN)\)$/);
    });

    it('is network where it hangs up', async () => {
      const proxy = await startForwardProxy({ credentials: CREDENTIALS });
      proxy.behave('break');
      const failure = await failing(proxy, IN_URL, 5_000, async () => proxy.behave(undefined));
      expect(failure.reason).toBe('network');
    });

    it('stops at once while the proxy says nothing', async () => {
      const proxy = await startForwardProxy();
      proxy.behave('silence');
      const stop = new AbortController();
      const transport = transportOf(both(proxy.url), HOUR);
      const asked = transport.send(get(await serve(echo, scheme)), stop.signal);
      while (proxy.tunnels.length + proxy.forwards.length === 0) await setImmediate();
      const stoppedAt = performance.now();
      stop.abort('stopping');
      await expect(asked).rejects.toBe('stopping');
      await transport.close();
      expect(performance.now() - stoppedAt).toBeLessThan(5_000);
    });
  });

  it.each([403, 407, 502, 503])(
    'is network where it refuses a tunnel with %i, and over when it does not',
    async (status) => {
      const proxy = await startForwardProxy();
      proxy.behave(status);
      const base = await serve(echo, 'https');
      const { send } = transportOf(both(proxy.url));
      for (let i = 0; i < 2; i += 1) {
        const failure = await failureOf(send(get(base), noSignal()));
        expect(failure).toMatchObject({ reason: 'network', status: undefined });
        expect(failure.message).toBe(`epoch_slots: network (the proxy responded with status ${status})`);
      }
      proxy.behave(undefined);
      expect((await send(get(base), noSignal())).status).toBe(200);
    },
  );

  it('is network where what listens there is no proxy', async () => {
    const server = createTcpServer((socket) => socket.on('error', () => undefined).end('220 mail.test ESMTP\r\n\r\n'));
    const url = `http://127.0.0.1:${await listen(server)}/`;
    const failure = await failureOf(transportOf(both(url)).send(get(await serve(echo, 'https')), noSignal()));
    expect(failure.reason).toBe('network');
  });

  it('is network where the certificate at the end of the tunnel is not vouched for, and does not blame the proxy', async () => {
    const proxy = await startForwardProxy();
    const stranger = makeCertificate();
    const base = `https://localhost:${await listen(createSecureServer(stranger, echo))}`;
    const failure = await failureOf(transportOf(both(proxy.url)).send(get(base), noSignal()));
    expect(failure).toMatchObject({ reason: 'network' });
    expect(failure.message).toMatch(/CERT/);
    expect(failure.message).not.toContain('proxy');
  });

  it('a handshake that hangs holds no other request back', async () => {
    const secure = await listen(createSecureServer(own, echo));
    let connections = 0;
    const front = createTcpServer((socket) => {
      connections += 1;
      socket.on('error', () => undefined);
      if (connections === 1) return;
      const onward = connect(secure, '127.0.0.1').on('error', () => socket.destroy());
      socket.pipe(onward).pipe(socket);
    });
    const { send } = transportOf({}, 2_000);
    const request = get(`https://localhost:${await listen(front)}`);
    const first = failureOf(send(request, noSignal()));
    expect((await send(request, noSignal())).status).toBe(200);
    expect((await first).reason).toBe('timeout');
  });

  it('what comes over a tunnel is limited in time as without one', async () => {
    const proxy = await startForwardProxy();
    const hangs = await serve((_, response) => void response.write('{'), 'https');
    const answer = await transportOf(both(proxy.url), 1_000).send(get(hangs), noSignal());
    expect((await failureOf(text(answer.body()))).reason).toBe('timeout');
    const mute = await serve(() => undefined, 'https');
    expect((await failureOf(transportOf(both(proxy.url), 1_000).send(get(mute), noSignal()))).reason).toBe('timeout');
  });
});
