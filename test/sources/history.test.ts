import { describe, expect, it } from 'vitest';
import type { ApiRequest } from '../../src/api/client.ts';
import { eachPage } from '../../src/api/paginate.ts';
import { CHAINS } from '../../src/lib/chain.ts';
import type { Family, Sample } from '../../src/metrics/family.ts';
import { dailyReturnsSource } from '../../src/sources/daily-returns/index.ts';
import type { PastRange, Span } from '../../src/sources/history.ts';
import { machinesSource } from '../../src/sources/machines/index.ts';
import type { Source } from '../../src/sources/source.ts';
import { DAY_2100_END, datapoint, returnsPage } from '../support/datapoint.ts';
import { fakeApi } from '../support/fake-api.ts';
import {
  machinesOptions,
  machinesPage,
  nodeRecord,
  systemRecord,
  validatorRecord,
} from '../support/machine-records.ts';
import { samplesOf } from '../support/samples.ts';
import { HOUR, NOW, noSignal, timing } from '../support/timing.ts';

const SECONDS = NOW / 1000;

type Push = readonly [process: 'system' | 'validator' | 'node', record: object];

/** Six machines push every minute, six more since six hours ago; four run no validator. */
function pushesIn({ start, end }: Span, keeps: number, names: readonly string[] | undefined): Push[] {
  const pushes: Push[] = [];
  const gap = end - start > 11 * 3_600 ? keeps : 1;
  for (let minute = Math.floor(end / 60); minute * 60 >= start; minute -= 1) {
    const count = minute * 60 > SECONDS - 6 * 3_600 ? 12 : 6;
    for (let i = 0; i < count && minute % gap === 0; i += 1) {
      const common = { machine: `machine-${i}`, timestamp: minute * 60_000 };
      if (names && !names.includes(common.machine)) continue;
      pushes.push(['system', systemRecord(common)], ['node', nodeRecord(common)]);
      if (i >= 4) pushes.push(['validator', validatorRecord(common)]);
    }
  }
  return pushes;
}

/** Answers with pages of ten records, counted for each process or over all. The cursor is the number of pages sent. */
function paged(paging: 'for each process' | 'over all processes', keeps: number) {
  const known = new Map<string, ReturnType<typeof listsOf>>();
  return ({ body }: ApiRequest): unknown => {
    const {
      range,
      machines,
      cursor = '0',
    } = body as {
      range: { timestamp: Span };
      machines?: string[];
      cursor?: string;
    };
    const key = JSON.stringify([range, machines]);
    const lists = known.get(key) ?? listsOf(pushesIn(range.timestamp, keeps, machines));
    known.set(key, lists);
    const from = 10 * Number(cursor);
    const sent = paging === 'over all processes' ? listsOf(lists.all.slice(from, from + 10)) : partOf(lists, from);
    const most = paging === 'over all processes' ? lists.all : lists.system;
    return machinesPage(sent, from + 10 < most.length ? String(from / 10 + 1) : undefined);
  };
}

function listsOf(all: readonly Push[]) {
  const of = (wanted: Push[0]): object[] => all.filter(([process]) => process === wanted).map(([, record]) => record);
  return { all, system: of('system'), validator: of('validator'), node: of('node') };
}

function partOf({ system, validator, node }: ReturnType<typeof listsOf>, from: number) {
  const part = (records: readonly object[]): object[] => records.slice(from, from + 10);
  return { system: part(system), validator: part(validator), node: part(node) };
}

/** Without what is said of the fleet as a whole, and of the present alone. */
const PRESENT = ['beaconchain_machines', 'beaconchain_machines_dropped'];

function flat(families: readonly Family[], time: 'timed' | 'untimed'): unknown[] {
  return families
    .filter(({ name }) => !PRESENT.includes(name))
    .flatMap(({ samples, ...head }) =>
      samples.map(({ at, ...sample }: Sample) => ({
        name: head.name,
        type: head.type,
        help: head.help,
        ...sample,
        ...(time === 'timed' ? { at } : {}),
      })),
    );
}

async function past(source: Source<never>, body: unknown, range: PastRange): Promise<Family[]> {
  const history = source.history?.();
  if (!history) throw new Error('no history');
  const { records } = await history.readPage(
    fakeApi(() => body),
    range,
    undefined,
    noSignal(),
  );
  // As they are kept in between.
  return history.families(JSON.parse(JSON.stringify(records)));
}

async function live<T>(source: Source<T>, body: unknown, now: number): Promise<Family[]> {
  const { value } = await source.poll(
    fakeApi(() => body),
    source.empty,
    timing({ now }),
    noSignal(),
  );
  return source.families(value, timing({ now }));
}

describe('sources/history', () => {
  it('a record of a machine says the same live and of the past', async () => {
    const source = machinesSource(
      machinesOptions({ chains: ['mainnet', 'hoodi'], chainRules: [{ match: 'n*', chain: 'hoodi' }] }),
      () => undefined,
    );
    const at = NOW - 30_500;
    const odd = 'rack "7"\n\\ü\0';
    const page = machinesPage({
      system: [systemRecord({ timestamp: at }), systemRecord({ machine: odd, timestamp: at, cpu_cores: null })],
      validator: [validatorRecord({ timestamp: at }), validatorRecord({ machine: '', timestamp: at / 1000 })],
      node: [nodeRecord({ timestamp: at, network_peers_connected: undefined })],
    });
    const told = await past(source as never, page, { start: NOW / 1000 - 3_600, end: NOW / 1000 });
    const shown = await live(source, page, NOW);
    const order = (all: unknown[]): string[] => all.map((one) => JSON.stringify(one)).sort();
    expect(order(flat(told, 'untimed'))).toEqual(order(flat(shown, 'untimed')));
    expect(flat(told, 'timed').every((one) => (one as Sample).at === at / 1000)).toBe(true);
    expect(flat(told, 'timed').length).toBeGreaterThan(60);
  });

  it('past records of a machine have one chain, also those before it was found', async () => {
    const options = machinesOptions({ chain: 'auto', chains: ['mainnet'] });
    const source = machinesSource(options, () => undefined);
    const node = [0, 1, 2].map((i) => {
      const timestamp = NOW / 1000 - 300 + i * 60;
      return nodeRecord({ timestamp, sync_beacon_head_slot: Math.floor((timestamp - 1_742_213_400) / 12) });
    });
    const families = await past(source as never, machinesPage({ node: node.toReversed() }), { start: 1, end: 2 });
    const chains = families.flatMap(({ samples }) => samples.map(({ labels }) => labels['chain']));
    expect(new Set(chains)).toEqual(new Set(['hoodi']));
  });

  it('what the records of one file say holds for those of the next: the chain, and that the execution client is told', () => {
    const options = machinesOptions({ chain: 'auto', chains: ['mainnet'] });
    const history = machinesSource(options, () => undefined).history?.();
    const records = (from: number, isSynced: boolean): unknown[] =>
      [0, 1, 2, 3].map((i) => {
        const timestamp = from + i * 60;
        const slot = Math.floor((timestamp - 1_742_213_400) / 12);
        return [
          'node',
          nodeRecord({
            timestamp,
            sync_beacon_head_slot: slot,
            sync_eth2_synced: isSynced,
            sync_eth1_connected: isSynced,
          }),
        ];
      });
    history?.families(records(NOW / 1000 - 90_000, true));
    const next = history?.families(records(NOW / 1000 - 300, false)) ?? [];
    const chains = next.flatMap(({ samples }) => samples.map(({ labels }) => labels['chain']));
    expect(new Set(chains)).toEqual(new Set(['hoodi']));
    expect(samplesOf(next, 'beaconchain_machine_execution_connected').map(({ value }) => value)).toEqual([0, 0, 0, 0]);
  });

  it.each([
    ['for each process', 1],
    ['for each process', 8],
    ['over all processes', 1],
  ] as const)(
    'announces the requests that reading takes: pages counted %s, every minute of %i',
    async (paging, keeps) => {
      const api = fakeApi(paged(paging, keeps));
      const history = machinesSource(machinesOptions(), () => undefined).history?.();
      if (!history) throw new Error('no history');
      const ranges = [
        { start: SECONDS - 24 * 3_600, end: SECONDS - 12 * 3_600 },
        { start: SECONDS - 12 * 3_600, end: SECONDS },
      ];
      const announced = await history.estimate(api, ranges, SECONDS, noSignal());
      expect(api.requests.length).toBeLessThan(20);
      const before = api.requests.length;
      for (const range of ranges) {
        await eachPage(async (cursor) => {
          const page = await history.readPage(api, range, cursor, noSignal());
          return { cursor: page.cursor, records: page.count };
        });
      }
      const made = api.requests.length - before;
      const total = announced.reduce((sum, requests) => sum + requests, 0);
      expect(made).toBeGreaterThan(100);
      expect(Math.abs(total - made) / made).toBeLessThan(0.03);
    },
  );

  it('announces a request where no machine has pushed, and one for each ten days', async () => {
    const machines = machinesSource(machinesOptions(), () => undefined).history?.();
    const range = { start: SECONDS - 3_600, end: SECONDS };
    expect(
      await machines?.estimate(
        fakeApi(() => machinesPage({})),
        [range],
        SECONDS,
        noSignal(),
      ),
    ).toEqual([1]);
    const daily = dailyReturnsSource('mainnet', HOUR).history?.();
    const days = (asked: PastRange) =>
      daily?.estimate(
        fakeApi(() => returnsPage(datapoint())),
        [asked],
        SECONDS,
        noSignal(),
      );
    expect(await days({ window: '24h' })).toEqual([1]);
    expect(await days({ window: '90d' })).toEqual([9]);
    expect(await days({ window: 'all_time' })).toEqual([Math.ceil((SECONDS - CHAINS.mainnet.genesis) / 864_000)]);
    expect(await days({ start: SECONDS - 28 * 86_400, end: SECONDS })).toEqual([3]);
  });

  it('a day says the same live and of the past, told at its end', async () => {
    const source = dailyReturnsSource('mainnet', HOUR);
    const page = returnsPage(datapoint({ deposits: null, start_balance: '123456789012345678901' }));
    const told = await past(source as never, page, { window: '24h' });
    expect(flat(told, 'untimed')).toEqual(flat(await live(source, page, DAY_2100_END + HOUR), 'untimed'));
    expect(new Set(flat(told, 'timed').map((one) => (one as Sample).at))).toEqual(new Set([DAY_2100_END / 1000]));
  });
});
