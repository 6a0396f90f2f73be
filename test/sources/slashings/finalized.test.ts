import { beforeEach, describe, expect, it } from 'vitest';
import { epochTime } from '../../../src/facts/chain.ts';
import { slashing } from '../../support/answers/slot-rows.ts';
import { E, F, Follower, following } from '../../support/runs/follower.ts';
import { DAY, HOUR, MINUTE } from '../../support/time/timing.ts';

let follower: Follower;

/** Lets more epochs become final, and runs the reads that are due. */
async function advance(epochs = 1, ...poll: Parameters<Follower['poll']>): Promise<string[]> {
  follower.chain.advance(epochs);
  return follower.poll(...poll);
}

/** Polls until nothing is due at once. */
async function caughtUp(): Promise<void> {
  while (follower.due() <= follower.now) await follower.poll(0);
}

beforeEach(async () => {
  follower = await following();
});

it('starts with the current finalized epoch, and counts it', async () => {
  follower = new Follower();
  follower.chain.grow(E, F);
  expect(await follower.poll()).toEqual(['latest', 'finalized']);
  expect(follower.state).toMatchObject({ finalizedEpoch: F, scannedEpoch: F });
  expect(follower.value('slots_total', { status: 'proposed' })).toBe(32);
  expect(follower.value('skipped_epochs_total')).toBe(0);
});

it('reads finality whenever the head epoch has advanced, and counts each final epoch once', async () => {
  await follower.poll();
  for (let i = 1; i <= 5; i += 1) {
    expect(await advance()).toEqual(['latest', `${E + i - 1}`, 'finalized']);
    expect(await follower.poll()).toEqual(['latest']);
  }
  expect(follower.value('slots_total', { status: 'proposed' })).toBe(6 * 32);
  expect(follower.state.scannedEpoch).toBe(F + 5);
});

it('counts twelve epochs a poll, and continues at once while some are left', async () => {
  await advance(30);
  expect(follower.state.scannedEpoch).toBe(F + 12);
  expect(follower.due()).toBe(follower.now);
  expect(await follower.poll(0)).toEqual(Array.from({ length: 12 }, (_, i) => `${F + 13 + i}`));
  expect((await advance()).slice(0, 4)).toEqual(['latest', `${E + 30}`, 'finalized', `${F + 25}`]);
  await caughtUp();
  expect(follower.state.scannedEpoch).toBe(F + 31);
  expect(follower.value('slots_total', { status: 'proposed' })).toBe(32 * 32);
});

it('counts proposer slashings only at finality', async () => {
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

  it('that three attempts at the head could not read are requested again at finality', async () => {
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
    'that are incomplete at finality (%s) hold the epoch for an hour, with a failure: %s',
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
    ['even if the service is away at the start', 'network'],
  ] as const)('skips the epochs of a stop beyond it, and reports them %s', async (_, fault) => {
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

  it('loses no epoch, however short it is, if finality returns while the program runs', async () => {
    await onTime(1);
    await withoutFinality(30);
    follower.reload(MINUTE);
    await withoutFinality(30);
    // A restart within an interval does not count as a stop.
    follower.startAnew(MINUTE);
    await finalityBack();
    expect([counted(), skipped()]).toEqual([61, 0]);
  });

  it('loses no epoch in an outage with a restart, a wait for the quota, or a step of the clock', async () => {
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

  it('skips only the epochs of stops, not those before and between that were not final', async () => {
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

  it('counts epochs between two samples as skipped, without an event', async () => {
    const scarce = { allowedPerDay: 225 / 4 };
    expect(await advance(4, 4 * 384_000, scarce)).toEqual(['finalized']);
    expect(follower.value('skipped_epochs_total')).toBe(3);
    expect(follower.state.scannedEpoch).toBe(F + 4);
    expect(follower.due(scarce)).toBeCloseTo(follower.now + 4 * 384_000);
    expect(follower.found('epochs_skipped')).toEqual([]);
  });
});
