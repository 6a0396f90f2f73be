import { beforeAll, describe, expect, it } from 'vitest';
import { seriesValue } from '../../support/exposition/exposition-text.ts';
import { startService } from '../../support/faults/service.ts';
import { leaksOf } from '../../support/log/key-forms.ts';
import { ask, scrape } from '../../support/network/ask.ts';
import { type Certificate, makeCertificate } from '../../support/network/certificates.ts';
import { startForwardProxy } from '../../support/network/forward-proxy.ts';
import { allUp, asking, portOf, type Running, startServe, waitFor } from '../../support/programs/program.ts';
import { areMissing, OPENSSL } from '../../support/tools/tools.ts';

const KEY = 'k3y-0f+the/user-that-nobody-may-see';
const PASSWORD = 'p4ssw0rd/of:the@proxy-that-nobody-may-see';
const LOGIN = `exporter:${encodeURIComponent(PASSWORD)}`;

let authority: Certificate;
let own: Certificate;

/** The URL of the sandbox over TLS. */
async function startOverTls(): Promise<string> {
  const { port } = await startService(KEY, { plan: { perSecond: 50 }, credentials: own });
  return `https://localhost:${port}`;
}

function config(url: string): string {
  return asking(url, ', timeout: 2s');
}

/** Everything that the program says. */
async function said(program: Running, port: number): Promise<Record<string, string>> {
  const pages = ['/metrics', '/', '/-/healthy', '/-/ready'].map(
    async (path): Promise<[string, string]> => [path, (await ask(port, path)).body.toString()],
  );
  return { output: program.output, ...Object.fromEntries(await Promise.all(pages)) };
}

const proxied = (port: number): NodeJS.ProcessEnv => {
  const url = `http://${LOGIN}@127.0.0.1:${port}`;
  return { NODE_EXTRA_CA_CERTS: authority.certFile, HTTPS_PROXY: url, HTTP_PROXY: url };
};

describe.skipIf(areMissing(OPENSSL))('system/programs/proxy', { concurrent: true }, () => {
  beforeAll(() => {
    authority = makeCertificate();
    own = makeCertificate({ issuer: authority });
  });

  it('sends requests through the tunnels of a proxy, survives its refusals, and shows neither password nor key', async () => {
    const url = await startOverTls();
    const proxy = await startForwardProxy(`exporter:${PASSWORD}`);
    const program = startServe(`${config(url)}machines: {interval: 1s}\n`, KEY, proxied(proxy.port));
    const port = await portOf(program);
    await allUp(port);
    expect(proxy.forwards).toEqual([]);
    expect(new Set(proxy.tunnels)).toEqual(new Set([new URL(url).host]));

    proxy.behave(403);
    await waitFor(async () => {
      const failures = { endpoint: 'machine_metrics', reason: 'network' };
      expect(seriesValue(await scrape(port), 'beaconchain_api_request_failures_total', failures)).toBeGreaterThan(0);
      expect((await ask(port, '/')).body.toString()).toContain('the proxy responded with status 403');
    });
    expect((await ask(port, '/-/healthy')).status).toBe(200);
    proxy.behave(undefined);
    await allUp(port);
    expect(leaksOf(KEY, { ...(await said(program, port)), heard: proxy.heard() })).toEqual([]);
    expect(leaksOf(PASSWORD, await said(program, port))).toEqual([]);
    expect(await program.stop()).toEqual({ code: 0, signal: null });
    expect(program.stderr).toBe('');
  });
});
