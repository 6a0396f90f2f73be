import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { scrape } from '../../support/ask.ts';
import { BackfillRuns, FAST, KEY } from '../../support/backfill.ts';
import { seriesValue } from '../../support/exposition-text.ts';
import type { FaultServer, ServiceRequest } from '../../support/fault-server.ts';
import { portOf, type Running, startExporter, waitFor } from '../../support/program.ts';
import { startService } from '../../support/service.ts';

const HOUR = 3_600;
const DAY = 86_400;
const MIDNIGHT = Math.floor(Date.now() / 1000 / DAY) * DAY;
const END = MIDNIGHT - 6 * HOUR;
const SPAN = spanOf(END - HOUR);
const BESIDE = /^The exporter \(pid (\d+)\) is running: requests go through it, after its own polls\.$/m;

function spanOf(start: number): string[] {
  return ['--source=machines', '--full-resolution', `--start=${start}`, `--end=${END}`];
}

/** Starts the exporter with the configuration of the backfills, and waits for its first values. */
async function startBeside(runs: BackfillRuns, ...flags: readonly string[]): Promise<Running> {
  const line = [`--config.file=${runs.config}`, '--web.listen-address=127.0.0.1:0', '--log.format=json', ...flags];
  const daemon = startExporter(['serve', ...line], { BEACONCHAIN_API_KEY: KEY });
  await waitFor(async () => {
    expect(await scrape(await portOf(daemon))).not.toMatch(/^beaconchain_source_attempts_total\{.*\} 0$/m);
  }, 30_000);
  return daemon;
}

function textOf({ folder }: BackfillRuns): string {
  const files = readdirSync(folder).filter((name) => name.startsWith('past.om'));
  return files.map((name) => readFileSync(`${folder}/${name}`, 'utf8')).join('');
}

const isPast = ({ path, body }: ServiceRequest): boolean =>
  path.endsWith('/machine-metrics') && JSON.parse(body).range.timestamp.end <= END;

function socketOf(runs: BackfillRuns): string {
  return join(runs.folder, 'state', 'api.sock');
}

async function requestsOn(daemon: Running, endpoint: string): Promise<number> {
  const text = await scrape(await portOf(daemon));
  return seriesValue(text, 'beaconchain_api_requests_total', { endpoint }) ?? 0;
}

describe('system/programs/backfill-beside', () => {
  it('writes what it would write alone, from the ledger of the exporter, which goes on polling', async () => {
    const api = await startService(KEY, FAST);
    const alone = new BackfillRuns(api);
    await alone.run(...SPAN);
    const before = api.requests.length;

    const beside = new BackfillRuns(api);
    const daemon = await startBeside(beside);
    expect(statSync(socketOf(beside)).mode & 0o777).toBe(0o600);
    const { stderr } = await beside.run(...SPAN);
    expect(stderr.match(BESIDE)?.[1]).toBe(String(daemon.child.pid));
    expect(textOf(beside) === textOf(alone)).toBe(true);
    const past = api.requests.slice(before).filter(isPast).length;
    expect(past).toBeGreaterThan(20);
    await waitFor(async () => expect(await requestsOn(daemon, 'machine_metrics')).toBeGreaterThanOrEqual(past));
    const text = await scrape(await portOf(daemon));
    expect(text).not.toMatch(/^beaconchain_(api_request|source)_failures_total\{.*\} [1-9]/m);
    await daemon.stop();
    expect(existsSync(socketOf(beside))).toBe(false);
  });
});
