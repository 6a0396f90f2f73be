import { describe, expect, it } from 'vitest';
import type { Family } from '../../src/metrics/family.ts';
import { dailyReturnsSource } from '../../src/sources/daily-returns/index.ts';
import { machinesSource } from '../../src/sources/machines/index.ts';
import type { Source } from '../../src/sources/source.ts';
import { syncCommitteeSource } from '../../src/sources/sync-committee/index.ts';
import { validatorsSource } from '../../src/sources/validators/index.ts';
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
import {
  type Contract,
  DAILY_RETURNS,
  MACHINES,
  SLASHINGS,
  SYNC_COMMITTEE,
  VALIDATORS,
  WATCHED,
} from '../support/metric-contract.ts';
import { HOUR, noSignal, timing } from '../support/timing.ts';
import {
  CURRENT,
  committeeOf,
  membersAnswer,
  NOW,
  poll,
  serviceOf,
  validatorRow,
  validatorsAnswer,
  validatorsOptions,
} from '../support/validators.ts';

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
const syncCommittee = syncCommitteeSource('mainnet', HOUR);
const validatorsSettings = validatorsOptions({ syncCommittee: true });
const validators = validatorsSource(validatorsSettings);
/** Seats are counted, and validator 7 is watched. */
const watching = (): Follower => new Follower({ watch: [{ first: 7, last: 7 }], seatsOf: () => [7] });

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
    const follower = watching();
    follower.chain.grow(405_000, 404_998);
    follower.chain.slash(404_998 * 32, [7]);
    follower.chain.change(404_998 * 32, { proposerslashingscount: 1 });
    follower.chain.change(404_998 * 32 + 1, { status: '2', proposer: 7 });
    await follower.poll();
    expectContract(follower.families(), [...SLASHINGS, ...WATCHED]);
  });

  it('holds for the sync committee', async () => {
    const timestamp = { start: 1, end: 2 };
    const body = { data: { period: 5 }, range: { epoch: { start: 1_280, end: 1_535 }, timestamp } };
    expectContract(await polled(syncCommittee, body), SYNC_COMMITTEE);
  });

  it('holds for validators', async () => {
    const api = serviceOf({
      validators: () => validatorsAnswer(444_377, [validatorRow(1, { online: false }), validatorRow(2)]),
      sync_committee_members: () => membersAnswer(CURRENT, committeeOf([1, 2])),
    });
    const { value } = await poll(api, undefined, validatorsSettings);
    expectContract(validators.families(value, timing({ now: NOW })), VALIDATORS);
  });

  it.each([
    ['machines', machines.families(machines.empty, timing()), MACHINES],
    ['daily_returns', dailyReturns.families(dailyReturns.empty, timing()), DAILY_RETURNS],
    ['slashings', new Follower().families(), SLASHINGS],
    ['slashings with watched validators', watching().families(), [...SLASHINGS, ...WATCHED]],
    ['validators', validators.families(validators.empty, timing()), VALIDATORS],
    ['sync_committee', syncCommittee.families(syncCommittee.empty, timing()), SYNC_COMMITTEE],
  ])('names every family of %s also without data', (_, families, contract) => {
    expect(families.map(({ name }) => name).sort()).toEqual(contract.map(([name]) => `beaconchain_${name}`).sort());
  });

  it.each([
    ['machines', machines],
    ['daily_returns', dailyReturns],
    ['slashings', new Follower().source],
    ['validators', validators],
    ['sync_committee', syncCommittee],
  ])('%s reads its empty state back', (name, source) => {
    expect(source.name).toBe(name);
    expect(source.state.parse(JSON.parse(JSON.stringify(source.empty)))).toEqual(source.empty);
  });

  it('ends the name of counters, and of nothing else, in _total, and says what each family is', () => {
    const sources = [machines, dailyReturns, syncCommittee, validators] as Source<unknown>[];
    const families = [...sources.flatMap((one) => one.families(one.empty, timing())), ...watching().families()];
    for (const { name, type, help } of families) {
      expect(name.endsWith('_total'), name).toBe(type === 'counter');
      expect(help, name).toMatch(/^[A-Z].{20,}\.$/);
    }
  });
});
