import { describe, expect, it } from 'vitest';
import type { Family } from '../../src/metrics/family.ts';
import { dailyReturnsSource } from '../../src/sources/daily-returns/index.ts';
import { machinesSource } from '../../src/sources/machines/index.ts';
import type { Source } from '../../src/sources/source.ts';
import { syncCommitteeSource } from '../../src/sources/sync-committee/index.ts';
import { NOW as COMMITTEES_KNOWN_AT, KNOWN, membersOptions, poll, serviceOf } from '../support/committees.ts';
import { datapoint, returnsPage } from '../support/datapoint.ts';
import { fakeApi } from '../support/fake-api.ts';
import { Follower } from '../support/follower.ts';
import {
  machinesOptions,
  machinesPage,
  nodeRecord,
  systemRecord,
  validatorRecord,
} from '../support/machine-records.ts';
import { type Contract, DAILY_RETURNS, MACHINES, SLASHINGS, SYNC_COMMITTEE } from '../support/metric-contract.ts';
import { HOUR, noSignal, timing } from '../support/timing.ts';

/** Name, type and the label names of the samples; every sample of a family has the same. */
function shapeOf(families: readonly Family[]): unknown[] {
  return families.map(({ name, type, samples }) => {
    const labels = new Set(samples.map((sample) => JSON.stringify(Object.keys(sample.labels))));
    return [name, type, ...[...labels].map((one) => JSON.parse(one))];
  });
}

function inOrder(shape: readonly unknown[]): unknown[] {
  return shape.toSorted((a, b) => (String(a) < String(b) ? -1 : 1));
}

function expectContract(families: readonly Family[], contract: Contract): void {
  const expected = contract.map(([name, type, labels]) => [`beaconchain_${name}`, type, labels]);
  expect(inOrder(shapeOf(families))).toEqual(inOrder(expected));
}

async function polled<T>(source: Source<T>, body: unknown): Promise<Family[]> {
  const { value } = await source.poll(
    fakeApi(() => body),
    source.empty,
    timing(),
    noSignal(),
  );
  return source.families(value, timing());
}

const machines = machinesSource(machinesOptions({ expected: ['never'] }), () => undefined);
const dailyReturns = dailyReturnsSource('mainnet', HOUR);
const syncCommittee = syncCommitteeSource({ chain: 'mainnet', intervalMs: HOUR, members: membersOptions() });

describe('sources contract', () => {
  it('holds for machines', async () => {
    const system = [systemRecord({ disk_node_io_seconds: 1 })];
    const node = [nodeRecord({ network_libp2p_bytes_total_receive: 1, network_libp2p_bytes_total_transmit: 2 })];
    const page = machinesPage({ system, validator: [validatorRecord()], node });
    expectContract(await polled(machines, page), MACHINES);
  });

  it('holds for daily returns', async () => {
    expectContract(await polled(dailyReturns, returnsPage(datapoint())), DAILY_RETURNS);
  });

  it('holds for slashings', async () => {
    const follower = new Follower({ watch: [{ first: 7, last: 7 }] });
    follower.chain.grow(405_000, 404_998);
    follower.chain.slash(404_998 * 32, [7]);
    follower.chain.change(404_998 * 32, { proposerslashingscount: 1 });
    follower.chain.change(404_998 * 32 + 1, { status: '2', proposer: 7 });
    await follower.poll();
    expectContract(follower.families(), SLASHINGS);
  });

  it('holds for the sync committee', async () => {
    const { value } = await poll(serviceOf(KNOWN), {}, COMMITTEES_KNOWN_AT, syncCommittee);
    expectContract(syncCommittee.families(value, timing({ now: COMMITTEES_KNOWN_AT })), SYNC_COMMITTEE);
  });

  it.each([
    ['machines', machines.families(machines.empty, timing()), MACHINES],
    ['daily_returns', dailyReturns.families(dailyReturns.empty, timing()), DAILY_RETURNS],
    ['slashings', new Follower().families(), SLASHINGS],
    ['sync_committee', syncCommittee.families(syncCommittee.empty, timing()), SYNC_COMMITTEE],
  ])('names every family of %s also without data', (_, families, contract) => {
    expect(families.map(({ name }) => name).sort()).toEqual(contract.map(([name]) => `beaconchain_${name}`).sort());
  });

  it.each([
    ['machines', machines],
    ['daily_returns', dailyReturns],
    ['slashings', new Follower().source],
    ['sync_committee', syncCommittee],
  ])('%s reads its empty state back', (name, source) => {
    expect(source.name).toBe(name);
    expect(source.state.parse(JSON.parse(JSON.stringify(source.empty)))).toEqual(source.empty);
  });

  it('ends the name of counters, and of nothing else, in _total, and says what each family is', () => {
    const sources = [machines, dailyReturns, syncCommittee] as Source<unknown>[];
    const families = [...sources.flatMap((one) => one.families(one.empty, timing())), ...new Follower().families()];
    for (const { name, type, help } of families) {
      expect(name.endsWith('_total'), name).toBe(type === 'counter');
      expect(help, name).toMatch(/^[A-Z].{20,}\.$/);
    }
  });
});
