import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { ask, scrape } from '../support/ask.ts';
import { seriesOf, seriesValue } from '../support/exposition-text.ts';
import { temporaryFolder } from '../support/files.ts';
import { portOf, startExporter, waitFor } from '../support/program.ts';
import { type Instead, startStubApi } from '../support/stub-api.ts';

const KEY = 'the-first-key';
const OTHER_KEY = 'the-second-key';

/** A daemon on a simulated API of its own, with a configuration and a key in files. */
async function setUp({ key = KEY, more = '', instead }: { key?: string; more?: string; instead?: Instead } = {}) {
  const api = await startStubApi(KEY, instead);
  const folder = temporaryFolder();
  const file = join(folder, 'config.yaml');
  const keyFile = join(folder, 'key');
  const dir = join(folder, 'state');
  const text = (rest: string): string =>
    `api: {base_url: "${api.url}", key_file: "${keyFile}"}\nchains: {mainnet: {v1_base_url: "${api.url}"}}\n${rest}`;
  const configure = (rest: string): void => writeFileSync(file, `${text(rest)}state: {dir: "${dir}"}\n`);
  const setKey = (next: string): void => writeFileSync(keyFile, next);
  configure(more);
  setKey(key);
  const program = startExporter([
    'serve',
    `--config.file=${file}`,
    '--web.listen-address=127.0.0.1:0',
    '--log.level=debug',
    '--log.format=json',
  ]);
  const port = await portOf(program);
  const reload = async (): Promise<{ status: number; text: string }> => {
    const { status, body } = await ask(port, '/-/reload', { method: 'POST' });
    return { status, text: body.toString() };
  };
  const value = async (name: string, labels = {}): Promise<number | undefined> =>
    seriesValue(await scrape(port), name, labels);
  const isUp = (source: string): Promise<void> =>
    waitFor(async () => expect(await value('beaconchain_source_up', { source })).toBe(1));
  return { api, file, dir, configure, setKey, program, port, reload, value, isUp };
}

const SOURCES = ['machines', 'daily_returns', 'slashings', 'sync_committee'];
const SUCCESSFUL = 'beaconchain_exporter_config_last_reload_successful';

describe.concurrent('programs/reload', () => {
  it('a reload without a change asks nothing that is not due, and no counter steps back', async () => {
    const { api, reload, port, isUp } = await setUp();
    for (const source of SOURCES) await isUp(source);
    const before = await waitFor(async () => {
      const text = await scrape(port);
      expect(seriesValue(text, 'beaconchain_api_requests_total', { endpoint: 'epoch_slots' })).toBeGreaterThan(0);
      return text;
    });
    const asked = api.requests.length;
    expect(await reload()).toEqual({ status: 200, text: 'reloaded\n' });
    const after = await scrape(port);
    for (const { name, labels, value } of seriesOf(before)) {
      if (!/^beaconchain_\w+_(total|bucket|sum|count)$/.test(name)) continue;
      expect(seriesValue(after, name, labels), name).toBeGreaterThanOrEqual(value);
    }
    expect(api.requests).toHaveLength(asked);
  });

  it.each(['POST', 'SIGHUP'])('a new interval and another source take hold at once, by %s', async (how) => {
    const { configure, reload, program, value, isUp } = await setUp({
      more: 'machines: {interval: 5m}\nsync_committee: {enabled: false}\n',
    });
    for (const source of SOURCES.slice(0, 3)) await isUp(source);
    expect(await value('beaconchain_source_interval_seconds', { source: 'machines' })).toBe(300);
    const loadedAt = await value('beaconchain_exporter_config_last_reload_success_timestamp_seconds');
    configure('machines: {interval: 2m}\n');
    if (how === 'POST') await reload();
    else program.child.kill('SIGHUP');
    await program.line('configuration reloaded');
    await isUp('sync_committee');
    expect(await value('beaconchain_source_interval_seconds', { source: 'machines' })).toBe(120);
    expect(await value('beaconchain_source_attempts_total', { source: 'machines' })).toBe(1);
    expect(await value('beaconchain_exporter_config_last_reload_success_timestamp_seconds')).toBeGreaterThan(
      loadedAt ?? 0,
    );
  });

  it('a source that is switched off is shown and asked no more, and goes on where it was when it is back', async () => {
    const { configure, reload, value, isUp } = await setUp();
    await isUp('slashings');
    const epoch = await value('beaconchain_scanned_epoch', { chain: 'mainnet' });
    configure('slashings: {enabled: false}\n');
    await reload();
    expect(await value('beaconchain_scanned_epoch', { chain: 'mainnet' })).toBeUndefined();
    configure('');
    await reload();
    expect(await value('beaconchain_scanned_epoch', { chain: 'mainnet' })).toBeGreaterThanOrEqual(epoch ?? 0);
    expect(await value('beaconchain_source_attempts_total', { source: 'slashings' })).toBeGreaterThanOrEqual(1);
  });

  it('a file with a mistake changes nothing, says why, and is forgiven when it is mended', async () => {
    const { file, configure, reload, program, value, isUp } = await setUp();
    await isUp('machines');
    configure('machines: {interval: soon}\n');
    const { status, text } = await reload();
    expect(status).toBe(500);
    expect(text).toContain(`not reloaded: ${file}:3: machines.interval: expected`);
    expect(await program.line('configuration not reloaded')).toMatchObject({ level: 'error' });
    expect(await value(SUCCESSFUL)).toBe(0);
    expect(await value('beaconchain_source_interval_seconds', { source: 'machines' })).toBe(60);
    configure('');
    expect((await reload()).status).toBe(200);
    expect(await value(SUCCESSFUL)).toBe(1);
  });

  it.each([
    ['web: {listen_address: "127.0.0.1:1"}', undefined],
    ['web: {telemetry_path: /other}', 'web.telemetry_path'],
    // An empty file is a web config.
    ['web: {config_file: /dev/null}', 'web.config_file'],
    ['log: {format: pretty}', undefined],
    ['', 'state'],
  ])('what takes a restart is refused: %s', async (more, refused) => {
    const { file, dir, configure, reload, isUp } = await setUp();
    await isUp('machines');
    if (more) configure(`${more}\n`);
    else writeFileSync(file, `chains: {mainnet: {}}\napi: {key: x}\nstate: {dir: "${dir}-2"}\n`);
    const { status, text } = await reload();
    // The flags that the program was started with stand over the file.
    if (refused) expect(text).toBe(`not reloaded: ${refused} has changed, which takes a restart\n`);
    else expect(status).toBe(200);
    expect(existsSync(`${dir}-2`)).toBe(false);
  });

  it('another key in the key file is used at once, also after the one before was refused', async () => {
    const { api, setKey, reload, value, isUp } = await setUp({ key: OTHER_KEY });
    await waitFor(async () => expect(await value('beaconchain_api_key_valid')).toBe(0));
    const refused = api.requests.length;
    setKey(KEY);
    expect((await reload()).status).toBe(200);
    for (const source of SOURCES) await isUp(source);
    expect(await value('beaconchain_api_key_valid')).toBe(1);
    expect(api.requests[refused]?.headers['authorization'] ?? api.requests[refused]?.headers['apikey']).toContain(KEY);
  });

  it('what is in flight does not hold a reload up', async () => {
    let hangs = true;
    const { reload, program, isUp } = await setUp({ instead: () => (hangs ? 'silence' : undefined) });
    hangs = true;
    const start = program.lines('listening').length;
    expect(start).toBe(1);
    hangs = false;
    expect((await reload()).status).toBe(200);
    await isUp('machines');
  });
});
