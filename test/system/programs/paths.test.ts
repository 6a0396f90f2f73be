import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { scrape } from '../../support/ask.ts';
import { periodAnswer } from '../../support/committees.ts';
import { seriesValue } from '../../support/exposition-text.ts';
import type { Respond } from '../../support/fault-server.ts';
import { temporaryFolder } from '../../support/files.ts';
import { portOf, startServe, waitFor } from '../../support/program.ts';
import { startService } from '../../support/service.ts';

const KEY = 'a-key-that-nobody-may-see';
const SOURCES = ['machines', 'daily_returns', 'slashings', 'sync_committee'];

/** A gateway that forbids a path it does not know, in front of a service that does not know `latest`. */
const gateway: Respond = ({ path, body }) => {
  if (path.endsWith('/benchmark-store')) return { status: 403, body: 'forbidden' };
  if (path.endsWith('/epoch/latest/slots'))
    return { status: 400, body: '{"status":"ERROR: invalid epoch","data":null}' };
  if (!path.endsWith('/sync-committee')) return undefined;
  const { number } = JSON.parse(body).sync_committee_period;
  return number === undefined ? { status: 405 } : { status: 200, body: JSON.stringify(periodAnswer(number)) };
};

describe('system/programs/paths', () => {
  it('finds what answers where a gateway refuses the rest, reads all, and keeps it over a restart', async () => {
    const api = await startService(KEY, { request: gateway });
    api.sandbox.dailyReturnsPath = 'eth-store';
    const dir = join(temporaryFolder(), 'state');
    const config = `api: {base_url: "${api.url}"}\nchains: {mainnet: {v1_base_url: "${api.url}"}}\nstate: {dir: "${dir}"}\nslashings: {interval: 5s}\n`;
    const program = startServe(config, KEY);
    const port = await portOf(program);
    await waitFor(async () => {
      const text = await scrape(port);
      for (const source of SOURCES) expect(seriesValue(text, 'beaconchain_source_up', { source }), source).toBe(1);
      expect(seriesValue(text, 'beaconchain_daily_return_day')).toBeGreaterThan(0);
      expect(seriesValue(text, 'beaconchain_sync_committee_period')).toBeGreaterThan(0);
      expect(seriesValue(text, 'beaconchain_head_slot')).toBeGreaterThan(0);
    });
    expect(program.lines('poll failed')).toEqual([]);
    await program.stop();
    const refused = (): string[] =>
      api.requests.map(({ path, body }) => `${path} ${body}`).filter((one) => /benchmark|latest/.test(one));
    expect(refused()).toHaveLength(3);

    const second = startServe(config, KEY);
    await waitFor(async () => {
      const attempts = seriesValue(await scrape(await portOf(second)), 'beaconchain_source_attempts_total', {
        source: 'slashings',
      });
      expect(attempts).toBeGreaterThan(1);
    });
    expect(refused()).toHaveLength(3);
    await second.stop();
    const saved = readFileSync(join(dir, 'daily_returns-mainnet.json'), 'utf8');
    expect(saved).toContain('"first":"/api/v2/ethereum/eth-store"');
  });
});
