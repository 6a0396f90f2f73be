import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { ask, scrape } from '../../support/ask.ts';
import type { ReadSample } from '../../support/exposition-parser.ts';
import { seriesOf, seriesValue } from '../../support/exposition-text.ts';
import { refusal, tooMany } from '../../support/faults.ts';
import { temporaryFolder } from '../../support/files.ts';
import { portOf, type Running, startServe, waitFor } from '../../support/program.ts';
import { startService } from '../../support/service.ts';

const KEY = 'a-key-that-nobody-may-see';
const SOURCES = ['machines', 'daily_returns', 'slashings', 'sync_committee'];

function config(url: string, dir: string): string {
  return `api: {base_url: "${url}"}\nchains: {mainnet: {v1_base_url: "${url}"}}\nstate: {dir: "${dir}"}\n`;
}

/** The metrics once every source is up, and the exporter's own counters have caught up with that. */
async function metricsOf(program: Running): Promise<string> {
  const port = await portOf(program);
  return waitFor(async () => {
    const text = await scrape(port);
    for (const source of SOURCES) expect(seriesValue(text, 'beaconchain_source_up', { source }), source).toBe(1);
    expect(seriesValue(text, 'beaconchain_api_requests_total', { endpoint: 'sync_committee' })).toBe(1);
    return text;
  });
}

/** What must never step back, by series; process_* and nodejs_* are those of one process. */
function counters(text: string): Map<string, number> {
  const isOurs = ({ name }: ReadSample): boolean => /^beaconchain_\w+(_total|_bucket|_sum|_count)$/.test(name);
  return new Map(
    seriesOf(text)
      .filter(isOurs)
      .map(({ name, labels, value }) => [JSON.stringify([name, labels]), value]),
  );
}

describe.concurrent('system/programs/state', () => {
  it('what was shown is shown again after kill -9: nothing steps back, and nothing is asked that is not due', async () => {
    const api = await startService(KEY);
    const dir = join(temporaryFolder(), 'state');
    const first = startServe(config(api.url, dir), KEY);
    const before = await metricsOf(first);
    await first.stop('SIGKILL');
    const asked = api.requests.length;

    const second = startServe(config(api.url, dir), KEY);
    const port = await portOf(second);
    const after = await scrape(port);
    const now = counters(after);
    for (const [series, value] of counters(before)) expect(now.get(series), series).toBeGreaterThanOrEqual(value);
    for (const source of SOURCES) {
      expect(seriesValue(after, 'beaconchain_source_up', { source })).toBe(1);
      expect(seriesValue(after, 'beaconchain_source_attempts_total', { source })).toBe(1);
    }
    expect((await ask(port, '/-/ready')).status).toBe(200);
    expect(api.requests).toHaveLength(asked);
    await second.stop();
    for (const name of readdirSync(dir)) expect(name).toMatch(/^[a-z_-]+\.json$/);
  });

  it.each([
    ['revoked', 'access is revoked', tooMany({ 'x-ratelimit-limit-month': '0' }), 'api_access_revoked', 1],
    ['refused', 'the API key is refused', refusal(401), 'api_key_valid', 0],
  ] as const)(
    '%s access is asked after by no restart within ten minutes, and the log says why nothing happens',
    async (standing, why, fault, metric, shown) => {
      const api = await startService(KEY, fault);
      const dir = join(temporaryFolder(), 'state');
      const first = startServe(config(api.url, dir), KEY);
      // A stop that takes longer than it may ends without a write.
      await waitFor(() => expect(readFileSync(join(dir, 'ledger.json'), 'utf8')).toContain(`"${standing}"`));
      await first.stop();
      const second = startServe(config(api.url, dir), KEY);
      const port = await portOf(second);
      const help = expect.stringContaining('BEACONCHAIN_API_KEY');
      expect(await second.line(why)).toMatchObject({ level: 'error', since: expect.any(String), help });
      expect(seriesValue(await scrape(port), `beaconchain_${metric}`)).toBe(shown);
      expect(api.requests).toHaveLength(1);
    },
  );

  it('a second daemon on the same state is refused with the number of the first, which goes on', async () => {
    const api = await startService(KEY);
    const dir = join(temporaryFolder(), 'state');
    const first = startServe(config(api.url, dir), KEY);
    const port = await portOf(first);
    const second = startServe(config(api.url, dir), KEY);
    expect(await second.ended).toEqual({ code: 1, signal: null });
    expect(second.stderr).toMatch(/^[^\n]+\n$/);
    expect(second.stderr).toContain(`process ${first.child.pid}`);
    expect((await ask(port, '/-/healthy')).status).toBe(200);
  });

  it('a lock of another host is watched before it is taken, and a stop ends that', async () => {
    const api = await startService(KEY);
    const dir = temporaryFolder();
    writeFileSync(join(dir, 'lock'), '{"pid":4711,"started":"1","host":"elsewhere"}');
    const program = startServe(config(api.url, dir), KEY);
    const why = 'state directory is locked: waiting to see whether the holder is alive';
    expect(await program.line(why)).toMatchObject({ level: 'warn', pid: 4711, host: 'elsewhere' });
    expect(await program.stop()).toEqual({ code: 0, signal: null });
    expect(program.stderr).toBe('');
    expect(readdirSync(dir)).toEqual(['lock']);
    expect(api.requests).toEqual([]);
  });

  it('a directory that cannot be used is refused with one line', async () => {
    const api = await startService(KEY);
    const file = join(temporaryFolder(), 'file');
    writeFileSync(file, '');
    const program = startServe(config(api.url, join(file, 'state')), KEY);
    expect(await program.ended).toEqual({ code: 1, signal: null });
    expect(program.stderr).toBe(
      `the state directory ${file}/state cannot be used: a part of its path is a file, ENOTDIR\n`,
    );
    expect(api.requests).toEqual([]);
  });

  it('a document that cannot be read costs that source its past, and no other', async () => {
    const api = await startService(KEY);
    const dir = join(temporaryFolder(), 'state');
    const first = startServe(config(api.url, dir), KEY);
    await metricsOf(first);
    await first.stop();
    writeFileSync(join(dir, 'machines.json'), '{"version":1,"val');
    const second = startServe(config(api.url, dir), KEY);
    const text = await scrape(await portOf(second));
    expect(seriesValue(text, 'beaconchain_source_attempts_total', { source: 'slashings' })).toBe(1);
    await waitFor(async () => {
      const later = await scrape(await portOf(second));
      expect(seriesValue(later, 'beaconchain_source_up', { source: 'machines' })).toBe(1);
    });
    expect(second.lines('state not readable, starting without it')).toEqual([
      expect.objectContaining({ level: 'warn', document: 'machines' }),
    ]);
    expect(readdirSync(dir).some((name) => name.startsWith('machines.json.unreadable-'))).toBe(true);
    expect(existsSync(join(dir, 'machines.json'))).toBe(true);
  });
});
