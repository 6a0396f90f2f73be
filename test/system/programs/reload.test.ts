import { existsSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { seriesValue } from '../../support/exposition/exposition-text.ts';
import type { FaultServerOptions } from '../../support/faults/fault-server.ts';
import { startService } from '../../support/faults/service.ts';
import { temporaryFolder } from '../../support/files/files.ts';
import { ask, scrape } from '../../support/network/ask.ts';
import { makeCertificate } from '../../support/network/certificates.ts';
import {
  allUp,
  asking,
  portOf,
  serveArgs,
  startExporter,
  startServe,
  waitFor,
} from '../../support/programs/program.ts';
import { areMissing, OPENSSL } from '../../support/tools/tools.ts';
import { basic, hashOf, tlsSection } from '../../support/web/web-config.ts';

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
  it('refuses a file with a mistake, says why, and takes the corrected file', async () => {
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

  it('refuses a change that takes a restart', async () => {
    const { file, dir, reload, isUp } = await setUp();
    await isUp('machines');
    const fixed = `state: {dir: "${dir}-2"}\nweb: {telemetry_path: /other}`;
    writeFileSync(file, `chains: {mainnet: {}}\napi: {key: x}\n${fixed}\n`);
    const text = 'not reloaded: web.telemetry_path, state have changed: this requires a restart\n';
    expect(await reload()).toEqual({ status: 500, text });
    expect(existsSync(`${dir}-2`)).toBe(false);
  });

  it.skipIf(areMissing(OPENSSL))('takes other users, and says which settings of TLS take a restart', async () => {
    const api = await startService(KEY);
    const file = join(temporaryFolder(), 'web.yml');
    const usersWith = (password: string): string => `basic_auth_users: {me: "${hashOf(password)}"}\n`;
    const tls = tlsSection(makeCertificate());
    writeFileSync(file, tls + usersWith('old'));
    const program = startServe(`${asking(api.url)}web: {config_file: ${file}}\n`, KEY);
    const port = await portOf(program);
    const reload = async (next: string, password = 'old'): Promise<string> => {
      writeFileSync(file, next);
      const options = { method: 'POST', headers: basic('me', password), tls: { rejectUnauthorized: false } };
      return (await ask(port, '/-/reload', options)).body.toString();
    };
    const fixed = 'tls_server_config.client_auth_type';
    const asked = `${tls}  client_auth_type: RequestClientCert\n${usersWith('old')}`;
    expect(await reload(asked)).toBe(`not reloaded: ${fixed} has changed: this requires a restart\n`);
    const plain = `not reloaded: TLS on or off, ${fixed} have changed: this requires a restart\n`;
    expect(await reload(usersWith('old'))).toBe(plain);
    expect(await reload(tls + usersWith('new'))).toBe('reloaded\n');
    expect(await reload(tls)).toBe('Unauthorized\n');
  });

  it('with --no-web.enable-lifecycle only SIGHUP reloads, and changes intervals and sources', async () => {
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

  it('does not wait for requests in flight, and aborts them only for another key', async () => {
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
