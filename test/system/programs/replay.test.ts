import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { CHAINS, type Chain } from '../../../src/lib/chain.ts';
import { scrape } from '../../support/ask.ts';
import { seriesOf, seriesValue } from '../../support/exposition-text.ts';
import type { FaultServer } from '../../support/fault-server.ts';
import { temporaryFolder } from '../../support/files.ts';
import { portOf, startExporter, startServe, waitFor } from '../../support/program.ts';
import type { Dump } from '../../support/replay/answer-at.ts';
import { readDump, replayConfig, startReplay } from '../../support/replay/replay.ts';
import { startService } from '../../support/service.ts';

const KEY = 'a-key-that-nobody-may-see';
const SOURCES_OF_MAINNET = {
  machines: 1,
  'daily_returns,mainnet': 1,
  'sync_committee,mainnet': 1,
  'slashings,mainnet': 1,
};
/** So often that what is to happen once has occasion to happen again. */
const OFTEN = { machines: 'interval: 5s', slashings: 'interval: 5s' };

interface Recorded {
  readonly dump: Dump;
  readonly chains: readonly Chain[];
  readonly more: string;
}

function recorded(
  name: string,
  { chains = ['mainnet'] as readonly Chain[], machines = OFTEN.machines, slashings = OFTEN.slashings, more = '' } = {},
): Recorded {
  const dump = readDump(join(import.meta.dirname, '../../replays', name));
  return { dump, chains, more: `machines: {${machines}}\nslashings: {${slashings}}\n${more}` };
}

const OF_2024 = recorded('back-end-of-2024');
const ODD = recorded('errors-and-odd-rows', {
  chains: ['mainnet', 'hoodi'],
  machines: `${OFTEN.machines}, chain: mainnet`,
});
const BARE = recorded('no-rate-headers', {
  slashings: `${OFTEN.slashings}, watch: ["0-10"]`,
  more: 'sync_committee: {members: true}\n',
});

async function checked(service: FaultServer, config: string, ...flags: string[]) {
  const file = join(temporaryFolder(), 'config.yaml');
  writeFileSync(file, config);
  const program = startExporter(['check', '--probe', `--config.file=${file}`, ...flags], { BEACONCHAIN_API_KEY: KEY });
  const { code } = await program.ended;
  expect(program.output).not.toContain(KEY);
  const lines = program.stdout.split('\n');
  // Without the time, which is that of this machine.
  const rows = lines.map((line) => line.replace(/ \d+ ms /, ' ').replace(/ +/g, ' '));
  return { code, stdout: program.stdout, rows, paths: service.requests.map(({ path }) => path) };
}

async function probed({ dump, chains, more }: Recorded) {
  const service = await startReplay(dump, KEY);
  return checked(service, replayConfig(service, temporaryFolder(), chains) + more);
}

/** A daemon, once it has polled every source, and the busy ones of mainnet several times. */
async function served(config: string) {
  const program = startServe(config, KEY);
  const port = await portOf(program);
  const text = await waitFor(async () => {
    const now = await scrape(port);
    for (const { labels, value } of seriesOf(now).filter(({ name }) => name === 'beaconchain_source_attempts_total')) {
      const isBusy =
        labels['source'] === 'machines' || (labels['source'] === 'slashings' && labels['chain'] === 'mainnet');
      expect(value).toBeGreaterThanOrEqual(isBusy ? 3 : 1);
    }
    expect(seriesOf(now).filter(({ name }) => name === 'beaconchain_source_up')).not.toHaveLength(0);
    return now;
  });
  const at = Date.now() / 1000;
  const value = (name: string, labels = {}): number => seriesValue(text, `beaconchain_${name}`, labels) ?? Number.NaN;
  /** The series above 0, as `label,label`. */
  const above0 = (name: string): Record<string, number> =>
    Object.fromEntries(
      seriesOf(text)
        .filter((one) => one.name === `beaconchain_${name}` && one.value > 0)
        .map((one) => [Object.values(one.labels).join(','), one.value]),
    );
  return { program, text, at, value, above0 };
}

type Served = Awaited<ReturnType<typeof served>>;

async function replayed({ dump, chains, more }: Recorded): Promise<Served> {
  const service = await startReplay(dump, KEY);
  return served(replayConfig(service, temporaryFolder(), chains) + more);
}

/** What every daemon is to do, whatever the service answers. Returns the differences that it has told. */
async function endsWell({ program, text }: Served): Promise<string[]> {
  const { code } = await program.stop();
  expect(code).toBe(0);
  expect(program.output + text).not.toContain(KEY);
  expect(program.output).not.toMatch(/"level":"(error|fatal)"/);
  return program
    .lines('answer differs from the specification')
    .map(({ endpoint, kind, field }) => `${endpoint} ${kind} ${field}`)
    .sort();
}

/** Day, period and head of a chain, by its genesis. A poll may have been just before a new one began. */
function expectNow({ value, at }: Served, chain: Chain, headRow: number): void {
  const labels = { chain };
  const { genesis } = CHAINS[chain];
  const day = value('daily_return_day', labels);
  expect(value('daily_return_end_timestamp_seconds', labels)).toBe(genesis + (day + 1) * 86_400);
  expectAge(at - value('daily_return_end_timestamp_seconds', labels), 0, 86_400);
  expectPeriod({ value, at }, chain);
  const slot = value('head_slot', labels);
  expect(slot % 32).toBe(headRow);
  expect(value('head_epoch', labels)).toBe(Math.floor(slot / 32));
  expectAge(at - (genesis + slot * 12), 0, 384);
  expect(value('finalized_epoch', labels)).toBeLessThanOrEqual(value('head_epoch', labels) - 2);
  expect(value('finalized_epoch', labels)).toBeGreaterThanOrEqual(value('head_epoch', labels) - 3);
}

function expectPeriod({ value, at }: Pick<Served, 'value' | 'at'>, chain: Chain): void {
  const period = value('sync_committee_period', { chain });
  const start = CHAINS[chain].genesis + period * 98_304;
  expect(value('sync_committee_start_timestamp_seconds', { chain })).toBe(start);
  expect(value('sync_committee_start_epoch', { chain })).toBe(period * 256);
  expectAge(at - start, 0, 98_304);
}

const SLACK = 120;

function expectAge(age: number, least: number, most: number): void {
  expect(age).toBeGreaterThanOrEqual(least);
  expect(age).toBeLessThanOrEqual(most + SLACK);
}

describe.concurrent('system/programs/replay', () => {
  it('the back end of 2024 is read whole: nothing differs that may not, the other path has the day', async () => {
    const daemon = await replayed(OF_2024);
    const { value, above0, at } = daemon;
    expect(above0('source_up')).toEqual(SOURCES_OF_MAINNET);
    expectNow(daemon, 'mainnet', 3);
    expect(value('machines')).toBe(5);
    const seen = (machine: string): number =>
      value('machine_last_seen_timestamp_seconds', { machine, process: 'system' });
    expectAge(at - seen('machine-1'), 12.5, 12.5);
    expect(seen('machine-1') - seen('unnamed')).toBeGreaterThan(10);
    // What is left out is a zero.
    expect(value('machine_peers', { machine: 'machine-4' })).toBe(0);
    expect(value('machine_synced', { machine: 'machine-4' })).toBe(0);
    expect(value('machine_validators_active', { machine: 'machine-4' })).toBe(0);
    expectAge(at - value('machine_boot_time_seconds', { machine: 'machine-1' }), 1_080_000, 1_080_000);
    expect(Math.abs(value('machine_head_slot', { machine: 'machine-1' }) - value('head_slot'))).toBeLessThanOrEqual(32);
    expect(above0('api_schema_drift')).toEqual({});
    expect(above0('api_invalid_records_total')).toEqual({});
    expect(above0('api_request_failures_total')).toEqual({ 'daily_returns,not_found': 1 });
    expect(await endsWell(daemon)).toEqual([]);
  });

  it('its probe ends well, and says what the specification leaves open', async () => {
    const { code, rows, stdout, paths } = await probed(OF_2024);
    expect(rows).toEqual(
      expect.arrayContaining([
        'machine_metrics 200 13 0 default no /api/v2/machine-metrics',
        'daily_returns mainnet 200 1 0 default 1 no /api/v2/ethereum/eth-store',
        'sync_committee mainnet 200 1 0 default 1 no /api/v2/ethereum/sync-committee',
        'epoch_slots mainnet 200 4 0 default 1 no /api/v1/epoch/latest/slots',
        'machine_metrics: times are in: milliseconds.',
        'machine_metrics: page_size limits each list.',
        'daily_returns of mainnet: /api/v2/ethereum/benchmark-store was refused with status 404.',
      ]),
    );
    expect(stdout).not.toMatch(/: (absent|unknown|of another type):/);
    expect(code).toBe(0);
    expect(paths).toHaveLength(6);
  });

  it('behind errors and odd rows all that can be read is shown, a chain that fails harms no other', async () => {
    const daemon = await replayed(ODD);
    const { value, above0, at } = daemon;
    expect(above0('source_up')).toMatchObject({ machines: 1, 'sync_committee,mainnet': 1, 'slashings,mainnet': 1 });
    for (const source of ['daily_returns', 'sync_committee', 'slashings']) {
      expect(value('source_up', { source, chain: 'hoodi' })).toBe(0);
    }
    expectPeriod(daemon, 'mainnet');
    expect(value('head_slot', { chain: 'mainnet' }) % 32).toBe(5);
    expect(value('machines', { chain: 'mainnet' })).toBe(2);
    expectAge(at - value('machine_last_seen_timestamp_seconds', { machine: 'machine-2' }), 31, 31);
    // Of seven rows, one is orphaned beside a canonical one, and one has a status that nobody knows.
    const slots = (status: string): number => value('slots_total', { chain: 'mainnet', status });
    const epochs = slots('missed');
    expect(epochs).toBeGreaterThanOrEqual(1);
    expect([slots('proposed'), slots('orphaned')]).toEqual([4 * epochs, 0]);
    expect(value('attester_slashings_total', { chain: 'mainnet', kind: 'double_vote' })).toBeGreaterThanOrEqual(2);
    expect(value('attester_slashed_validators_total', { chain: 'mainnet' })).toBe(2);
    expect(value('ratelimit_limit', { bucket: 'oldsubnewapi', window: 'second' })).toBe(2);
    expect(value('ratelimit_limit', { bucket: 'default', window: 'second' })).toBe(5);
    expect(above0('api_schema_drift')).toEqual({ 'epoch_slots,unknown': 1 });
    expect(value('api_invalid_records_total', { endpoint: 'epoch_slots' })).toBeGreaterThanOrEqual(2);
    expect(await endsWell(daemon)).toEqual(['epoch_slots unknown data[].status']);
  });

  it('finds the day where the gateway answers 403 to the first path', async () => {
    const daemon = await replayed(ODD);
    expect(daemon.value('source_up', { source: 'daily_returns', chain: 'mainnet' })).toBe(1);
    expectNow(daemon, 'mainnet', 5);
    await endsWell(daemon);
  });

  it('their probe is understood in part, and says what failed and why', async () => {
    const { code, rows } = await probed(ODD);
    expect(rows).toEqual(
      expect.arrayContaining([
        'machine_metrics 200 4 0 oldsubnewapi no /api/v2/machine-metrics',
        'daily_returns mainnet 200 1 0 oldsubnewapi 1 no /api/v2/ethereum/eth-store',
        'epoch_slots mainnet 200 6 1 default no /api/v1/epoch/latest/slots',
        expect.stringMatching(/^attester_slashings mainnet 200 1 0 default 1 no /),
        'machine_metrics: times are in: seconds.',
        'daily_returns of mainnet: /api/v2/ethereum/benchmark-store was refused with status 403.',
        'epoch_slots of mainnet: unknown: data[].status (the value "4").',
        'sync_committee of hoodi: server_error (status 502).',
        'epoch_slots of hoodi: server_error (status 500).',
      ]),
    );
    expect(code).toBe(4);
  });

  it('without any rate header all sources are up; a record with numbers as strings is left out', async () => {
    const daemon = await replayed(BARE);
    const { value, above0, at, text } = daemon;
    expect(above0('source_up')).toEqual(SOURCES_OF_MAINNET);
    expectNow(daemon, 'mainnet', 2);
    expect(value('machines')).toBe(4);
    expectAge(at - value('machine_last_seen_timestamp_seconds', { machine: 'machine-4' }), 40, 40);
    expect(value('machine_validators', { machine: 'machine-2' })).toBe(12);
    expect(value('machine_validators', { machine: 'machine-3' })).toBeNaN();
    expect(value('machine_peers', { machine: 'machine-3' })).toBe(97);
    expect(text).not.toMatch(/^beaconchain_ratelimit_\w+\{/m);
    expect(text).not.toMatch(/^beaconchain_watched_sync_committee_validators\{/m);
    expect(above0('api_schema_drift')).toEqual({
      'machine_metrics,unknown': 2,
      'machine_metrics,type': 2,
      'daily_returns,unknown': 3,
      'sync_committee,unknown': 1,
      'epoch_slots,unknown': 1,
      'epoch_slots,type': 1,
    });
    expect(await endsWell(daemon)).toEqual([
      'daily_returns unknown data[].finality',
      'daily_returns unknown data[].validators',
      'daily_returns unknown paging.previous_cursor',
      'epoch_slots type data[].proposer',
      'epoch_slots unknown data[].blobs_count',
      'machine_metrics type data.validator_metrics[].validator_active',
      'machine_metrics type data.validator_metrics[].validator_total',
      'machine_metrics unknown data.system_metrics[].cpu_temperature',
      'machine_metrics unknown data.system_metrics[].machine_id',
      'sync_committee unknown data.participation',
    ]);
  });

  it('its probe is understood in part, and invents no limits', async () => {
    const { code, rows } = await probed(BARE);
    expect(rows).toEqual(
      expect.arrayContaining([
        'machine_metrics 200 9 1 no /api/v2/machine-metrics',
        'sync_committee_members mainnet 200 0 0 no /api/v1/sync_committee/latest',
        'epoch_slots mainnet 200 3 0 no /api/v1/epoch/latest/slots',
        'machine_metrics: page_size limits all lists together.',
        'Rate-limit headers missing in every answer: all.',
        'Key: valid. Plan: not known, the answers name no limit.',
      ]),
    );
    expect(code).toBe(4);
  });

  it('a service that refuses the key is told as such, after one request and without a plan', async () => {
    const refusals = OF_2024.dump.map(({ body: _, ...answer }) => ({ ...answer, status: 401, body: { error: KEY } }));
    const { code, stdout, paths } = await probed({ ...OF_2024, dump: refusals });
    expect(code).toBe(1);
    expect(stdout).toContain('Key: refused.');
    expect(stdout).not.toContain('requests/day');
    expect(paths).toHaveLength(1);
  });

  it('what a probe has written of a service gives the same series again', async () => {
    const service = await startService(KEY, { machines: 3, slotsPerSlashing: Number.POSITIVE_INFINITY });
    const folder = temporaryFolder();
    const { code } = await checked(service, replayConfigOf(service), `--probe.dump=${folder}`);
    expect(code).toBe(0);
    const replayedService = await startReplay(readDump(folder), KEY);
    const [original, again] = await Promise.all([
      served(replayConfigOf(service)),
      served(replayConfig(replayedService, temporaryFolder()) + OF_2024.more),
    ]);
    expect(kinds(again)).toEqual(kinds(original));
    expectNow(again, 'mainnet', again.value('head_slot') % 32);
    for (const name of ['daily_return_day', 'daily_return_combined_apr_ratio', 'sync_committee_period', 'machines']) {
      expect(again.value(name), name).toBe(original.value(name));
    }
    await endsWell(original);
    await endsWell(again);
  });
});

/** The simulated service has one host for v1 and v2. */
function replayConfigOf({ url }: FaultServer): string {
  return `api: {base_url: "${url}"}\nchains: {mainnet: {v1_base_url: "${url}"}}\nstate: {dir: "${temporaryFolder()}"}\n${OF_2024.more}`;
}

/** The series by name and labels, without the labels that a dump replaces or shortens. */
function kinds({ text }: Served): string[] {
  const replaced = ['machine', 'exporter_version', 'client_version'];
  return seriesOf(text)
    .filter(({ name }) => name.startsWith('beaconchain_'))
    .map(({ name, labels }) => `${name} ${Object.entries(labels).filter(([label]) => !replaced.includes(label))}`)
    .sort();
}
