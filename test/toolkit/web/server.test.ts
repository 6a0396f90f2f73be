import { gunzipSync, gzipSync } from 'node:zlib';
import { describe, expect, it, vi } from 'vitest';
import { pagesOf } from '../../../src/status-page/documentation.ts';
import { type Pages, preferredFormat, type ServerOptions } from '../../../src/toolkit/web/server.ts';
import { ask } from '../../support/network/ask.ts';
import { servePages } from '../../support/web/pages.ts';

const BODIES = { text: 'text 1\n', openmetrics: 'openmetrics 1\n# EOF\n' };
const TEXT = 'text/plain; version=0.0.4; charset=utf-8';
const OPENMETRICS = 'application/openmetrics-text; version=1.0.0; charset=utf-8';

async function serve(pages: Partial<Pages> = {}, options: Partial<ServerOptions> = {}): Promise<number> {
  const metrics: Pages['metrics'] = (format, gzipped) => [
    gzipped ? gzipSync(BODIES[format]) : Buffer.from(BODIES[format]),
  ];
  return (await servePages({ metrics, ...pages }, options)).port;
}

it.each([
  ['no header', undefined, 'text'],
  ['a browser', 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8', 'text'],
  [
    'Prometheus 2.26 to 2.42',
    'application/openmetrics-text;version=1.0.0,application/openmetrics-text;version=0.0.1;q=0.75,text/plain;version=0.0.4;q=0.5,*/*;q=0.1',
    'openmetrics',
  ],
  [
    'Prometheus 3',
    'application/openmetrics-text;version=1.0.0;escaping=allow-utf-8;q=0.6,application/openmetrics-text;version=0.0.1;q=0.5,text/plain;version=1.0.0;escaping=allow-utf-8;q=0.4,text/plain;version=0.0.4;q=0.3,*/*;q=0.2',
    'openmetrics',
  ],
  ['OpenMetrics of any version', 'application/openmetrics-text', 'openmetrics'],
  ['OpenMetrics of a version that is not served', 'application/openmetrics-text; version=2.0.0', 'text'],
  ['text before OpenMetrics by q', 'application/openmetrics-text;q=0.3,text/plain;q=0.9', 'text'],
  ['OpenMetrics refused', 'application/openmetrics-text;q=0,*/*', 'text'],
  ['nonsense', ';;q=,/,,"', 'text'],
] as const)('the format for %s is %s -> %s', async (_name, accept, format) => {
  expect(preferredFormat(accept)).toBe(format);
  const port = await serve();
  const sent: Record<string, string> = accept === undefined ? {} : { accept };
  const { status, headers, body } = await ask(port, '/metrics', { headers: sent });
  expect(status).toBe(200);
  expect(headers['content-type']).toBe(format === 'text' ? TEXT : OPENMETRICS);
  expect(body.toString()).toBe(BODIES[format]);
  expect(headers.vary).toBe('Accept, Accept-Encoding');
});

it.each([
  ['nothing', undefined, false],
  ['gzip', 'gzip', true],
  ['gzip less than identity', 'identity, gzip;q=0.5', false],
  ['no gzip', 'gzip;q=0', false],
])('compresses only where gzip is preferred: %s', async (_name, encoding, gzipped) => {
  const port = await serve();
  const sent: Record<string, string> = encoding === undefined ? {} : { 'accept-encoding': encoding };
  const { headers, body } = await ask(port, '/metrics', { headers: sent });
  expect(headers['content-encoding']).toBe(gzipped ? 'gzip' : undefined);
  expect((gzipped ? gunzipSync(body) : body).toString()).toBe(BODIES.text);
  expect(headers['content-length']).toBe(String(body.length));
});

describe('methods', () => {
  it.each(['/', '/metrics', '/-/healthy', '/-/ready'])('HEAD %s is answered like GET, without a body', async (path) => {
    const port = await serve();
    const get = await ask(port, path);
    const head = await ask(port, path, { method: 'HEAD' });
    expect(head.status).toBe(200);
    expect(head.body).toHaveLength(0);
    const { date: _one, ...getHeaders } = get.headers;
    const { date: _other, ...headHeaders } = head.headers;
    expect(headHeaders).toEqual(getHeaders);
    expect(head.headers['content-length']).toBe(String(get.body.length));
  });

  it.each(['POST', 'PUT', 'DELETE', 'PATCH', 'OPTIONS'])('%s is refused with the allowed methods', async (method) => {
    const port = await serve();
    for (const path of ['/', '/metrics', '/-/healthy', '/-/ready']) {
      const { status, headers } = await ask(port, path, { method });
      expect([status, headers.allow]).toEqual([405, 'GET, HEAD']);
    }
  });

  it.each([
    ['no browser', {}, 200],
    ['a page whose name points to this address', { host: 'evil.test', origin: 'http://evil.test' }, 403],
    ['such a page over TLS', { host: 'evil.test', origin: 'https://evil.test', 'sec-fetch-site': 'same-origin' }, 403],
    ['such a page in a browser without Origin', { 'sec-fetch-site': 'same-origin' }, 403],
    ['the operator', { 'sec-fetch-site': 'none' }, 200],
    ['another site', { origin: 'http://evil.test', 'sec-fetch-site': 'cross-site' }, 403],
    ['another port, in a browser that tells only that', { 'sec-fetch-site': 'same-site' }, 403],
    ['a page without an origin that claims to be its own', { origin: 'null', 'sec-fetch-site': 'same-origin' }, 403],
  ])('allows or refuses a reload for %s', async (_, headers: Record<string, string>, status) => {
    const reload = vi.fn(async () => undefined);
    const port = await serve({ reload });
    const answer = await ask(port, '/-/reload', { method: 'POST', headers });
    expect([answer.status, reload.mock.calls.length]).toEqual([status, status === 200 ? 1 : 0]);
    if (status === 403) expect(String(answer.body)).toBe('not reloaded: the request comes from a page in a browser\n');
  });

  it('refuses reloads if they are disabled', async () => {
    const reload = (): Promise<never> => Promise.reject(new Error('not to be asked'));
    const port = await serve({ reload }, { hasLifecycle: false });
    const answer = await ask(port, '/-/reload', { method: 'POST' });
    expect([answer.status, String(answer.body)]).toEqual([403, 'Lifecycle API is not enabled.\n']);
    const read = await ask(port, '/-/reload');
    expect([read.status, read.headers.allow]).toEqual([405, 'POST']);
  });

  it.each(['/nothing', '/metrics/', '//metrics', '/Metrics', '/-/', '/constructor', '/../metrics'])(
    '%s is not found, by any method',
    async (path) => {
      const port = await serve();
      expect((await ask(port, path)).status).toBe(404);
      expect((await ask(port, path, { method: 'POST' })).status).toBe(404);
    },
  );
});

it('is unhealthy if the program says why', async () => {
  let problem: string | undefined;
  const port = await serve({ unhealthy: () => problem });
  expect((await ask(port, '/-/healthy')).status).toBe(200);
  problem = 'the scheduler has stopped';
  const { status, body } = await ask(port, '/-/healthy');
  expect(status).toBe(503);
  expect(body.toString()).toBe('not healthy: the scheduler has stopped\n');
});

it('serves the metrics at the configured path, and only there', async () => {
  const port = await serve({}, { telemetryPath: '/node/metrics' });
  expect((await ask(port, '/node/metrics')).body.toString()).toBe(BODIES.text);
  expect((await ask(port, '/metrics')).status).toBe(404);
});

it('the policy of the status page allows its own script only, no other host, no frame and no referrer', async () => {
  const port = await serve({ pages: pagesOf(async () => Buffer.from('<!doctype html><p>ü</p>')) });
  const { headers, body } = await ask(port, '/');
  const policy = String(headers['content-security-policy']);
  expect(policy).toContain("default-src 'none'");
  expect(policy).toContain("frame-ancestors 'none'");
  expect(policy).toMatch(/style-src 'sha256-[\w+/]{43}='/);
  expect(policy).toMatch(/script-src 'sha256-[\w+/]{43}='; connect-src 'self';/);
  expect(policy).not.toContain('unsafe');
  expect(headers['x-content-type-options']).toBe('nosniff');
  expect(headers['referrer-policy']).toBe('no-referrer');
  expect(headers['cache-control']).toBe('no-store');
  expect(headers['content-type']).toBe('text/html; charset=utf-8');
  expect(body.toString()).toBe('<!doctype html><p>ü</p>');
});

it('answers 500 when a page throws, reports why, and continues', async () => {
  const errors: unknown[] = [];
  const port = await serve({
    pages: pagesOf(async () => {
      throw new RangeError('Invalid time value');
    }),
    onError: (error) => errors.push(error),
  });
  const { status, body } = await ask(port, '/');
  expect(status).toBe(500);
  expect(body.toString()).not.toContain('Invalid time value');
  expect(errors).toEqual([new RangeError('Invalid time value')]);
  expect((await ask(port, '/metrics')).status).toBe(200);
});
