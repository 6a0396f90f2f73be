import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import type { Respond } from '../../support/faults/fault-server.ts';
import { startService } from '../../support/faults/service.ts';
import { BackfillRuns, FAST, KEY } from '../../support/programs/backfill.ts';
import { ahead, type Running, startServe } from '../../support/programs/program.ts';

const HOUR = 3_600;
const DAY = 86_400;
const MIDNIGHT = Math.floor(Date.now() / 1000 / DAY) * DAY;
/** A span in two UTC days. */
const ACROSS_MIDNIGHT = spanOf(MIDNIGHT - DAY - HOUR, MIDNIGHT - DAY + 2 * HOUR);
const EPOCHS = ['--source=validators', `--start=${MIDNIGHT - DAY}`, `--end=${MIDNIGHT - DAY + 6 * HOUR}`] as const;
const DAILY = ['--source=daily-returns', '--chain=hoodi', '--window=all_time'] as const;

function spanOf(start: number, end: number): string[] {
  return ['--source=machines', '--full-resolution', `--start=${start}`, `--end=${end}`];
}

/** The errors of a run that fails. */
async function failed(runs: BackfillRuns, ...flags: readonly string[]): Promise<string> {
  const running = runs.start(...flags);
  expect(await running.ended).toMatchObject({ code: 1 });
  return running.stderr;
}

function textOf({ folder }: BackfillRuns): string {
  const files = readdirSync(folder).filter((name) => name.startsWith('past.om'));
  return files
    .toSorted()
    .map((name) => readFileSync(`${folder}/${name}`, 'utf8'))
    .join('');
}

/** Does something once, when this many requests have come. */
function atRequest(count: number, act: () => void): Respond {
  let seen = 0;
  return () => {
    seen += 1;
    if (seen === count) act();
    return undefined;
  };
}

it.each([
  ['machines across midnight', 'SIGKILL', ACROSS_MIDNIGHT, 50, 0, ['past.om', 'past.om.2']],
  ['epochs of validators', 'SIGKILL', EPOCHS, 50, 2, ['past.om']],
  ['daily returns', 'SIGINT', DAILY, 30, 0, ['past.om']],
] as const)(
  'resumes %s after %s without a second request for kept pages, and writes the same output',
  async (_what, signal, flags, count, prepared, files) => {
    let running: Running | undefined;
    const api = await startService(KEY, { ...FAST, request: atRequest(count, () => running?.child.kill(signal)) });
    const runs = new BackfillRuns(api);
    running = runs.start(...flags);
    const { code } = await running.ended;
    expect(code).toBe(signal === 'SIGKILL' ? null : 0);
    if (signal !== 'SIGKILL') expect(running.stderr).toContain('--resume');
    expect(existsSync(runs.output)).toBe(false);

    await runs.run(...flags, '--resume');
    const undisturbed = await startService(KEY, FAST);
    const clean = new BackfillRuns(undisturbed);
    await clean.run(...flags);
    // The texts are megabytes: a difference is not worth showing.
    expect(textOf(runs) === textOf(clean)).toBe(true);
    // At most the page that was under way, and what every run asks first.
    expect(api.requests.length).toBeLessThanOrEqual(undisturbed.requests.length + 1 + prepared);
    expect(readdirSync(runs.folder).toSorted()).toEqual(['config.yaml', ...files, 'state']);
  },
);

it('is refused while an exporter runs, and later ends before the first start of that exporter', async () => {
  const api = await startService(KEY, FAST);
  const runs = new BackfillRuns(api);
  const began = Date.now();
  const daemon = startServe(readFileSync(runs.config, 'utf8'), KEY);
  await daemon.line('listening');
  expect(await failed(runs, '--source=machines', '--start=-1h')).toMatch(/is in use by .*: stop it first/);
  await daemon.stop();

  const { stderr } = await runs.run('--source=machines', '--start=-1h');
  expect(stderr).toMatch(/^The backfill ends at .*, because the exporter first started at /m);
  const times = [...textOf(runs).matchAll(/^beaconchain_machine_cpu_cores\{[^}]*\} \d+ ([\d.]+)$/gm)].map(([, at]) =>
    Number(at),
  );
  const end = began / 1000 - 360;
  expect(Math.max(...times)).toBeLessThan(end + 60);
  expect(Math.max(...times)).toBeGreaterThan(end - 120);

  const later = new BackfillRuns(api, {}, runs.folder, 'later.om');
  const warned = await later.run('--source=machines', '--start=-1h', '--end=now');
  expect(warned.stderr).toMatch(/^Warning: the exporter first started at .*, before --end: counters step back/m);
});

it('spends from the ledger of the daemon, and needs --yes for more than is left', async () => {
  // In the middle of a month: two hours before its end a run waits for the next one.
  const now = new Date();
  const aheadMs = Date.UTC(now.getUTCFullYear(), now.getUTCMonth(), 15) - now.getTime();
  const plan = { perSecond: 1_000, perMonth: 120 };
  const api = await startService(KEY, { plan, now: () => Date.now() + aheadMs });
  const runs = new BackfillRuns(api, ahead(aheadMs));
  // One for each ten days since genesis, so it grows.
  const costs = /about \d{3}\b[\s\S]*% of the 10\d requests[\s\S]*--yes/;
  expect(await failed(runs, '--source=daily-returns')).toMatch(costs);
  // One for each chain, which also shows the limits.
  expect(api.requests).toHaveLength(2);
  expect(readdirSync(runs.folder).toSorted()).toEqual(['config.yaml', 'state']);

  const second = await failed(runs, '--source=daily-returns', '--yes');
  expect(second).toMatch(/allow no request until 20\d\d-/);
  expect(second).toContain('--resume');
  // As many as the line above says, give or take the one that a passing second rounds away.
  expect(api.requests.length).toBeGreaterThanOrEqual(107);
  expect(api.requests.length).toBeLessThanOrEqual(108);
});

it('resumes epochs only with the same validators', async () => {
  let running: Running | undefined;
  const api = await startService(KEY, { ...FAST, request: atRequest(20, () => running?.child.kill('SIGKILL')) });
  const runs = new BackfillRuns(api);
  running = runs.start(...EPOCHS);
  await running.ended;
  const config = readFileSync(runs.config, 'utf8');
  writeFileSync(runs.config, config.replace('12340-12349', '12340-12348'));
  expect(await failed(runs, '--resume')).toContain('the validators or their groups have changed');
  writeFileSync(runs.config, config);
  await runs.run('--resume');
  const none = await failed(new BackfillRuns(api), ...EPOCHS, '--chain=hoodi');
  expect(none).toContain('The configuration enables no validators on hoodi');
});

it('overwrites no file, and resumes only an interrupted run', async () => {
  const api = await startService(KEY, FAST);
  const runs = new BackfillRuns(api);
  await runs.run('--source=daily-returns', '--window=7d');
  expect(await failed(runs, '--source=daily-returns', '--window=7d')).toContain(`${runs.output} exists`);
  const done = await failed(runs, '--source=daily-returns', '--window=7d', '--resume');
  expect(done).toContain('--resume: there is no interrupted run');
  const { length: asked } = api.requests;
  const other = new BackfillRuns(api, {}, runs.folder, 'other.om');
  writeFileSync(`${other.output}.2`, 'earlier');
  expect(await failed(other, '--source=machines', '--start=-1h')).toContain(`${other.output}.2 exists`);
  expect(api.requests).toHaveLength(asked);
});
