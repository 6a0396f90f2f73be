import { beforeEach, describe, expect, it } from 'vitest';
import { epochTime } from '../../../src/facts/chain.ts';
import { slashing } from '../../support/answers/slot-rows.ts';
import { E, F, Follower, following } from '../../support/runs/follower.ts';
import { DAY, HOUR, MINUTE } from '../../support/time/timing.ts';

let follower: Follower;

/** So many epochs more become final, and the reads that are due run. */
async function advance(epochs = 1, ...poll: Parameters<Follower['poll']>): Promise<string[]> {
  follower.chain.advance(epochs);
  return follower.poll(...poll);
}

/** Polls as long as that is due at once. */
async function caughtUp(): Promise<void> {
  while (follower.due() <= follower.now) await follower.poll(0);
}

beforeEach(async () => {
  follower = await following();
});

it('begins with the current finalized epoch, and counts it: history is not news', async () => {
  follower = new Follower();
  follower.chain.grow(E, F);
  expect(await follower.poll()).toEqual(['latest', 'finalized']);
  expect(follower.state).toMatchObject({ finalizedEpoch: F, scannedEpoch: F });
  expect(follower.value('slots_total', { status: 'proposed' })).toBe(32);
  expect(follower.value('skipped_epochs_total')).toBe(0);
});

it('looks whenever the head epoch advanced, and counts what became final exactly once', async () => {
  await follower.poll();
  for (let i = 1; i <= 5; i += 1) {
    expect(await advance()).toEqual(['latest', `${E + i - 1}`, 'finalized']);
    expect(await follower.poll()).toEqual(['latest']);
  }
  expect(follower.value('slots_total', { status: 'proposed' })).toBe(6 * 32);
  expect(follower.state.scannedEpoch).toBe(F + 5);
});

it('continues at once while epochs are left, twelve at a time', async () => {
  await advance(30);
  expect(follower.state.scannedEpoch).toBe(F + 12);
  expect(follower.due()).toBe(follower.now);
  expect(await follower.poll(0)).toEqual(Array.from({ length: 12 }, (_, i) => `${F + 13 + i}`));
  expect((await advance()).slice(0, 4)).toEqual(['latest', `${E + 30}`, 'finalized', `${F + 25}`]);
  await caughtUp();
  expect(follower.state.scannedEpoch).toBe(F + 31);
  expect(follower.value('slots_total', { status: 'proposed' })).toBe(32 * 32);
});

it('counts proposer slashings at finality only', async () => {
  follower.chain.change(E * 32 + 4, { proposerslashingscount: 2 });
  await follower.poll();
  expect(follower.value('proposer_slashings_total')).toBe(0);
  expect(follower.value('last_proposer_slashing_timestamp_seconds')).toBeUndefined();
  await advance(2);
  expect(follower.value('proposer_slashings_total')).toBe(2);
  expect(follower.value('last_proposer_slashing_timestamp_seconds')).toBe(1606824023 + (E * 32 + 4) * 12);
});

describe('slashings', () => {
  const slot = (F + 1) * 32 + 9;

  it('not readable in three attempts at head are requested again at finality', async () => {
    const late = E * 32 + 9;
    follower.chain.slash(late, [7]);
    follower.chain.answers.set(`slot/${late}`, []);
    for (let i = 0; i < 4; i += 1) await follower.poll();
    follower.chain.answers.set(`slot/${late}`, [slashing(late, [7])]);
    expect(await advance(2)).toContain(`slot/${late}`);
    expect(follower.sightings).toHaveLength(1);
  });

  it.each([
    [undefined, `slot ${slot} reports more attester slashings than could be read`],
    ['server_error', 'server_error'],
  ] as const)(
    'that come short at finality (%s) hold the epoch for an hour, with a failure: %s',
    async (fault, said) => {
      follower.chain.grow(E + 1, F + 1);
      follower.chain.slash(slot, [7]);
      follower.chain.change(slot, { attesterslashingscount: 3 });
      await follower.poll();
      follower.fault = (what) => (what === `slot/${slot}` ? fault : undefined);
      for (let i = 1; i < HOUR / MINUTE; i += 1) expect(await follower.poll()).toContain(`slot/${slot}`);
      expect(follower.failure).toMatchObject({ message: expect.stringContaining(said) });
      expect(follower.state.scannedEpoch).toBe(F);
      await follower.poll();
      expect([follower.failure, follower.state.scannedEpoch]).toEqual([undefined, F + 1]);
      expect(follower.sightings).toHaveLength(1);
      expect(follower.value('slots_total', { status: 'proposed' })).toBe(64);
    },
  );
});

describe('catch_up', () => {
  const EPOCH = 384_000;

  /** A follower whose clock is in the latest epoch of its chain. */
  async function onTime(catchUpMs: number): Promise<void> {
    follower = new Follower({ catchUpMs });
    follower.now = epochTime('mainnet', E) * 1000;
    follower.chain.grow(E, F);
    await follower.poll();
  }

  /** The head advances epoch by epoch, and finality does not. */
  async function withoutFinality(epochs: number): Promise<void> {
    for (let i = 1; i <= epochs; i += 1) {
      follower.chain.grow(follower.chain.latest + 1, follower.chain.finalized);
      await follower.poll(EPOCH);
    }
  }

  async function finalityBack(): Promise<void> {
    follower.chain.grow(follower.chain.latest + 1, follower.chain.latest - 1);
    await follower.poll(EPOCH);
    await caughtUp();
  }

  /** How many epochs are counted since the first one, and how many are skipped. */
  const counted = () => Number(follower.value('slots_total', { status: 'proposed' })) / 32 - 1;
  const skipped = () => follower.value('skipped_epochs_total');

  // Nine epochs are 3,456 s.
  it.each([
    ['', undefined],
    ['also if the service is away at the start', 'network'],
  ] as const)('skips the epochs of a stop beyond it, and reports it %s', async (_, fault) => {
    await onTime(HOUR);
    follower.startAnew(100 * EPOCH);
    follower.chain.advance(100);
    follower.fault = () => fault;
    await follower.poll(0);
    follower.fault = () => undefined;
    await follower.poll();
    await caughtUp();
    expect([counted(), skipped()]).toEqual([9, 91]);
    expect(follower.found('epochs_skipped')).toEqual([{ epochs: 91 }]);
    expect(follower.state.scannedEpoch).toBe(F + 100);
  });

  it('of however little loses no epoch if finality comes back while the program runs', async () => {
    await onTime(1);
    await withoutFinality(30);
    follower.reload(MINUTE);
    await withoutFinality(30);
    // A restart within an interval is no stop.
    follower.startAnew(MINUTE);
    await finalityBack();
    expect([counted(), skipped()]).toEqual([61, 0]);
  });

  it('loses no epoch in an outage, over a restart in it, a wait for the quota and a step of the clock', async () => {
    await onTime(HOUR);
    follower.fault = () => 'network';
    for (let i = 0; i < 40; i += 1) {
      if (i === 20) follower.startAnew();
      await follower.poll(15 * MINUTE);
    }
    follower.fault = () => undefined;
    follower.chain.advance(90);
    await follower.poll(15 * MINUTE);
    await caughtUp();
    await advance(30, 30 * EPOCH);
    await caughtUp();
    follower.reload(30 * EPOCH);
    await advance(30);
    await caughtUp();
    await advance(1, 2 * DAY);
    await advance(1, -2 * DAY);
    await caughtUp();
    expect([counted(), skipped()]).toEqual([152, 0]);
  });

  it('skips only the epochs of each stop, not those before and between them that were not final', async () => {
    await onTime(HOUR);
    await withoutFinality(30);
    follower.startAnew(20 * EPOCH);
    follower.chain.grow(E + 50, F);
    await follower.poll(0);
    await withoutFinality(10);
    follower.startAnew(30 * EPOCH);
    follower.chain.grow(E + 90, F);
    await follower.poll(0);
    follower.chain.grow(E + 91, F + 35);
    await follower.poll(EPOCH);
    await caughtUp();
    expect([counted(), skipped()]).toEqual([29, 6]);
    follower.chain.grow(E + 92, F + 92);
    await follower.poll(EPOCH);
    await caughtUp();
    expect([counted(), skipped()]).toEqual([58, 34]);
  });

  it('counts those between two samples as skipped, without a word at each', async () => {
    const scarce = { allowedPerDay: 225 / 4 };
    expect(await advance(4, 4 * 384_000, scarce)).toEqual(['finalized']);
    expect(follower.value('skipped_epochs_total')).toBe(3);
    expect(follower.state.scannedEpoch).toBe(F + 4);
    expect(follower.due(scarce)).toBeCloseTo(follower.now + 4 * 384_000);
    expect(follower.found('epochs_skipped')).toEqual([]);
  });
});
