import { describe, expect, it } from 'vitest';
import { compareAnswer, type Difference } from '../../src/api/differences.ts';
import type { Endpoint } from '../../src/api/errors.ts';
import { get, NOW, post, sandboxOf } from '../sandbox/call.ts';
import { datapoint, returnsPage } from '../support/datapoint.ts';
import { machinesPage, nodeRecord, systemRecord, validatorRecord } from '../support/machine-records.ts';

const RANGE = {
  slot: { start: 15_120_000, end: 15_127_199 },
  epoch: { start: 472_500, end: 472_724 },
  timestamp: { start: 1_788_264_023, end: 1_788_350_422 },
};

/** As `kind field`, without what may be absent. */
function told(endpoint: Endpoint, answer: unknown): string[] {
  return compareAnswer(endpoint, JSON.parse(JSON.stringify(answer)))
    .differences.filter(({ mayBeAbsent }) => !mayBeAbsent)
    .map(({ kind, field }) => `${kind} ${field}`);
}

function detailOf(endpoint: Endpoint, answer: unknown): Difference['detail'] | undefined {
  return compareAnswer(endpoint, answer).differences.find(({ mayBeAbsent }) => !mayBeAbsent)?.detail;
}

describe('api/differences', () => {
  const machines = machinesPage({ system: [systemRecord()], validator: [validatorRecord()], node: [nodeRecord()] });

  it('finds none in answers as public documentation has them, zeros left out', () => {
    expect(told('machine_metrics', machines)).toEqual([]);
    expect(told('daily_returns', { ...(returnsPage(datapoint()) as object), range: RANGE })).toEqual([]);
    expect(told('sync_committee', { data: { period: 1, finality: 'not_finalized' }, range: RANGE })).toEqual([]);
    expect(told('attester_slashings', { status: 'OK', data: [] })).toEqual([]);
  });

  it('names the fields that a zero may have left out', () => {
    const left = compareAnswer('machine_metrics', machines).differences.filter(({ mayBeAbsent }) => mayBeAbsent);
    expect(left.map(({ field }) => field)).toContain('data.system_metrics[].disk_node_io_seconds');
  });

  it('finds a field that no record has, and not one that a single record lacks', () => {
    const [{ cpu_cores: _, ...without }, whole] = [systemRecord(), systemRecord()];
    expect(told('machine_metrics', machinesPage({ system: [without, whole] }))).toEqual([]);
    expect(told('machine_metrics', machinesPage({ system: [without, without] }))).toEqual([
      'absent data.system_metrics[].cpu_cores',
    ]);
  });

  it('finds none in a process that has just started, and in a node that is at genesis', () => {
    const { cpu_process_seconds_total: _, ...validator } = validatorRecord();
    const { cpu_process_seconds_total: __, sync_beacon_head_slot: ___, ...node } = nodeRecord();
    expect(told('machine_metrics', machinesPage({ validator: [validator], node: [node] }))).toEqual([]);
  });

  it('finds what is nested, in each branch', () => {
    const { range: _, ...page } = returnsPage({ ...datapoint(), rewards: { total: '1', consensus_layer: '1' } }) as {
      range?: unknown;
    };
    expect(told('daily_returns', page)).toEqual(['absent data[].rewards.execution_layer', 'absent range']);
  });

  it('finds fields that nobody has named, and shortens a long name', () => {
    const answer = machinesPage({ node: [nodeRecord({ gpu_temperature: 60, ['x'.repeat(5_000)]: 1 })] });
    expect(told('machine_metrics', answer)).toEqual([
      'unknown data.node_metrics[].gpu_temperature',
      `unknown data.node_metrics[].${'x'.repeat(59)}…`,
    ]);
  });

  it.for<[string, Endpoint, unknown, string, string]>([
    [
      'text for a number',
      'machine_metrics',
      machinesPage({ system: [systemRecord({ cpu_cores: '8' })] }),
      'type data.system_metrics[].cpu_cores',
      'a string instead of a number',
    ],
    [
      'a number for wei',
      'daily_returns',
      { ...(returnsPage(datapoint({ deposits: 1e21 })) as object), range: RANGE },
      'type data[].deposits',
      'a number instead of a decimal string',
    ],
    [
      'wei with a fraction',
      'daily_returns',
      { ...(returnsPage(datapoint({ deposits: '1.5' })) as object), range: RANGE },
      'type data[].deposits',
      'not a decimal string',
    ],
    [
      'milliseconds',
      'daily_returns',
      { ...(returnsPage(datapoint({ day_start: 1_788_264_023_000 })) as object), range: RANGE },
      'type data[].day_start',
      'not a Unix time in seconds',
    ],
    [
      'an object for a list',
      'daily_returns',
      { data: datapoint(), range: RANGE },
      'type data',
      'an object instead of a list',
    ],
    ['a list for an object', 'sync_committee', { data: [1], range: RANGE }, 'type data', 'a list instead of an object'],
  ])('finds %s', ([, endpoint, answer, difference, detail]) => {
    expect(told(endpoint, answer)).toEqual([difference]);
    expect(detailOf(endpoint, answer)).toBe(detail);
  });

  it('takes null as a value of any type', () => {
    expect(told('daily_returns', { ...(returnsPage(datapoint({ deposits: null })) as object), range: RANGE })).toEqual(
      [],
    );
  });

  it('tells the units of times', () => {
    const answer = machinesPage({ system: [systemRecord(), systemRecord({ timestamp: 1_790_769_623 })] });
    expect(compareAnswer('machine_metrics', answer).units).toEqual(
      new Map([['data.system_metrics[].timestamp', new Set(['milliseconds', 'seconds'])]]),
    );
  });

  it('bears an answer of any shape', () => {
    for (const answer of [
      null,
      1,
      'x',
      [],
      {},
      { data: 1 },
      { data: [null, 1, []] },
      { data: { system_metrics: {} } },
    ]) {
      for (const endpoint of ['machine_metrics', 'epoch_slots'] as const) compareAnswer(endpoint, answer);
    }
  });

  it('finds no difference in what the simulated service answers', () => {
    const sandbox = sandboxOf();
    const range = { timestamp: { start: NOW / 1000 - 600, end: NOW / 1000 } };
    const period = { sync_committee_period: { view: 'latest' }, chain: 'mainnet' };
    const answers = {
      machine_metrics: post(sandbox, '/api/v2/machine-metrics', { range }),
      daily_returns: post(sandbox, '/api/v2/ethereum/benchmark-store', { range: { evaluation_window: '24h' } }),
      sync_committee: post(sandbox, '/api/v2/ethereum/sync-committee', period),
      epoch_slots: get(sandbox, '/api/v1/epoch/finalized/slots'),
      sync_committee_members: get(sandbox, '/api/v1/sync_committee/latest'),
    };
    for (const [endpoint, { status, body }] of Object.entries(answers)) {
      expect(status, endpoint).toBe(200);
      expect(told(endpoint as Endpoint, JSON.parse(body)), endpoint).toEqual([]);
    }
  });

  it('asks for a payload only where there is a block', () => {
    const rows = (status: string) => ({ status: 'OK', data: [{ slot: 1, status }] });
    const payload = (status: string) => told('epoch_slots', rows(status)).filter((one) => one.includes('exec_'));
    expect(payload('0')).toEqual([]);
    expect(payload('1')).toContain('absent data[].exec_gas_used');
    expect(told('epoch_slots', rows('4'))).toContain('unknown data[].status');
  });
});
