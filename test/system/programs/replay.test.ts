import { describe, expect, it } from 'vitest';
import { listAt } from '../../../src/commands/probe/requests.ts';
import { seriesOf } from '../../support/exposition-text.ts';
import type { FaultServer } from '../../support/fault-server.ts';
import { temporaryFolder } from '../../support/files.ts';
import { readDump, replayConfig, startReplay } from '../../support/replay/replay.ts';
import { startService } from '../../support/service.ts';
import {
  checked,
  checkedReplay,
  endsWell,
  expectAge,
  expectCurrentPeriod,
  expectHead,
  expectNewestDay,
  KEY,
  OFTEN,
  recorded,
  type Served,
  served,
  servedReplay,
} from './replay-runs.ts';

const OF_2024 = recorded('back-end-of-2024');
const ODD = recorded('errors-and-odd-rows', ['mainnet', 'hoodi']);
const MEMBERS = 'slashings: {interval: 5s, watch: ["0-10"]}\nsync_committee: {members: true}\n';
const NO_HEADERS = recorded('no-rate-headers', ['mainnet'], `machines: {interval: 5s}\n${MEMBERS}`);

const ALL_UP = {
  machines: 1,
  'daily_returns mainnet': 1,
  'sync_committee mainnet': 1,
  'slashings mainnet': 1,
};

describe.concurrent('system/programs/replay', () => {
  it('the back end of 2024 is read whole: nothing differs that may not, the other path has the day', async () => {
    const daemon = await servedReplay(OF_2024);
    const { value, aboveZero, at } = daemon;
    expect(aboveZero('source_up')).toEqual(ALL_UP);
    expectNewestDay(daemon);
    expectCurrentPeriod(daemon);
    expectHead(daemon, 3);
    expect(value('machines')).toBe(5);
    const seen = (machine: string): number =>
      value('machine_last_seen_timestamp_seconds', { machine, process: 'system' });
    expectAge(at - seen('machine-1'), 12.5);
    expect(seen('machine-1') - seen('unnamed')).toBeGreaterThan(10);
    // What is left out is a zero.
    expect(value('machine_peers', { machine: 'machine-4' })).toBe(0);
    expect(value('machine_synced', { machine: 'machine-4' })).toBe(0);
    expect(value('machine_validators_active', { machine: 'machine-4' })).toBe(0);
    expectAge(at - value('machine_boot_time_seconds', { machine: 'machine-1' }), 1_080_000);
    expect(Math.abs(value('machine_head_slot', { machine: 'machine-1' }) - value('head_slot'))).toBeLessThanOrEqual(32);
    expect(aboveZero('api_invalid_records_total')).toEqual({});
    expect(aboveZero('api_request_failures_total')).toEqual({ 'daily_returns not_found': 1 });
    await endsWell(daemon);
  });

  it('its probe ends well, and says what the specification leaves open', async () => {
    const { code, lines, stdout, requests } = await checkedReplay(OF_2024);
    expect(lines).toEqual(
      expect.arrayContaining([
        'machine_metrics 200 13 0 default no /api/v2/machine-metrics',
        'daily_returns mainnet 200 1 0 default 1 no /api/v2/ethereum/eth-store',
        'sync_committee mainnet 200 1 0 default 1 no /api/v2/ethereum/sync-committee',
        'epoch_slots mainnet 200 4 0 default 1 no /api/v1/epoch/latest/slots',
        'machine_metrics: times are in: milliseconds.',
        'machine_metrics: page_size limits each list.',
        'daily_returns of mainnet: /api/v2/ethereum/benchmark-store returned status 404.',
      ]),
    );
    expect(stdout).not.toMatch(/: (absent|unknown|of another type):/);
    expect(code).toBe(0);
    expect(requests).toBe(6);
  });

  it('behind errors and odd rows all that can be read is shown, a chain that fails harms no other', async () => {
    const daemon = await servedReplay(ODD);
    const { value, aboveZero, at } = daemon;
    expect(aboveZero('source_up')).toMatchObject({ machines: 1, 'sync_committee mainnet': 1, 'slashings mainnet': 1 });
    for (const source of ['daily_returns', 'sync_committee', 'slashings']) {
      expect(value('source_up', { source, chain: 'hoodi' })).toBe(0);
    }
    expectCurrentPeriod(daemon);
    expectHead(daemon, 5);
    expect(value('machines', { chain: 'mainnet' })).toBe(2);
    expectAge(at - value('machine_last_seen_timestamp_seconds', { machine: 'machine-2' }), 31);
    // Of seven rows, one is orphaned beside a canonical one, and one has a status that nobody knows.
    const slots = (status: string): number => value('slots_total', { chain: 'mainnet', status });
    const epochs = slots('missed');
    expect(epochs).toBeGreaterThanOrEqual(1);
    expect([slots('proposed'), slots('orphaned')]).toEqual([4 * epochs, 0]);
    expect(value('attester_slashings_total', { chain: 'mainnet', kind: 'double_vote' })).toBeGreaterThanOrEqual(2);
    expect(value('attester_slashed_validators_total', { chain: 'mainnet' })).toBe(2);
    expect(value('ratelimit_limit', { bucket: 'oldsubnewapi', window: 'second' })).toBe(2);
    expect(value('ratelimit_limit', { bucket: 'default', window: 'second' })).toBe(5);
    expect(value('api_invalid_records_total', { endpoint: 'epoch_slots' })).toBeGreaterThanOrEqual(2);
    await endsWell(daemon);
  });

  it('their probe is understood in part, and says what failed and why', async () => {
    const { code, lines } = await checkedReplay(ODD);
    expect(lines).toEqual(
      expect.arrayContaining([
        'machine_metrics 200 4 0 oldsubnewapi no /api/v2/machine-metrics',
        'daily_returns mainnet 200 1 0 oldsubnewapi 1 no /api/v2/ethereum/eth-store',
        'epoch_slots mainnet 200 6 1 default no /api/v1/epoch/latest/slots',
        expect.stringMatching(/^attester_slashings mainnet 200 1 0 default 1 no /),
        'machine_metrics: times are in: seconds.',
        'daily_returns of mainnet: /api/v2/ethereum/benchmark-store returned status 403.',
        'epoch_slots of mainnet: unknown: data[].status (the value "4").',
        'sync_committee of hoodi: server_error (status 502).',
        'epoch_slots of hoodi: server_error (status 500).',
      ]),
    );
    expect(code).toBe(4);
  });

  it('without any rate header all sources are up; a record with numbers as strings is left out', async () => {
    const daemon = await servedReplay(NO_HEADERS);
    const { value, aboveZero, at, text } = daemon;
    expect(aboveZero('source_up')).toEqual(ALL_UP);
    expectNewestDay(daemon);
    expectCurrentPeriod(daemon);
    expectHead(daemon, 2);
    expect(value('machines')).toBe(4);
    expectAge(at - value('machine_last_seen_timestamp_seconds', { machine: 'machine-4' }), 40);
    expect(value('machine_validators', { machine: 'machine-2' })).toBe(12);
    expect(value('machine_validators', { machine: 'machine-3' })).toBeNaN();
    expect(value('machine_peers', { machine: 'machine-3' })).toBe(97);
    expect(text).not.toMatch(/^beaconchain_ratelimit_\w+\{/m);
    expect(text).not.toMatch(/^beaconchain_watched_sync_committee_validators\{/m);
    await endsWell(daemon);
  });

  it('its probe is understood in part, and invents no limits', async () => {
    const { code, lines } = await checkedReplay(NO_HEADERS);
    expect(lines).toEqual(
      expect.arrayContaining([
        'machine_metrics 200 9 1 no /api/v2/machine-metrics',
        'sync_committee_members mainnet 200 0 0 no /api/v1/sync_committee/latest',
        'epoch_slots mainnet 200 3 0 no /api/v1/epoch/latest/slots',
        'machine_metrics: page_size limits all lists together.',
        'Rate-limit headers missing in all responses: all.',
        'Key: valid. Plan: not known, because the responses contain no limits.',
      ]),
    );
    expect(code).toBe(4);
  });

  it('a service that refuses the key is told as such, after one request and without a plan', async () => {
    const refusals = OF_2024.dump.map(({ body: _, ...answer }) => ({ ...answer, status: 401, body: { error: KEY } }));
    const { code, stdout, requests } = await checkedReplay({ ...OF_2024, dump: refusals });
    expect(code).toBe(1);
    expect(stdout).toContain('Key: refused.');
    expect(stdout).not.toContain('requests/day');
    expect(requests).toBe(1);
  });

  it('what a probe has written of a service gives the same series again', async () => {
    const service = await startService(KEY, { machines: 3, slotsPerSlashing: Number.POSITIVE_INFINITY });
    const config = ({ url }: FaultServer): string =>
      `api: {base_url: "${url}"}\nchains: {mainnet: {v1_base_url: "${url}"}}\nstate: {dir: "${temporaryFolder()}"}\n`;
    const folder = temporaryFolder();
    const { code } = await checked(service, config(service) + OFTEN, `--probe.dump=${folder}`);
    expect(code).toBe(0);
    const dump = readDump(folder);
    const replay = await startReplay(dump, KEY);
    const [original, again] = await Promise.all([
      served(config(service) + OFTEN),
      served(replayConfig(replay, temporaryFolder()) + OFTEN),
    ]);
    expect(seriesWithoutNames(again)).toEqual(seriesWithoutNames(original));
    expectNewestDay(again);
    expectCurrentPeriod(again);
    expectHead(again, again.value('head_slot') % 32);
    expect(again.value('machines')).toBe(3);
    const [day] = listAt(dump.find(({ endpoint }) => endpoint === 'daily_returns')?.body, 'data');
    expect(day).toMatchObject({ apr: { combined: again.value('daily_return_combined_apr_ratio') } });
    await endsWell(original);
    await endsWell(again);
  });
});

/** All series with their labels, but those that a dump replaces or shortens. */
function seriesWithoutNames({ text }: Served): string[] {
  const replaced = ['machine', 'exporter_version', 'client_version'];
  return seriesOf(text)
    .filter(({ name }) => name.startsWith('beaconchain_'))
    .map(({ name, labels }) => `${name} ${Object.entries(labels).filter(([label]) => !replaced.includes(label))}`)
    .sort();
}
