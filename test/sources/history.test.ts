import { expect, it } from 'vitest';
import { SystemRecord } from '../../src/api/answers/machines.ts';
import type { PastRange } from '../../src/api/endpoints.ts';
import { dailyReturnsSource } from '../../src/sources/daily-returns/index.ts';
import { machinesHistory } from '../../src/sources/machines/history.ts';
import { machinesSource } from '../../src/sources/machines/index.ts';
import { NO_INPUTS } from '../../src/sources/read.ts';
import type { Source } from '../../src/sources/source.ts';
import type { Family, Sample } from '../../src/toolkit/exposition/family.ts';
import { DAY_2100_END, datapoint, returnsPage } from '../support/answers/datapoint.ts';
import { answering, fakeApi } from '../support/answers/fake-api.ts';
import {
  machinesOptions,
  machinesPage,
  nodeRecord,
  systemRecord,
  validatorRecord,
} from '../support/answers/machine-records.ts';
import { samplesOf } from '../support/exposition/samples.ts';
import { round } from '../support/runs/round.ts';
import { HOUR, MINUTE, NOW, noSignal, timing } from '../support/time/timing.ts';

const HOUR_RANGE = { start: NOW / 1000 - 3_600, end: NOW / 1000 };

/** Families of the whole fleet, which only the present has. */
const PRESENT = ['beaconchain_machines', 'beaconchain_machines_dropped'];

/** The samples with their family, and without their times. */
function flat(families: readonly Family[]): unknown[] {
  return families
    .filter(({ name }) => !PRESENT.includes(name))
    .flatMap(({ samples, ...head }) =>
      samples.map(({ at: _, until: __, ...sample }: Sample) => ({ ...head, ...sample })),
    );
}

function timesOf(families: readonly Family[]): unknown[] {
  return families.flatMap(({ samples }) => samples.map(({ at }) => at));
}

async function past(source: Source<never>, body: unknown, range: PastRange): Promise<Family[]> {
  const history = source.more?.history?.(source.empty);
  if (!history) throw new Error('no history');
  const { records } = await history.readPage(answering(body), range, undefined, noSignal());
  const groups = Map.groupBy(records, (record) => history.group(record));
  // As they are kept in between.
  return [...groups.values()].flatMap((group) => history.families(JSON.parse(JSON.stringify(group))));
}

async function live<T>(source: Source<T>, body: unknown, now: number): Promise<Family[]> {
  const { value } = await round(source, answering(body), undefined, { now });
  return source.metrics(value, timing({ now }), NO_INPUTS);
}

it('a machine record gives the same samples live and in the past', async () => {
  const source = machinesSource(
    machinesOptions({ chains: ['mainnet', 'hoodi'], chainRules: [{ match: 'n*', chain: 'hoodi' }] }),
  );
  const at = NOW - 30_500;
  const odd = 'rack "7"\n\\ü\0';
  const page = machinesPage({
    system: [systemRecord({ timestamp: at }), systemRecord({ machine: odd, timestamp: at, cpu_cores: null })],
    validator: [validatorRecord({ timestamp: at }), validatorRecord({ machine: '', timestamp: at / 1000 })],
    node: [nodeRecord({ timestamp: at, network_peers_connected: undefined })],
  });
  const told = await past(source as never, page, HOUR_RANGE);
  const shown = await live(source, page, NOW);
  const order = (all: unknown[]): string[] => all.map((one) => JSON.stringify(one)).sort();
  expect(order(flat(told))).toEqual(order(flat(shown)));
  expect(timesOf(told).every((one) => one === at / 1000)).toBe(true);
  expect(flat(told).length).toBeGreaterThan(60);
});

it('a network counter that falls between two calls is withheld, as it is live', () => {
  const history = machinesHistory(machinesOptions());
  const shown = [9e12, 4e6].map((network_node_bytes_total_receive, minute) => {
    const fields = { timestamp: NOW + minute * MINUTE, network_node_bytes_total_receive };
    const families = history.families([['system', SystemRecord.parse(systemRecord(fields))]]);
    return samplesOf(families, 'beaconchain_machine_network_receive_bytes_total').length;
  });
  expect(shown).toEqual([1, 0]);
});

it('a day gives the same samples live and in the past, dated at its end', async () => {
  const source = dailyReturnsSource('mainnet', HOUR);
  const page = returnsPage(datapoint({ deposits: null, start_balance: '123456789012345678901' }));
  const told = await past(source as never, page, { window: '24h' });
  expect(flat(told)).toEqual(flat(await live(source, page, DAY_2100_END + HOUR)));
  expect(new Set(timesOf(told))).toEqual(new Set([DAY_2100_END / 1000]));
});

it('a repeated cursor ends the estimate of a history', async () => {
  const api = fakeApi(() => machinesPage({ system: [systemRecord()] }, 'again'));
  await machinesHistory(machinesOptions()).estimate(api, [HOUR_RANGE], NOW / 1000, noSignal());
  // Two pages of a minute, and one of a machine.
  expect(api.requests).toHaveLength(3);
});
