import { describe, expect, it } from 'vitest';
import { DUMPED_NOW } from '../../../src/commands/probe/impersonal.ts';
import { listAt } from '../../../src/commands/probe/requests.ts';
import { CHAIN_NAMES, CHAINS, type Chain } from '../../../src/lib/chain.ts';
import { datapoint } from '../datapoint.ts';
import { machinesPage, nodeRecord, systemRecord } from '../machine-records.ts';
import { epochRows, slashing } from '../slot-rows.ts';
import { answerAt, type Recorded } from './answer-at.ts';

const EPOCH = 2_500;
const NOW = 1_795_344_531_250;
/** Some moments of an epoch, of a day and of a period. */
const MOMENTS = Array.from({ length: 40 }, (_, i) => NOW + i * 7_333_000);

function recorded(endpoint: string, path: string, body: unknown, chain?: Chain): Recorded {
  const request = { method: 'GET', path };
  return { endpoint, ...(chain && { chain }), request, status: 200, milliseconds: 1, headers: {}, body };
}

// biome-ignore lint/suspicious/noExplicitAny: the JSON of an answer
function at(answer: Recorded, now: number, asked: { path?: string; body?: object } = {}): any {
  return answerAt([answer], answer, { path: asked.path ?? answer.request.path, body: { ...asked.body } }, now);
}

describe('support/replay/answer-at', () => {
  it.each(CHAIN_NAMES)('the epochs of %s fit its genesis at any time', (chain) => {
    const data = epochRows(EPOCH, { 1: { status: '0' }, 4: { exec_timestamp: 1 } }, 5).map((row) => {
      return { ...row, exec_timestamp: CHAINS[chain].genesis + Number(row['slot']) * 12 };
    });
    const latest = recorded('epoch_slots', '/api/v1/epoch/latest/slots', { status: 'OK', data }, chain);
    for (const now of MOMENTS) {
      const rows = at(latest, now).data;
      for (const { slot, epoch, exec_timestamp } of rows) {
        expect(epoch).toBe(Math.floor(slot / 32));
        expect(exec_timestamp).toBe(CHAINS[chain].genesis + slot * 12);
      }
      const age = now / 1000 - rows.at(-1).exec_timestamp;
      expect(age).toBeGreaterThanOrEqual(0);
      expect(age).toBeLessThan(384);
      const finalized = at(latest, now, { path: '/api/v1/epoch/finalized/slots' }).data;
      expect(finalized[0].epoch).toBe(rows[0].epoch - 2);
      // Missed for good.
      expect([rows[1].status, finalized[1].status]).toEqual(['0', '2']);
      const passed = at(latest, now, { path: `/api/v1/epoch/${rows[0].epoch - 1}/slots` }).data;
      expect([passed[0].epoch, passed[1].status]).toEqual([rows[0].epoch - 1, '0']);
    }
  });

  it('a recorded finalized epoch stays final', () => {
    const rows = { status: 'OK', data: epochRows(EPOCH) };
    const finalized = recorded('epoch_slots', '/api/v1/epoch/finalized/slots', rows, 'hoodi');
    for (const now of MOMENTS) {
      const current = Math.floor((now / 1000 - CHAINS.hoodi.genesis) / 384);
      expect(at(finalized, now).data[0].epoch).toBe(current - 3);
    }
  });

  it.each(CHAIN_NAMES)('the newest day and the current period of %s are those at the time', (chain) => {
    const { genesis } = CHAINS[chain];
    const day = datapoint({ day_start: genesis + 2100 * 86_400, day_end: genesis + 2101 * 86_400 });
    const days = { data: [day], range: { epoch: { start: 2100 * 225, end: 2100 * 225 + 224 } } };
    const range = { slot: { start: 7 * 8192, end: 8 * 8192 - 1 }, timestamp: { start: genesis + 7 * 98_304 } };
    const period = { data: { period: 7 }, range };
    for (const now of MOMENTS) {
      const { data, range: span } = at(recorded('daily_returns', '/', days, chain), now);
      expect(data[0].day_end).toBe(genesis + (data[0].day + 1) * 86_400);
      expect(now / 1000 - data[0].day_end).toBeLessThan(86_400);
      expect(now / 1000 - data[0].day_end).toBeGreaterThanOrEqual(0);
      expect(span.epoch).toEqual({ start: data[0].day * 225, end: data[0].day * 225 + 224 });
      const current = at(recorded('sync_committee', '/', period, chain), now);
      const number = Math.floor((now / 1000 - genesis) / 98_304);
      expect(current.data.period).toBe(number);
      expect(current.range.slot).toEqual({ start: number * 8192, end: number * 8192 + 8191 });
      expect(current.range.timestamp.start).toBe(genesis + number * 98_304);
      const members = recorded('sync_committee_members', '/api/v1/sync_committee/latest', period, chain);
      const next = at(members, now, { path: '/api/v1/sync_committee/next' });
      expect(next.data.period).toBe(number + 1);
      expect(at(members, now, { path: '/api/v1/sync_committee/9' }).data.period).toBe(9);
    }
  });

  it('times of machines keep their distance from now, their unit and their form', () => {
    const system = [
      systemRecord({ timestamp: DUMPED_NOW * 1000 - 12_500, misc_node_boot_ts_seconds: DUMPED_NOW - 60 }),
      systemRecord({ timestamp: DUMPED_NOW - 20 }),
      systemRecord({ timestamp: String(DUMPED_NOW - 30) }),
    ];
    const seconds = Math.floor(NOW / 1000);
    const moved = listAt(at(recorded('machine_metrics', '/', machinesPage({ system })), NOW), 'data', 'system_metrics');
    expect(moved).toMatchObject([
      { timestamp: seconds * 1000 - 12_500, misc_node_boot_ts_seconds: seconds - 60, cpu_cores: 8 },
      { timestamp: seconds - 20 },
      { timestamp: String(seconds - 30) },
    ]);
  });

  it('head slots of machines move with the chain that they are nearest to', () => {
    const rows = (chain: Chain, epoch: number): Recorded =>
      recorded('epoch_slots', '/api/v1/epoch/latest/slots', { data: epochRows(epoch, {}, 4) }, chain);
    const dump = [rows('mainnet', 490_000), rows('hoodi', 138_000)];
    const head = (slot: number): unknown => {
      const page = recorded(
        'machine_metrics',
        '/',
        machinesPage({ node: [nodeRecord({ sync_beacon_head_slot: slot })] }),
      );
      return answerAt([...dump, page], page, { path: '/', body: {} }, NOW);
    };
    const current = (chain: Chain): number => (NOW / 1000 - CHAINS[chain].genesis) / 12;
    const shown = [490_000, 138_000].map((epoch) => {
      const [record] = listAt(head(epoch * 32 + 2), 'data', 'node_metrics');
      return Object(record).sync_beacon_head_slot as number;
    });
    expect(Math.abs((shown[0] ?? 0) - current('mainnet'))).toBeLessThan(33);
    expect(Math.abs((shown[1] ?? 0) - current('hoodi'))).toBeLessThan(33);
  });

  it('a page has the records in the range, of the machines that are asked for, and no page follows it', () => {
    const system = ['a', 'b', 'c'].map((machine, i) =>
      systemRecord({ machine, timestamp: DUMPED_NOW * 1000 - i * 1000 }),
    );
    const page = recorded('machine_metrics', '/', machinesPage({ system }, 'more'));
    const end = Math.floor(NOW / 1000);
    const asked = (body: object): unknown[] =>
      at(page, NOW, { body }).data.system_metrics.map(({ machine }: { machine: string }) => machine);
    expect(asked({ range: { timestamp: { start: end - 1, end } } })).toEqual(['a', 'b']);
    expect(asked({ range: { timestamp: { start: end - 9, end: end - 1 } } })).toEqual(['b', 'c']);
    expect(asked({ machines: ['c'] })).toEqual(['c']);
    expect(at(page, NOW).paging.next_cursor).toBe('more');
    const second = at(page, NOW, { body: { cursor: 'more' } });
    expect([second.data.system_metrics, second.paging.next_cursor]).toEqual([[], undefined]);
  });

  it('the slashings of a slot are those of this slot of every epoch', () => {
    const path = (slot: number): string => `/api/v1/slot/${slot}/attesterslashings`;
    const data = [slashing(3_203, [1, 2], { attestation1_target_epoch: 99 })];
    const answer = recorded('attester_slashings', path(3_203), { status: 'OK', data });
    const same = at(answer, NOW, { path: path(3_203 + 32 * 7) }).data[0];
    expect([same.block_slot, same.attestation1_target_epoch]).toEqual([3_203 + 32 * 7, 106]);
    expect(at(answer, NOW, { path: path(3_204) })).toEqual({ status: 'OK', data: [] });
  });

  it('an answer without data stays as it is', () => {
    const error = { error: 'Not Found' };
    for (const endpoint of [
      'machine_metrics',
      'daily_returns',
      'sync_committee',
      'epoch_slots',
      'attester_slashings',
    ]) {
      expect(at(recorded(endpoint, '/', error), NOW)).toEqual(error);
    }
  });
});
