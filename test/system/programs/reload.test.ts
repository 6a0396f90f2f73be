import { existsSync, writeFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { SOURCES } from '../../support/exposition/scraped-metrics.ts';
import { ask } from '../../support/network/ask.ts';
import { allUp, waitFor } from '../../support/programs/program.ts';
import { startReloading } from '../../support/programs/reloading.ts';

const KEY = 'the-first-key';
const OTHER_KEY = 'the-second-key';

const setUp = (given: Omit<Parameters<typeof startReloading>[0], 'key'> = {}) => startReloading({ key: KEY, ...given });

const SUCCESSFUL = 'beaconchain_exporter_config_last_reload_successful';

describe.concurrent('system/programs/reload', () => {
  it('a new interval and another source take hold at once, by SIGHUP', async () => {
    const { configure, program, value, isUp } = await setUp({
      more: 'machines: {interval: 5m}\nsync_committee: {enabled: false}\n',
    });
    for (const source of SOURCES) if (source !== 'sync_committee') await isUp(source);
    expect(await value('beaconchain_source_interval_seconds', { source: 'machines' })).toBe(300);
    const attempts = await value('beaconchain_source_attempts_total', { source: 'machines' });
    const loadedAt = await value('beaconchain_exporter_config_last_reload_success_timestamp_seconds');
    configure('machines: {interval: 2m}\n');
    program.child.kill('SIGHUP');
    await program.line('configuration reloaded');
    await isUp('sync_committee');
    expect(await value('beaconchain_source_interval_seconds', { source: 'machines' })).toBe(120);
    expect(await value('beaconchain_source_attempts_total', { source: 'machines' })).toBe(attempts);
    expect(await value('beaconchain_exporter_config_last_reload_success_timestamp_seconds')).toBeGreaterThan(
      loadedAt ?? 0,
    );
  });

  it('a file with a mistake changes nothing, says why, and is forgiven when it is mended', async () => {
    const { file, configure, reload, program, port, value, isUp } = await setUp();
    await isUp('machines');
    configure('machines: {interval: soon}\nslashings: {interval: late}\n');
    const { status, text } = await reload();
    expect(status).toBe(500);
    expect(text).toContain(`not reloaded: ${file}:3: machines.interval: expected`);
    expect(text).toContain(`\n${file}:4: slashings.interval: expected`);
    expect(await program.line('configuration not reloaded')).toMatchObject({ level: 'error' });
    expect(await value(SUCCESSFUL)).toBe(0);
    expect((await ask(port, '/')).body.toString()).toContain(`The reason: ${file}:3: machines.interval: expected`);
    expect(await value('beaconchain_source_interval_seconds', { source: 'machines' })).toBe(60);
    configure('');
    expect((await reload()).status).toBe(200);
    expect(await value(SUCCESSFUL)).toBe(1);
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

  it('--no-web.enable-lifecycle leaves the signal alone', async () => {
    const flags = ['--no-web.enable-lifecycle'];
    const { configure, reload, program, value, isUp } = await setUp({ flags });
    await isUp('machines');
    configure('machines: {interval: 2m}\n');
    expect(await reload()).toEqual({ status: 403, text: 'Lifecycle API is not enabled.\n' });
    expect(program.lines('configuration reloaded')).toEqual([]);
    program.child.kill('SIGHUP');
    expect(await program.line('configuration reloaded')).toMatchObject({ changed: true });
    expect(await value('beaconchain_source_interval_seconds', { source: 'machines' })).toBe(120);
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
