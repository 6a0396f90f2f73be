import { writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { createServer } from 'node:tls';
import { beforeAll, describe, expect, it } from 'vitest';
import { ask, scrape } from '../../support/ask.ts';
import { type Certificate, makeCertificate } from '../../support/certificates.ts';
import { seriesValue } from '../../support/exposition-text.ts';
import type { FaultServer } from '../../support/fault-server.ts';
import { temporaryFolder } from '../../support/files.ts';
import { type ForwardProxy, startForwardProxy } from '../../support/forward-proxy.ts';
import { formsOf, leaksOf } from '../../support/key-forms.ts';
import { listen } from '../../support/listen.ts';
import { portOf, type Running, startExporter, waitFor } from '../../support/program.ts';
import { startService } from '../../support/service.ts';
import { areMissing, OPENSSL, TINYPROXY } from '../../support/tools.ts';
import { startTinyproxy } from './tinyproxy.ts';

const KEY = 'k3y-0f+the/user-that-nobody-may-see';
const PASSWORD = 'p4ssw0rd/of:the@proxy-that-nobody-may-see';
const LOGIN = `exporter:${encodeURIComponent(PASSWORD)}`;
const SOURCES = ['machines', 'daily_returns', 'slashings', 'sync_committee'];

let authority: Certificate;
let own: Certificate;

/** The simulated service over TLS, or in clear text. */
async function startOver(scheme: 'http' | 'https', credentials = own): Promise<{ service: FaultServer; url: string }> {
  const service = await startService(KEY, { plan: { perSecond: 50 }, ...(scheme === 'https' && { credentials }) });
  return { service, url: `${scheme}://localhost:${service.port}` };
}

function configFile(url: string, more = ''): string {
  const folder = temporaryFolder();
  const file = join(folder, 'config.yaml');
  const api = `api: {base_url: "${url}", timeout: 2s}\nchains: {mainnet: {v1_base_url: "${url}"}}\n`;
  writeFileSync(file, `${api}state: {dir: "${join(folder, 'state')}"}\n${more}`);
  return file;
}

function serve(url: string, env: NodeJS.ProcessEnv, more?: string): Running {
  const flags = ['--web.listen-address=127.0.0.1:0', '--log.level=debug', '--log.format=json'];
  return startExporter(['serve', `--config.file=${configFile(url, more)}`, ...flags], {
    BEACONCHAIN_API_KEY: KEY,
    NODE_EXTRA_CA_CERTS: authority.certFile,
    ...env,
  });
}

async function isUp(port: number): Promise<void> {
  await waitFor(async () => {
    const text = await scrape(port);
    for (const source of SOURCES) expect(seriesValue(text, 'beaconchain_source_up', { source }), source).toBe(1);
  }, 30_000);
}

/** Everything that the program says. */
async function said(program: Running, port: number): Promise<Record<string, string>> {
  const pages = ['/metrics', '/', '/-/healthy', '/-/ready'].map(
    async (path): Promise<[string, string]> => [path, (await ask(port, path)).body.toString()],
  );
  return { output: program.output, ...Object.fromEntries(await Promise.all(pages)) };
}

const proxied = ({ port }: { readonly port: number }, login = LOGIN): NodeJS.ProcessEnv => {
  const url = `http://${login}@127.0.0.1:${port}`;
  return { HTTPS_PROXY: url, HTTP_PROXY: url };
};

describe.skipIf(areMissing(OPENSSL))('system/programs/proxy', { concurrent: true }, () => {
  beforeAll(() => {
    authority = makeCertificate();
    own = makeCertificate({ issuer: authority });
  });

  it('asks over tunnels through a proxy with a password, and shows neither that nor the key to anybody', async () => {
    const { service, url } = await startOver('https');
    const proxy = await startForwardProxy({ credentials: `exporter:${PASSWORD}` });
    const program = serve(url, proxied(proxy), 'machines: {interval: 1s}\nslashings: {interval: 1s}\n');
    const port = await portOf(program);
    await isUp(port);
    await waitFor(() => expect(service.requests.length).toBeGreaterThan(20));
    expect(proxy.forwards).toEqual([]);
    expect(new Set(proxy.tunnels)).toEqual(new Set([new URL(url).host]));
    // They are kept, and as many as there are requests at a time.
    expect(proxy.tunnels.length).toBeLessThan(service.requests.length / 2);
    expect(leaksOf(KEY, { ...(await said(program, port)), heard: proxy.heard() })).toEqual([]);
    expect(leaksOf(PASSWORD, await said(program, port))).toEqual([]);
    expect(program.stderr).toBe('');
    expect(await program.line('using a proxy')).toMatchObject({ https: `127.0.0.1:${proxy.port}` });
  });

  it('asks in clear text through a proxy, which then sees the key', async () => {
    const { url } = await startOver('http');
    const proxy = await startForwardProxy();
    const program = serve(url, { http_proxy: proxy.url });
    await isUp(await portOf(program));
    expect(proxy.tunnels).toEqual([]);
    for (const forward of proxy.forwards) expect(forward.startsWith(`${url}/api/v`)).toBe(true);
    expect(proxy.heard()).toContain(KEY);
  });

  it.each(['NO_PROXY', 'no_proxy'])('asks without it what %s names', async (name) => {
    const { service, url } = await startOver('https');
    const proxy = await startForwardProxy();
    const program = serve(url, { ...proxied(proxy), [name]: 'other.test,localhost' });
    await isUp(await portOf(program));
    expect(service.requests.length).toBeGreaterThan(0);
    expect([proxy.tunnels, proxy.forwards]).toEqual([[], []]);
  });

  it.each<[string, (proxy: ForwardProxy) => unknown, string, string, (proxy: ForwardProxy) => unknown]>([
    ['is away', (proxy) => proxy.close(), 'network', 'ECONNREFUSED', (proxy) => proxy.open()],
    [
      'refuses',
      (proxy) => proxy.behave(403),
      'network',
      'the proxy responded with status 403',
      (proxy) => proxy.behave(undefined),
    ],
    [
      'says nothing',
      (proxy) => proxy.behave('silence'),
      'timeout',
      'no complete response within api.timeout',
      (proxy) => proxy.behave(undefined),
    ],
  ])('says so where it %s, goes on when it is well, and counts it', async (_, spoil, reason, told, mend) => {
    const { url } = await startOver('https');
    const proxy = await startForwardProxy({ credentials: `exporter:${PASSWORD}` });
    const program = serve(url, proxied(proxy), 'machines: {interval: 1s}\n');
    const port = await portOf(program);
    await isUp(port);
    await spoil(proxy);
    const failed = async (): Promise<number> =>
      seriesValue(await scrape(port), 'beaconchain_api_request_failures_total', {
        endpoint: 'machine_metrics',
        reason,
      }) ?? 0;
    await waitFor(async () => {
      expect(await failed()).toBeGreaterThan(0);
      expect((await ask(port, '/')).body.toString()).toContain(told);
    }, 30_000);
    expect((await ask(port, '/-/healthy')).status).toBe(200);
    expect(leaksOf(PASSWORD, await said(program, port))).toEqual([]);
    expect(leaksOf(KEY, await said(program, port))).toEqual([]);
    await mend(proxy);
    await isUp(port);
    expect(await program.stop()).toEqual({ code: 0, signal: null });
  });

  it('trusts who intercepts TLS where NODE_EXTRA_CA_CERTS vouches for it, and nobody else', async () => {
    const { service } = await startOver('http');
    const name = 'beaconchain.test';
    const intercepting = makeCertificate({ names: `DNS:${name}`, issuer: authority });
    // Opens what is in the tunnel, and hands it on.
    const opened = createServer(intercepting, (socket) => {
      const onward = connect(service.port, '127.0.0.1');
      for (const one of [socket, onward]) one.on('error', () => undefined);
      socket.pipe(onward).pipe(socket);
    });
    opened.on('tlsClientError', () => undefined);
    const proxy = await startForwardProxy({ leadsTo: { port: await listen(opened) } });
    const trusting = serve(`https://${name}`, { HTTPS_PROXY: proxy.url });
    await isUp(await portOf(trusting));
    // The proxy looks the name up: it exists nowhere else.
    expect(new Set(proxy.tunnels)).toEqual(new Set([`${name}:443`]));
    const program = serve(`https://${name}`, { HTTPS_PROXY: proxy.url, NODE_EXTRA_CA_CERTS: '' });
    const failed = await program.line('poll failed');
    expect(failed['err']).toMatch(/network \((SELF_SIGNED_CERT_IN_CHAIN|UNABLE_TO_\w+)\)/);
  });

  it('check --probe and backfill take the same way', async () => {
    const { service, url } = await startOver('https');
    const proxy = await startForwardProxy({ credentials: `exporter:${PASSWORD}` });
    const env = { BEACONCHAIN_API_KEY: KEY, NODE_EXTRA_CA_CERTS: authority.certFile, ...proxied(proxy) };
    const check = startExporter(['check', '--probe', `--config.file=${configFile(url)}`], env);
    expect((await check.ended).code, check.output).toBe(0);
    const { length: asked } = proxy.tunnels;
    expect(asked).toBeGreaterThan(0);
    const output = join(temporaryFolder(), 'past.om');
    const flags = ['--source=daily-returns', `--output=${output}`, '--yes'];
    const backfill = startExporter(['backfill', `--config.file=${configFile(url)}`, ...flags], env);
    expect((await backfill.ended).code, backfill.output).toBe(0);
    expect(proxy.tunnels.length).toBeGreaterThan(asked);
    expect(service.requests.length).toBeGreaterThan(1);
    expect(leaksOf(PASSWORD, { check: check.output, backfill: backfill.output })).toEqual([]);
  });

  it('the demo asks its own service, whatever the environment says', async () => {
    const proxy = await startForwardProxy();
    const program = startExporter(['demo', '--web.listen-address=127.0.0.1:0', '--log.format=json'], proxied(proxy));
    const port = await portOf(program);
    await waitFor(async () => {
      expect(seriesValue(await scrape(port), 'beaconchain_source_up', { source: 'machines' })).toBe(1);
    });
    expect([proxy.tunnels, proxy.forwards]).toEqual([[], []]);
    expect(program.lines('using a proxy')).toEqual([]);
  });

  it('refuses to start with a proxy that is none, without showing it', async () => {
    const program = serve('http://localhost:1', { HTTPS_PROXY: `socks5://${LOGIN}@proxy.test` });
    expect(await program.ended).toEqual({ code: 1, signal: null });
    expect(program.stderr).toBe('HTTPS_PROXY: expected the URL of an HTTP proxy such as http://proxy.example:3128\n');
  });

  describe.skipIf(areMissing(TINYPROXY))('tinyproxy', () => {
    // It takes no sign in a password that separates words.
    const login = { user: 'exporter', password: 'p4ssw0rd-of-the-proxy-that-nobody-may-see' };
    const own = `${login.user}:${login.password}`;

    it.each(['http', 'https'] as const)('lets %s through, with a password', async (scheme) => {
      const { service, url } = await startOver(scheme);
      const proxy = await startTinyproxy(login);
      const program = serve(url, proxied(proxy, own));
      const port = await portOf(program);
      await isUp(port);
      expect(service.requests.length).toBeGreaterThan(0);
      expect(proxy.running.output).toContain(scheme === 'https' ? 'CONNECT localhost:' : 'POST http://localhost:');
      expect(leaksOf(login.password, await said(program, port))).toEqual([]);
      for (const form of formsOf(KEY)) expect(proxy.running.output).not.toContain(form);
    });

    it.each(['http', 'https'] as const)('lets %s through, without one', async (scheme) => {
      const { url } = await startOver(scheme);
      const { port, running } = await startTinyproxy();
      const program = serve(url, { ALL_PROXY: 'http://127.0.0.1:1', [`${scheme}_proxy`]: `127.0.0.1:${port}` });
      await isUp(await portOf(program));
      expect(running.output).toContain(scheme === 'https' ? 'CONNECT localhost:' : 'POST http://localhost:');
    });

    it.each([
      // To a wrong one it answers as if it were the service, which over http nobody can tell apart.
      ['http', '', 407],
      ['https', `exporter:${encodeURIComponent(PASSWORD)}@`, 401],
    ] as const)(
      'without the right password it is told that it was the proxy, for %s',
      async (scheme, given, status) => {
        const { service, url } = await startOver(scheme);
        const { port } = await startTinyproxy(login);
        const program = serve(url, { [`${scheme}_proxy`]: `http://${given}127.0.0.1:${port}` });
        const { err } = await program.line('poll failed');
        expect(err).toMatch(/: network \(the proxy responded with status \d+\)$/);
        expect(err).toContain(String(status));
        expect(service.requests).toEqual([]);
        expect(leaksOf(PASSWORD, await said(program, await portOf(program)))).toEqual([]);
      },
    );
  });
});
