import { existsSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { seriesValue } from '../../support/exposition/exposition-text.ts';
import type { FaultServerOptions } from '../../support/faults/fault-server.ts';
import { startService } from '../../support/faults/service.ts';
import { temporaryFolder } from '../../support/files/files.ts';
import { ask, scrape } from '../../support/network/ask.ts';
import { allUp, asking, portOf, serveArgs, startExporter, waitFor } from '../../support/programs/program.ts';

const KEY = 'the-first-key';
const OTHER_KEY = 'the-second-key';

interface Given {
  /** The first key of the program, if it is not KEY. */
  readonly given?: string;
  readonly service?: Omit<FaultServerOptions, 'key'>;
  readonly flags?: readonly string[];
}

/** Starts a daemon and a service for it. The test can change its configuration file and its key file. */
async function setUp({ given = KEY, service, flags = [] }: Given = {}) {
  const api = await startService(KEY, service);
  const folder = temporaryFolder();
  const file = join(folder, 'config.yaml');
  const keyFile = join(folder, 'key');
  const dir = join(folder, 'state');
  /** @param rest Sections other than `api`, `chains` and `state` */
  const configure = (rest: string): void => {
    // A reload may be reading the file.
    writeFileSync(`${file}.next`, `${asking(api.url, `, key_file: "${keyFile}"`)}${rest}state: {dir: "${dir}"}\n`);
    renameSync(`${file}.next`, file);
  };
  const setKey = (next: string): void => writeFileSync(keyFile, next);
  configure('');
  setKey(given);
  const program = startExporter([...serveArgs(file), ...flags]);
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

const SUCCESSFUL = 'beaconchain_exporter_config_last_reload_successful';
const SUCCEEDED_AT = 'beaconchain_exporter_config_last_reload_success_timestamp_seconds';

describe.concurrent('system/programs/reload', () => {
  it('a file with a mistake changes nothing, says why, and is forgiven when it is mended', async () => {
    const { file, configure, reload, program, port, value, isUp } = await setUp();
    await isUp('machines');
    const loadedAt = (await value(SUCCEEDED_AT)) ?? 0;
    configure('machines: {interval: soon}\nslashings: {interval: late}\n');
    const { status, text } = await reload();
    expect(status).toBe(500);
    expect(text).toContain(`not reloaded: ${file}:3: machines.interval: expected`);
    expect(text).toContain(`\n${file}:4: slashings.interval: expected`);
    expect(await program.line('configuration not reloaded')).toMatchObject({ level: 'error' });
    expect([await value(SUCCESSFUL), await value(SUCCEEDED_AT)]).toEqual([0, loadedAt]);
    expect((await ask(port, '/')).body.toString()).toContain(`The reason: ${file}:3: machines.interval: expected`);
    expect(await value('beaconchain_source_interval_seconds', { source: 'machines' })).toBe(60);
    configure('');
    expect((await reload()).status).toBe(200);
    expect(await value(SUCCESSFUL)).toBe(1);
    expect(await value(SUCCEEDED_AT)).toBeGreaterThan(loadedAt);
  });

  it.each([
    ['web: {telemetry_path: /other}', 'web.telemetry_path has'],
    ['state: {dir: "DIR-2"}', 'state has'],
    ['state: {dir: "DIR-2"}\nweb: {telemetry_path: /other}', 'web.telemetry_path, state have'],
  ])('what takes a restart is refused: %s', async (more, refused) => {
    const { file, dir, reload, isUp } = await setUp();
    await isUp('machines');
    const state = more.includes('state:') ? '' : `\nstate: {dir: "${dir}"}`;
    writeFileSync(file, `chains: {mainnet: {}}\napi: {key: x}\n${more.replace('DIR', dir)}${state}\n`);
    const { status, text } = await reload();
    expect([status, text]).toEqual([500, `not reloaded: ${refused} changed: this requires a restart\n`]);
    expect(existsSync(`${dir}-2`)).toBe(false);
  });

  it('--no-web.enable-lifecycle leaves the signal alone, at which another interval and other sources take hold', async () => {
    const flags = ['--no-web.enable-lifecycle'];
    const { configure, reload, program, value, isUp } = await setUp({ flags });
    await isUp('machines');
    configure('machines: {interval: 2m}\nsync_committee: {enabled: false}\n');
    expect(await reload()).toEqual({ status: 403, text: 'Lifecycle API is not enabled.\n' });
    expect(program.lines('configuration reloaded')).toEqual([]);
    program.child.kill('SIGHUP');
    expect(await program.line('configuration reloaded')).toMatchObject({ changed: true });
    expect(await value('beaconchain_source_interval_seconds', { source: 'machines' })).toBe(120);
    expect(await value('beaconchain_source_up', { source: 'sync_committee' })).toBeUndefined();
  });

  it('what is in flight does not hold a reload up, goes on, and ends at once where another key is given', async () => {
    let hangs = true;
    const { api, port, reload, setKey, program } = await setUp({
      given: OTHER_KEY,
      service: { request: () => (hangs ? 'silence' : undefined) },
    });
    await waitFor(() => expect(api.requests).toHaveLength(1));
    expect((await reload()).status).toBe(200);
    expect(api.requests).toHaveLength(1);
    hangs = false;
    setKey(KEY);
    expect((await reload()).status).toBe(200);
    await allUp(port);
    expect(program.lines('poll failed')).toEqual([]);
  });
});
