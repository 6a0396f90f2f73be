import { describe, expect, it } from 'vitest';
import type { Endpoint } from '../../../src/api/errors.ts';
import { type DumpedAnswer, dumpOf } from '../../../src/commands/probe/dump.ts';
import type { Finding } from '../../../src/commands/probe/finding.ts';
import { DUMPED_NOW } from '../../../src/commands/probe/impersonal.ts';
import type { Exchange } from '../../../src/commands/probe/recorder.ts';
import { nodeRecord, systemRecord } from '../../support/machine-records.ts';
import { row } from '../../support/slot-rows.ts';

const NOW = 1_790_769_700_000;
const KEY = 'a1b2c3d4e5f6';

function exchange(endpoint: Endpoint, body: unknown, more: Partial<Exchange> = {}): Exchange {
  return {
    endpoint,
    method: 'POST',
    path: '/api/v2/x',
    asked: undefined,
    status: 200,
    headers: {},
    durationMs: 12.3,
    body: typeof body === 'string' ? { text: body } : { json: JSON.parse(JSON.stringify(body)) },
    ...more,
  };
}

function dump(...exchanges: Exchange[]): DumpedAnswer[] {
  const findings = exchanges.map(
    (one) => ({ endpoint: one.endpoint, chain: 'mainnet', exchanges: [one] }) as unknown as Finding,
  );
  return dumpOf(findings, KEY, NOW).map(([, answer]) => answer);
}

function bodyOf(endpoint: Endpoint, body: unknown): unknown {
  return dump(exchange(endpoint, body))[0]?.body;
}

/** The value at a path such as `data.0.machine`. */
function at(value: unknown, path: string): unknown {
  return path.split('.').reduce<unknown>((inner, name) => (inner as Record<string, unknown>)[name], value);
}

/** What a stranger must not learn, wherever it stands. */
const PERSONAL = [
  KEY,
  'validator-of-erika',
  '192.0.2.17',
  'erika@example.org',
  '0xfeedface',
  'feedface',
  '965785',
  '1098947',
  'beaconcha.in@c0ffee',
  'v8.0.0-c0ffee',
  'my-own-client',
  'bXktY3Vyc29y',
  '67212345678',
  'Erika was here',
];

/** Answers in which all of it occurs, in known fields, in unknown ones and as names of fields. */
const TELLING: Exchange[] = [
  exchange(
    'machine_metrics',
    {
      data: {
        system_metrics: [
          systemRecord({
            machine: 'validator-of-erika',
            exporter_version: 'beaconcha.in@c0ffee',
            memory_node_bytes_total: 67_212_345_678,
            ip: '192.0.2.17',
            'validator-of-erika': 1,
            owner: { mail: 'erika@example.org', wallet: '0xFEEDFACE' },
            tags: ['validator-of-erika', 965_785],
          }),
        ],
        node_metrics: [
          nodeRecord({ machine: 'validator-of-erika', client_name: 'my-own-client', client_version: 'v8.0.0-c0ffee' }),
        ],
      },
      paging: { next_cursor: 'bXktY3Vyc29y' },
    },
    { asked: { machines: ['validator-of-erika'], cursor: 'bXktY3Vyc29y' } },
  ),
  exchange('epoch_slots', {
    status: 'OK',
    data: [row({ slot: 1, proposer: 965_785, blockroot: '0xfeedface', graffiti_text: 'Erika was here' })],
  }),
  exchange('attester_slashings', {
    status: 'OK',
    data: [
      {
        attestation1_indices: [965_785, 1_098_947],
        attestation2_indices: '{965785,1098947}',
        block_root: '0xFEEDFACE',
      },
    ],
  }),
  exchange('sync_committee_members', { status: 'OK', data: { period: 1_700, validators: [965_785, '1098947'] } }),
  exchange('daily_returns', { error: `the key ${KEY} of erika@example.org` }, { status: 403 }),
  exchange('sync_committee', `<html>${KEY} 192.0.2.17</html>`, {
    status: 502,
    headers: { 'ratelimit-bucket': KEY, 'set-cookie': KEY, server: '192.0.2.17', 'ratelimit-limit': '1' },
  }),
];

describe('commands/probe/dump', () => {
  it('has nothing personal in it', () => {
    const text = JSON.stringify(dump(...TELLING)).toLowerCase();
    // Sizes have at most two digits and zeros.
    expect(PERSONAL.filter((secret) => text.includes(secret.toLowerCase()))).toEqual([]);
    expect(JSON.stringify(TELLING.map(({ body, asked, headers }) => [body, asked, headers])).toLowerCase()).toSatisfy(
      (original: string) => PERSONAL.every((secret) => original.includes(secret.toLowerCase())),
    );
  });

  it('puts the same in the place of the same, in all answers', () => {
    const [machines, epoch, slashings, members] = dump(...TELLING).map(({ body }) => body);
    const name = at(machines, 'data.system_metrics.0.machine');
    expect(name).toMatch(/^machine-\d+$/);
    expect(at(machines, 'data.node_metrics.0.machine')).toBe(name);
    expect(at(epoch, 'data.0.blockroot')).toBe(at(slashings, 'data.0.block_root'));
    const [first, second] = at(slashings, 'data.0.attestation1_indices') as number[];
    expect(at(epoch, 'data.0.proposer')).toBe(first);
    expect(at(slashings, 'data.0.attestation2_indices')).toBe(`{${first},${second}}`);
    expect(at(members, 'data.validators')).toEqual([first, String(second)]);
  });

  it('keeps magnitudes, digits and distances in time', () => {
    const [answer] = dump(...TELLING);
    expect(at(answer, 'body.data.system_metrics.0')).toMatchObject({
      memory_node_bytes_total: 67_000_000_000,
      cpu_cores: 8,
      timestamp: 1_790_769_623_000 + (DUMPED_NOW - NOW / 1000) * 1000,
      misc_node_boot_ts_seconds: 1_789_689_623 + DUMPED_NOW - NOW / 1000,
    });
    const slot = { ...row({ slot: 12_751_457, proposer: 965_785 }), of_whom: 965_785 };
    expect(at(bodyOf('epoch_slots', { data: [slot] }), 'data.0')).toMatchObject({
      slot: 12_751_457,
      epoch: 398_483,
      proposer: 100_000,
      of_whom: 970_000,
    });
  });

  it('moves times in seconds and in milliseconds, and those of the request', () => {
    const asked = { range: { timestamp: { start: NOW / 1000 - 60, end: NOW / 1000 } }, page_size: 10 };
    const [answer] = dump(
      exchange('machine_metrics', { data: { node_metrics: [{ timestamp: NOW / 1000 - 7 }] } }, { asked }),
    );
    expect(answer?.request.body).toEqual({
      range: { timestamp: { start: DUMPED_NOW - 60, end: DUMPED_NOW } },
      page_size: 10,
    });
    expect(at(answer, 'body.data.node_metrics.0.timestamp')).toBe(DUMPED_NOW - 7);
  });

  it('keeps what is not personal', () => {
    const range = {
      slot: { start: 1, end: 2 },
      epoch: { start: 0, end: 0 },
      timestamp: { start: 1_788_264_023, end: 1_788_350_422 },
    };
    const day = {
      day: 2_100,
      deposits: '0',
      effective_balance: '35000000000000000000000000',
      apr: { combined: 0.0307642 },
    };
    expect(bodyOf('daily_returns', { data: [day], range })).toEqual({ data: [day], range });
    expect(bodyOf('sync_committee', { data: { period: 1_700, finality: 'not_finalized' }, range })).toEqual({
      data: { period: 1_700, finality: 'not_finalized' },
      range,
    });
    const empty = row({ slot: 3, status: '2', proposer: 2_147_483_647, blockroot: '0x00' });
    expect(bodyOf('epoch_slots', { status: 'OK', data: [empty] })).toEqual({ status: 'OK', data: [empty] });
  });

  it('keeps the headers that say something of limits and form', () => {
    const headers = {
      'content-type': 'application/json; charset=utf-8',
      'ratelimit-bucket': 'default',
      'x-ratelimit-limit-month': '1000',
      'retry-after': 'Wed, 21 Oct 2026 07:28:00 GMT',
      'set-cookie': 'x',
      'cf-ray': 'y',
    };
    expect(dump(exchange('sync_committee', {}, { headers }))[0]?.headers).toEqual({
      'content-type': 'application/json; charset=utf-8',
      'ratelimit-bucket': 'default',
      'x-ratelimit-limit-month': '1000',
      'retry-after': 'Wed, 21 Oct 2026 07:28:00 GMT',
    });
  });

  it.for<[string, Endpoint, unknown, readonly string[]]>([
    [
      'text in the place of an index',
      'sync_committee_members',
      { validators: ['erika', '0xfeed12ab'] },
      ['erika', 'feed'],
    ],
    ['a machine as the name of a field', 'machine_metrics', { erika: 1, data: [{ machine: 'erika' }] }, ['erika']],
    ['a machine with a plain name', 'machine_metrics', { data: [{ machine: 'grandine' }] }, ['grandine']],
    ['the key as the name of a field', 'machine_metrics', { [KEY]: 1 }, [KEY]],
    ['an index in the name of a field', 'machine_metrics', { validator_965785: 1 }, ['965785']],
    ['an address as the name of a field', 'machine_metrics', { feedface0a: 1, feedfacecafe: 1 }, ['feedface']],
    ['a number whose name ends in count', 'daily_returns', { account: 965_785 }, ['965785']],
    ['an index that is none', 'epoch_slots', { data: [{ proposer: -965_785 }, { proposer: 965_785.5 }] }, ['965785']],
    ['an address of a network as a version', 'machine_metrics', { client_version: '192.0.2.17' }, ['192.0.2']],
  ])('replaces %s', ([, endpoint, body, secrets]) => {
    const text = JSON.stringify(bodyOf(endpoint, body));
    expect(secrets.filter((secret) => text.includes(secret))).toEqual([]);
  });

  it('keeps the name of a field that nobody has named', () => {
    expect(bodyOf('machine_metrics', { window_90d: 1, libp2p_streams: 2 })).toEqual({
      window_90d: 1,
      libp2p_streams: 2,
    });
  });

  it('keeps the names of the specification, also where a machine has one of them', () => {
    const record = { timestamp: NOW, machine: 'timestamp' };
    expect(bodyOf('machine_metrics', { data: { node_metrics: [record] } })).toEqual({
      data: { node_metrics: [{ timestamp: DUMPED_NOW * 1000, machine: 'machine-1' }] },
    });
  });

  it('replaces as many indices as a slashing may list in less than a second', () => {
    const indices = Array.from({ length: 131_072 }, (_, i) => 900_000 + 3 * i);
    const start = performance.now();
    const body = bodyOf('attester_slashings', { data: [{ attestation1_indices: indices }] });
    expect(performance.now() - start).toBeLessThan(1_000);
    expect(new Set(at(body, 'data.0.attestation1_indices') as number[]).size).toBe(indices.length);
  });
});
