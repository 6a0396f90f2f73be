import { describe, expect, it } from 'vitest';
import { ask, scrape } from '../../support/ask.ts';
import { seriesOf, seriesValue } from '../../support/exposition-text.ts';
import { tooMany } from '../../support/faults.ts';
import { portOf, type Running, startServe, waitFor } from '../../support/program.ts';
import { startService } from '../../support/service.ts';

const KEY = 'a-key-that-nobody-may-see';

function config(url: string): string {
  return `api: {base_url: "${url}"}\nchains: {mainnet: {v1_base_url: "${url}"}}\n`;
}

/** Scrapes until the metrics pass. */
async function metricsOf(program: Running, check: (text: string) => void): Promise<string> {
  const port = await portOf(program);
  return waitFor(async () => {
    const text = await scrape(port);
    check(text);
    return text;
  });
}

const SOURCES = ['machines', 'daily_returns', 'slashings', 'sync_committee'];

function up(text: string): Record<string, number | undefined> {
  return Object.fromEntries(SOURCES.map((source) => [source, seriesValue(text, 'beaconchain_source_up', { source })]));
}

/** Neither what is logged nor what is served holds the key. */
async function expectNoKey(program: Running): Promise<void> {
  const port = await portOf(program);
  for (const path of ['/metrics', '/', '/-/healthy', '/-/ready']) {
    expect((await ask(port, path)).body.toString(), path).not.toContain(KEY);
  }
  await program.stop();
  expect(program.output).not.toContain(KEY);
  expect(program.output).not.toMatch(/bearer|apikey|authorization/i);
  expect(program.output).not.toContain('http://');
  expect(program.stderr).toBe('');
}

describe.concurrent('system/programs/failures', () => {
  it('nothing fails where all is well: the key goes in the header of its version and nowhere else', async () => {
    const api = await startService(KEY);
    const program = startServe(config(api.url), KEY);
    const text = await metricsOf(program, (text) => {
      expect(up(text)).toEqual({ machines: 1, daily_returns: 1, slashings: 1, sync_committee: 1 });
    });
    const failures = seriesOf(text).filter(({ name }) => name === 'beaconchain_api_request_failures_total');
    expect(failures.filter(({ value }) => value !== 0)).toEqual([]);
    expect(seriesValue(text, 'beaconchain_api_key_valid')).toBe(1);
    for (const { method, path, headers, body } of api.requests) {
      const isV1 = path.startsWith('/api/v1/');
      expect(method).toBe(isV1 ? 'GET' : 'POST');
      expect(headers['apikey']).toBe(isV1 ? KEY : undefined);
      expect(headers['authorization']).toBe(isV1 ? undefined : `Bearer ${KEY}`);
      expect(headers['user-agent']).toMatch(/^beaconchain-exporter\/\d/);
      expect(path + body).not.toContain(KEY);
    }
    await expectNoKey(program);
  });

  it('a refused key is shown, is asked about once, and is no reason to restart', async () => {
    const api = await startService('another key');
    const program = startServe(config(api.url), KEY);
    const text = await metricsOf(program, (text) => {
      expect(seriesValue(text, 'beaconchain_api_key_valid')).toBe(0);
    });
    expect(up(text)).toEqual({ machines: 0, daily_returns: 0, slashings: 0, sync_committee: 0 });
    expect(api.requests).toHaveLength(1);
    const port = await portOf(program);
    expect((await ask(port, '/-/healthy')).status).toBe(200);
    await waitFor(async () => expect((await ask(port, '/-/ready')).status).toBe(200));
    const next = seriesValue(text, 'beaconchain_source_next_attempt_timestamp_seconds', { source: 'machines' });
    // One more request a minute later.
    expect((next ?? 0) - Date.now() / 1000).toBeGreaterThan(10);
    expect((next ?? 0) - Date.now() / 1000).toBeLessThanOrEqual(60);
    const help = expect.stringMatching(/BEACONCHAIN_API_KEY.*every 10 minutes/);
    expect(program.lines('the API key is refused')).toMatchObject([{ level: 'error', help }]);
    expect(program.lines('poll failed')).toMatchObject([{ level: 'debug' }]);
    await expectNoKey(program);
  });

  it('revoked access stops all polling, for good', async () => {
    const api = await startService(
      KEY,
      tooMany({ 'x-ratelimit-limit-second': '0', 'x-ratelimit-limit-month': '0', 'ratelimit-reset': '1' }),
    );
    const program = startServe(config(api.url), KEY);
    const text = await metricsOf(program, (text) => {
      expect(seriesValue(text, 'beaconchain_api_access_revoked')).toBe(1);
    });
    expect(seriesValue(text, 'beaconchain_source_next_attempt_timestamp_seconds', { source: 'machines' })).toBe(
      Infinity,
    );
    expect(api.requests).toHaveLength(1);
    const port = await portOf(program);
    expect((await ask(port, '/-/healthy')).status).toBe(200);
    expect((await ask(port, '/-/ready')).status).toBe(200);
    expect((await ask(port, '/')).body.toString()).toContain('stopped: needs a new key or a restart');
    await expectNoKey(program);
  });
});
