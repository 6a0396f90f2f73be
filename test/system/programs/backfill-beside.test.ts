import { existsSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { monthStart } from '../../../src/budget/long-window.ts';
import { scrape } from '../../support/ask.ts';
import { BackfillRuns, FAST, KEY } from '../../support/backfill.ts';
import { seriesValue } from '../../support/exposition-text.ts';
import type { Respond, ServiceRequest } from '../../support/fault-server.ts';
import { portOf, type Running, startExporter, waitFor } from '../../support/program.ts';
import { startService } from '../../support/service.ts';

const HOUR = 3_600;
const DAY = 86_400;
const MIDNIGHT = Math.floor(Date.now() / 1000 / DAY) * DAY;
const END = MIDNIGHT - 6 * HOUR;
const SPAN = ['--source=machines', '--full-resolution', `--start=${END - HOUR}`, `--end=${END}`];
const DAILY = ['--source=daily-returns', '--chain=hoodi', '--window=90d'];
const BESIDE = /^The exporter \(pid (\d+)\) is running: requests go through it, after its own polls\.$/m;
/** In the last hours of a month polls need little of its quota. */
const isMonthLong = monthStart(Date.now(), 1) - Date.now() > 12 * HOUR * 1000;

/** Starts the exporter with the configuration of the backfills, and waits until it listens. */
async function startBeside(runs: BackfillRuns): Promise<Running> {
  const line = [`--config.file=${runs.config}`, '--web.listen-address=127.0.0.1:0', '--log.format=json'];
  const daemon = startExporter(['serve', ...line], { BEACONCHAIN_API_KEY: KEY });
  await portOf(daemon);
  return daemon;
}

function textOf({ folder }: BackfillRuns): string {
  const files = readdirSync(folder).filter((name) => name.startsWith('past.om'));
  return files.map((name) => readFileSync(`${folder}/${name}`, 'utf8')).join('');
}

/** What a backfill writes while no exporter runs, and the requests that it takes. */
async function alone(flags: readonly string[]): Promise<{ text: string; requests: number }> {
  const api = await startService(KEY, FAST);
  const runs = new BackfillRuns(api);
  await runs.run(...flags);
  return { text: textOf(runs), requests: api.requests.length };
}

function isPast({ path, body }: Pick<ServiceRequest, 'path' | 'body'>): boolean {
  return path.endsWith('/machine-metrics') && JSON.parse(body).range.timestamp.end <= END;
}

/** Does something once, when this many requests for the past have come. */
function atRequest(count: number, act: () => void): Respond {
  let seen = 0;
  return (request) => {
    if (isPast(request)) seen += 1;
    if (isPast(request) && seen === count) act();
    return undefined;
  };
}

function socketOf(runs: BackfillRuns): string {
  return join(runs.folder, 'state', 'api.sock');
}

const ALONE = { machines: alone(SPAN), daily: alone(DAILY) };

describe.concurrent('system/programs/backfill-beside', () => {
  it.each([
    ['machines', SPAN, 'machine_metrics', ALONE.machines],
    ['daily returns', DAILY, 'daily_returns', ALONE.daily],
  ])('of %s is what it would be alone, from the ledger of the exporter', async (_, flags, endpoint, undisturbed) => {
    const { text: past, requests } = await undisturbed;
    const api = await startService(KEY, FAST);
    const runs = new BackfillRuns(api);
    const daemon = await startBeside(runs);
    expect(statSync(socketOf(runs)).mode & 0o777).toBe(0o600);
    const { stderr } = await runs.run(...flags);
    expect(stderr.match(BESIDE)?.[1]).toBe(String(daemon.child.pid));
    expect(textOf(runs) === past).toBe(true);
    await waitFor(async () => {
      const text = await scrape(await portOf(daemon));
      expect(seriesValue(text, 'beaconchain_api_requests_total', { endpoint })).toBeGreaterThanOrEqual(requests);
      expect(text).not.toMatch(/^beaconchain_(api_request|source)_failures_total\{.*\} [1-9]/m);
    });
    expect(daemon.lines('a backfill sends its requests through this exporter, after its polls')).toHaveLength(1);
    await daemon.stop();
    expect(existsSync(socketOf(runs))).toBe(false);
  });

  it('goes on when the exporter is killed and started again, with no page asked for twice', async () => {
    let daemon: Running | undefined;
    const request = atRequest(10, () => daemon?.child.kill('SIGKILL'));
    const api = await startService(KEY, { ...FAST, request });
    const runs = new BackfillRuns(api);
    daemon = await startBeside(runs);
    const running = runs.start(...SPAN);
    await daemon.ended;
    expect(existsSync(socketOf(runs))).toBe(true);
    await startBeside(runs);
    expect(await running.ended).toMatchObject({ code: 0 });
    expect(running.stderr).toMatch(/waiting .*no process answers on .*api\.sock/);
    expect(textOf(runs) === (await ALONE.machines).text).toBe(true);
    // A page of each of eight sequences was under way.
    expect(api.requests.filter(isPast).length).toBeLessThanOrEqual((await ALONE.machines).requests + 8);
  });

  it('is continued with --resume after Ctrl-C, also in the place of an exporter that was killed', async () => {
    let running: Running | undefined;
    const request = atRequest(10, () => running?.child.kill('SIGINT'));
    const api = await startService(KEY, { ...FAST, request });
    const runs = new BackfillRuns(api);
    const daemon = await startBeside(runs);
    running = runs.start(...SPAN);
    expect(await running.ended).toMatchObject({ code: 0 });
    expect(running.stderr).toContain('--resume');
    await daemon.stop('SIGKILL');
    const { stderr } = await runs.run(...SPAN, '--resume');
    expect(stderr).not.toMatch(BESIDE);
    expect(textOf(runs) === (await ALONE.machines).text).toBe(true);
    await startBeside(runs);
    rmSync(runs.output);
    expect((await runs.run(...SPAN)).stderr).toMatch(BESIDE);
  });

  it.skipIf(!isMonthLong)('takes of a quota what the polls leave, and more only with --yes', async () => {
    const api = await startService(KEY, { ...FAST, plan: { perSecond: 1_000, perMonth: 2_000 } });
    const runs = new BackfillRuns(api);
    const daemon = await startBeside(runs);
    await waitFor(async () => {
      expect(await scrape(await portOf(daemon))).toMatch(/^beaconchain_source_attempts_total\{.*machines.*\} 1$/m);
    });
    const before = api.requests.filter(isPast).length;
    const refused = runs.start(...SPAN);
    expect(await refused.ended).toMatchObject({ code: 1 });
    expect(refused.stderr).toMatch(/^The running exporter needs the rest of the quota until 2.*Z\. Use --yes/m);
    const daily = runs.start(...DAILY);
    expect(await daily.ended).toMatchObject({ code: 1 });
    expect(daily.stderr).toContain("  quota     nothing is left this month after the exporter's own requests\n");
    expect(api.requests.filter(isPast).length).toBe(before);
    await runs.run(...SPAN, '--yes');
    expect(textOf(runs) === (await ALONE.machines).text).toBe(true);
  });

  it('says why it cannot run beside an exporter whose state directory has a path too long for a socket', async () => {
    const api = await startService(KEY, FAST);
    const runs = new BackfillRuns(api);
    const text = readFileSync(runs.config, 'utf8');
    writeFileSync(runs.config, text.replace('/state"', `/${'s'.repeat(100)}"`));
    const daemon = await startBeside(runs);
    await daemon.line('no socket in the state directory: a backfill can only run after this exporter stops');
    const refused = runs.start(...SPAN);
    expect(await refused.ended).toMatchObject({ code: 1 });
    expect(refused.stderr).toContain(`in use by process ${daemon.child.pid} on`);
    expect(refused.stderr).toContain(
      'stop the exporter during the backfill, because this path is too long for the socket',
    );
  });
});
