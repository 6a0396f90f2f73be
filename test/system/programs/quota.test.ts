import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { windowEnd } from '../../../src/budget/long-window.ts';
import { systemClock } from '../../../src/lib/clock.ts';
import { ask, scrape } from '../../support/ask.ts';
import { seriesValue } from '../../support/exposition-text.ts';
import { temporaryFolder } from '../../support/files.ts';
import { portOf, type Running, startServe, waitFor } from '../../support/program.ts';
import { startService } from '../../support/service.ts';
import { DAY, HOUR } from '../../support/timing.ts';

const KEY = 'key';
const SOURCES = ['daily_returns', 'sync_committee', 'machines', 'slashings'];
const START = systemClock.now();
const RENEWAL = windowEnd('month', START);

interface Saved {
  value: {
    buckets: Record<string, { month: { own: number; remaining: number } }>;
    key: { since: number };
    lastAttemptAt: number;
  };
}

/** Changes what the stopped program wrote. */
function rewrite(dir: string, name: string, change: (value: Saved['value']) => void): void {
  const file = join(dir, `${name}.json`);
  const saved = JSON.parse(readFileSync(file, 'utf8')) as Saved;
  change(saved.value);
  writeFileSync(file, JSON.stringify(saved));
}

function spendAll(dir: string): void {
  rewrite(dir, 'ledger', ({ buckets }) => {
    for (const { month } of Object.values(buckets)) Object.assign(month, { own: 900, remaining: 100 });
  });
}

function letADayPass(dir: string): void {
  rewrite(dir, 'ledger', ({ key }) => {
    key.since -= DAY;
  });
  rewrite(dir, 'machines', (entry) => {
    entry.lastAttemptAt -= DAY;
  });
}

// In the last hours of a month no source waits longer than an interval.
describe.skipIf(RENEWAL - START < 6 * HOUR)('system/programs/quota', () => {
  it('a quota that backfill used up: sources wait at their pace, and a larger plan is noticed at the next start', async () => {
    const { sandbox, url } = await startService(KEY, { plan: 'free_trial' });
    const dir = join(temporaryFolder(), 'state');
    const serve = (): Running =>
      startServe(
        `api: {base_url: "${url}"}\nchains: {mainnet: {v1_base_url: "${url}"}}\nstate: {dir: "${dir}"}\n`,
        KEY,
      );
    const metric = (text: string, name: string, source: string): number | undefined =>
      seriesValue(text, `beaconchain_source_${name}`, { source });

    const first = serve();
    const before = await waitFor(async () => {
      const text = await scrape(await portOf(first));
      for (const source of SOURCES) expect(metric(text, 'up', source), source).toBe(1);
      expect(metric(text, 'interval_seconds', 'machines')).toBeGreaterThan(3_600);
      return text;
    }, 30_000);
    await first.stop();
    spendAll(dir);
    const used = sandbox.account.inMonth;

    const second = serve();
    const line = await second.line('sources wait for the quota');
    const until = new Date(RENEWAL).toISOString();
    expect(line['level']).toBe('warn');
    expect(line['waits']).toMatchObject({ machines: `monthly quota, until ${until}` });
    expect(second.output).not.toContain('configured intervals');
    const port = await portOf(second);
    const text = await scrape(port);
    for (const source of SOURCES) {
      expect(metric(text, 'quota_wait_end_timestamp_seconds', source), source).toBe(RENEWAL / 1_000);
      expect(metric(text, 'next_attempt_timestamp_seconds', source), source).toBe(RENEWAL / 1_000);
      expect(metric(text, 'interval_seconds', source), source).toBeLessThan(3 * 3_600);
      expect(metric(text, 'up', source), source).toBe(1);
      expect(metric(text, 'failures_total', source), source).toBe(0);
    }
    expect(before).toContain('beaconchain_machine_cpu_cores{');
    const page = (await ask(port, '/')).body.toString();
    expect(page).toContain('Not working: all sources wait for the quota');
    expect(page).not.toContain('configured intervals');
    expect(page).toContain('no requests until the reset');
    expect((await ask(port, '/-/healthy')).status).toBe(200);
    await second.stop('SIGKILL');

    const third = serve();
    await third.line('sources wait for the quota');
    await third.stop('SIGKILL');
    expect(sandbox.account.inMonth).toBe(used);

    sandbox.plan = 'hobbyist';
    letADayPass(dir);
    const fourth = serve();
    const after = await waitFor(async () => {
      const now = await scrape(await portOf(fourth));
      for (const source of SOURCES) expect(metric(now, 'quota_wait_end_timestamp_seconds', source), source).toBe(0);
      expect(sandbox.account.inMonth).toBeGreaterThan(used);
      return now;
    });
    expect(metric(after, 'interval_seconds', 'machines')).toBe(60);
    expect(metric(after, 'next_attempt_timestamp_seconds', 'machines')).toBeLessThan(RENEWAL / 1_000);
    await fourth.stop();
    expect(fourth.stderr).toBe('');
  });
});
