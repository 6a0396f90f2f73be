import { createServer, type RequestListener } from 'node:http';
import { createServer as createSecureServer } from 'node:https';
import { text } from 'node:stream/consumers';
import { setDefaultCACertificates } from 'node:tls';
import { beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { createTransport, type Proxies, type TransportOptions } from '../../src/api/transport.ts';
import { type Certificate, makeCertificate } from '../support/network/certificates.ts';
import { type ForwardProxy, startForwardProxy } from '../support/network/forward-proxy.ts';
import { listen } from '../support/network/listen.ts';
import { noSignal } from '../support/time/timing.ts';
import { areMissing, OPENSSL } from '../support/tools/tools.ts';
import { failureOf, get } from './api-harness.ts';

const CREDENTIALS = 'user:p@ss/w%rd';
const IN_URL = 'user:p%40ss%2Fw%25rd';

let authority: Certificate;
let own: Certificate;

async function serve(listener: RequestListener, scheme: 'http' | 'https' = 'http'): Promise<string> {
  const server = scheme === 'http' ? createServer(listener) : createSecureServer(own, listener);
  return `${scheme}://localhost:${await listen(server)}`;
}

function transportOf(proxies: Partial<Proxies>, rest: Partial<TransportOptions> = {}) {
  const all = { http: '', https: '', except: '', ...proxies };
  const transport = createTransport({ timeoutMs: 5_000, proxies: all, ...rest });
  onTestFinished(() => transport.close());
  return transport;
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

  it('ignores a proxy that only the environment of the process names, which would cut off a demo', async () => {
    const proxy = await startForwardProxy();
    process.env['http_proxy'] = proxy.url;
    onTestFinished(() => void delete process.env['http_proxy']);
    expect((await transportOf({}).send(get(await serve(echo)), noSignal())).status).toBe(200);
    expect(proxy.forwards).toEqual([]);
  });

  it.each(['http', 'https'] as const)(
    'sends the same requests to %s as without a proxy, over kept connections',
    async (scheme) => {
      const proxy = await startForwardProxy(CREDENTIALS);
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
        // A second connection can open, because a connection is free only a moment after its body ended.
        expect(proxy.tunnels.length).toBeLessThanOrEqual(2);
        expect(new Set(proxy.tunnels)).toEqual(new Set([new URL(base).host]));
        for (const secret of ['secret', 'prefix', '"a":1']) expect(proxy.heard()).not.toContain(secret);
      }
    },
  );

  it.each([
    ['other.test, localhost', true],
    ['.test', false],
  ])('with NO_PROXY=%s connects directly: %s', async (except, isDirect) => {
    const proxy = await startForwardProxy();
    const base = await serve(echo);
    expect((await transportOf({ ...both(proxy.url), except }).send(get(base), noSignal())).status).toBe(200);
    expect(proxy.forwards).toHaveLength(isDirect ? 0 : 1);
  });

  describe.each(['http', 'https'] as const)('to %s', (scheme) => {
    /** The failure of a request through this proxy. */
    async function failing(proxy: ForwardProxy, credentials = IN_URL, rest: Partial<TransportOptions> = {}) {
      const base = await serve(echo, scheme);
      const { send } = transportOf(both(withCredentials(proxy.url, credentials)), rest);
      const failure = await failureOf(send(get(base), noSignal()));
      expect(failure.message).not.toMatch(/user|p@ss|p%40|dXNlc|127\.0\.0\.1/);
      return failure;
    }

    it.each<[string, (proxy: ForwardProxy) => unknown, RegExp, Partial<TransportOptions>?]>([
      ['refuses connections', (proxy) => proxy.close(), /connection to the proxy: ECONNREFUSED/],
      [
        'breaks the connection',
        (proxy) => proxy.behave('break'),
        /connection to the proxy: UND_ERR_SOCKET|tunnel or TLS through the proxy: UND_ERR_PRX_CONN/,
      ],
      [
        'has an unknown name',
        () => undefined,
        /DNS look-up of the proxy: ENOTFOUND/,
        { lookup: () => Promise.reject(Object.assign(new Error('127.0.0.1'), { code: 'ENOTFOUND' })) },
      ],
    ])('names the proxy in the failure if it %s', async (_name, spoil, expected, rest) => {
      const proxy = await startForwardProxy();
      await spoil(proxy);
      const failure = await failing(proxy, IN_URL, rest);
      expect(failure.reason).toBe('network');
      expect(failure.message).toMatch(expected);
    });
  });

  it('names the tunnel in the timeout if the proxy does not answer', async () => {
    const proxy = await startForwardProxy();
    proxy.behave('silence');
    const base = await serve(echo, 'https');
    const failure = await failureOf(transportOf(both(proxy.url), { timeoutMs: 200 }).send(get(base), noSignal()));
    expect(failure.message).toMatch(/timeout \(.* within api.timeout; in progress: tunnel or TLS through the proxy\)/);
  });

  it.each([407, 503])('reports network while the proxy refuses a tunnel with %i, and then recovers', async (status) => {
    const proxy = await startForwardProxy();
    proxy.behave(status);
    const base = await serve(echo, 'https');
    const { send } = transportOf(both(proxy.url));
    for (let i = 0; i < 2; i += 1) {
      const failure = await failureOf(send(get(base), noSignal()));
      expect(failure).toMatchObject({ reason: 'network' });
      expect(failure.message).toBe(`epoch_slots: network (the proxy responded with status ${status})`);
    }
    proxy.behave(undefined);
    expect((await send(get(base), noSignal())).status).toBe(200);
  });
});
