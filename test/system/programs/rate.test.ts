import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { systemClock } from '../../../src/lib/clock.ts';
import { scrape } from '../../support/ask.ts';
import { seriesValue } from '../../support/exposition-text.ts';
import { temporaryFolder } from '../../support/files.ts';
import { portOf, startServe, waitFor } from '../../support/program.ts';
import { startService } from '../../support/service.ts';

const KEY = 'a-key-that-nobody-may-see';
const INTERVAL_MS = 2_000;
const SWEEP_MS = 2_500;

describe('system/programs/rate', () => {
  it('a sweep longer than the interval is followed at once, and the interval shown is what it takes', async () => {
    const starts: number[] = [];
    const isSweep = (path: string, body: string): boolean =>
      path.endsWith('/machine-metrics') && !body.includes('cursor');
    const api = await startService(KEY, {
      plan: 'scale',
      // More than are probed at the first start.
      machines: 12,
      async request({ path, body }) {
        if (!isSweep(path, body)) return undefined;
        starts.push(systemClock.monotonic());
        await systemClock.sleep(SWEEP_MS);
        return undefined;
      },
    });
    const dir = join(temporaryFolder(), 'state');
    const urls = `api: {base_url: "${api.url}"}\nchains: {mainnet: {v1_base_url: "${api.url}"}}\n`;
    const port = await portOf(
      startServe(`${urls}state: {dir: "${dir}"}\nmachines: {interval: ${INTERVAL_MS}ms}\n`, KEY),
    );
    await waitFor(() => expect(starts.length).toBeGreaterThan(6), 40_000);
    const told = seriesValue(await scrape(port), 'beaconchain_source_interval_seconds', { source: 'machines' }) ?? 0;
    const [first = 0, ...others] = starts.slice(2, 7);
    const met = ((others.at(-1) ?? 0) - first) / others.length / 1_000;
    expect(told).toBeGreaterThanOrEqual(SWEEP_MS / 1_000);
    expect(Math.abs(met / told - 1)).toBeLessThanOrEqual(0.1);
  });
});
