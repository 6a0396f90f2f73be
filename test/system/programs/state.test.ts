import { readdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pino } from 'pino';
import { describe, expect, it } from 'vitest';
import { STATE_VERSION } from '../../../src/facts/version.ts';
import { systemClock } from '../../../src/toolkit/lib/clock.ts';
import { openFileStore } from '../../../src/toolkit/state/file.ts';
import { isKeptCounter, seriesOf, seriesValue } from '../../support/exposition/exposition-text.ts';
import { SOURCES } from '../../support/exposition/scraped-metrics.ts';
import { startService } from '../../support/faults/service.ts';
import { configFile, temporaryFolder } from '../../support/files/files.ts';
import { ask, scrape } from '../../support/network/ask.ts';
import {
  allUp,
  asking,
  portOf,
  type Running,
  startExporter,
  startServe,
  waitFor,
} from '../../support/programs/program.ts';
import { atTheEnd } from '../../support/vitest/cleanup.ts';

const KEY = 'a-key-that-nobody-may-see';
const WITH_KEY = { BEACONCHAIN_API_KEY: KEY };

function config(url: string, dir: string): string {
  return `${asking(url)}state: {dir: "${dir}"}\n`;
}

/** The state directory as it is: text by file name. */
function contents(dir: string): Record<string, string> {
  return Object.fromEntries(readdirSync(dir).map((name) => [name, readFileSync(join(dir, name), 'utf8')]));
}

/** The metrics once every source is up, and the exporter's own counters have caught up with that. */
async function metricsOf(program: Running): Promise<string> {
  const port = await portOf(program);
  return waitFor(async () => {
    const text = await allUp(port);
    expect(seriesValue(text, 'beaconchain_api_requests_total', { endpoint: 'sync_committee' })).toBe(1);
    return text;
  });
}

/** What must never step back, by series. */
function counters(text: string): Map<string, number> {
  return new Map(
    seriesOf(text)
      .filter(({ name }) => isKeptCounter(name))
      .map(({ name, labels, value }) => [JSON.stringify([name, labels]), value]),
  );
}

describe.concurrent('system/programs/state', () => {
  it('after kill -9 every value is back, no counter steps back, and no request is sent that is not due', async () => {
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
      // What a process counts of itself starts at 0.
      expect(seriesValue(after, 'beaconchain_source_attempts_total', { source })).toBe(0);
    }
    expect((await ask(port, '/-/ready')).status).toBe(200);
    expect(api.requests).toHaveLength(asked);
    await second.stop();
    for (const name of readdirSync(dir)) expect(name).toMatch(/^([a-z_-]+\.json|lock)$/);
  });

  it('a daemon ends with one line if another process holds the directory that replaced its own', async () => {
    const api = await startService(KEY);
    const dir = join(temporaryFolder(), 'state');
    const program = startServe(`${config(api.url, dir)}machines: {interval: 5s}\n`, KEY);
    // Between two polls, when nothing is being written.
    await metricsOf(program);
    const other = await openFileStore(`${dir}.new`, systemClock, pino({ enabled: false }), { version: STATE_VERSION });
    atTheEnd(() => other.close());
    renameSync(dir, `${dir}.old`);
    renameSync(`${dir}.new`, dir);
    expect(await program.ended).toEqual({ code: 1, signal: null });
    expect(program.stderr).toMatch(/^the state directory .*\n$/);
    expect(program.stderr).toContain(`${dir} is in use by process ${process.pid} on`);
    expect(readdirSync(dir).toSorted()).toEqual(['lock', 'lock.holder']);
  });

  it('refuses the state of an older version with the line to type, and leaves the state unchanged', async () => {
    const version = STATE_VERSION - 1;
    const api = await startService(KEY);
    const dir = join(temporaryFolder(), 'state');
    const first = startServe(config(api.url, dir), KEY);
    await metricsOf(first);
    await first.stop();
    const asked = api.requests.length;
    const file = join(dir, 'ledger.json');
    writeFileSync(file, JSON.stringify({ ...JSON.parse(readFileSync(file, 'utf8')), version }));
    const before = contents(dir);
    const second = startServe(config(api.url, dir), KEY);
    expect(await second.ended).toEqual({ code: 1, signal: null });
    expect(second.stderr).toBe(
      `${file} was written by an older version of the exporter (format ${version}, this version has ${STATE_VERSION}). ` +
        `It was not changed. Start the version that wrote it, or begin without this state: mv ${dir} ${dir}.old\n`,
    );
    const check = startExporter(['check', `--config.file=${configFile(config(api.url, dir))}`], WITH_KEY);
    expect(await check.ended).toEqual({ code: 0, signal: null });
    expect(check.stdout).toContain(`\nWarning: serve would not start: ${second.stderr}`);
    expect(contents(dir)).toEqual(before);
    const line = second.stderr.trimEnd().replaceAll(dir, '/var/lib/beaconchain-exporter');
    expect(readFileSync('docs/operations.md', 'utf8').split('\n')).toContain(line);
    // What the operator types is enough.
    const [, ...renamed] = /: mv (\S+) (\S+)$/m.exec(second.stderr) ?? [];
    renameSync(renamed[0] ?? '', renamed[1] ?? '');
    await metricsOf(startServe(config(api.url, dir), KEY));
    expect(api.requests.length).toBeGreaterThan(asked);
  });
});
