import { beforeEach, describe, expect, it } from 'vitest';
import { epochAt, epochEnd } from '../../../src/facts/chain.ts';
import { networkSource } from '../../../src/sources/network/index.ts';
import { NO_INPUTS } from '../../../src/sources/read.ts';
import { NO_SLASHINGS } from '../../../src/sources/slashings/count.ts';
import { withFinality } from '../../../src/sources/slashings/finalized.ts';
import type { Slashings } from '../../../src/sources/slashings/state.ts';
import { fakeApi } from '../../support/answers/fake-api.ts';
import { NETWORK_PERFORMANCE } from '../../support/answers/network-answers.ts';
import { epochRows } from '../../support/answers/slot-rows.ts';
import { Follower } from '../../support/runs/follower.ts';
import { round } from '../../support/runs/round.ts';
import { HOUR, MINUTE, NOW } from '../../support/time/timing.ts';

/** The epoch by the clock. Two before it is the newest that can be final. */
const E = epochAt('mainnet', NOW);
const F = E - 2;
const EPOCH_MS = 384_000;

let follower: Follower;

/** One poll in which the finalized view names this epoch. */
async function oddPoll(finalized: number): Promise<void> {
  const { chain } = follower;
  chain.advance();
  const { finalized: true_ } = chain;
  if (finalized > chain.latest) chain.answers.set(`${finalized}`, epochRows(finalized));
  chain.finalized = finalized;
  await follower.poll(EPOCH_MS);
  chain.finalized = true_;
}

function proposed(): number | undefined {
  return follower.value('slots_total', { status: 'proposed' });
}

describe('sources/slashings finality', () => {
  /** The follower has counted the 32 slots of epoch F. */
  beforeEach(async () => {
    follower = new Follower();
    follower.chain.grow(E, F);
    await follower.poll(0);
  });

  it('gives its time to the network source, whose sums are not behind while it is lost, even after a restart', async () => {
    const network = networkSource({ chain: 'mainnet', intervalMs: HOUR, chains: 1 });
    const api = fakeApi(() => ({ ...NETWORK_PERFORMANCE, range: { epoch: F } }));
    const behind = async (): Promise<number | undefined> => {
      const inputs = { ...NO_INPUTS, ...follower.source.more?.gives?.(follower.state) };
      return (await round(network, api, undefined, { now: follower.now, inputs })).entry.reads['duties']?.behindMs;
    };
    follower.chain.grow(epochAt('mainnet', NOW + 6 * HOUR), F);
    await follower.poll(6 * HOUR);
    expect(await behind()).toBe(0);
    follower.startAnew(HOUR / 2);
    expect(await behind()).toBe(0);
    follower.chain.grow(epochAt('mainnet', follower.now), F + 5);
    await follower.poll(0);
    expect(await behind()).toBe(follower.now - epochEnd('mainnet', F));
  });

  it.each([1, 80_000])('%i epochs beyond the possible costs that answer, and no later one', async (ahead) => {
    await oddPoll(F + 1 + ahead);
    expect(follower.failure).toMatchObject({ reason: 'invalid_body' });
    expect(follower.state).toMatchObject({ headEpoch: E + 1, finalizedEpoch: F, scannedEpoch: F });
    expect(await follower.poll()).toEqual(['latest', 'finalized']);
    expect(follower.failure).toBeUndefined();
    expect(await follower.poll()).toEqual(['latest']);
    expect([proposed(), follower.value('skipped_epochs_total')]).toEqual([2 * 32, 0]);
  });

  it('that is lower once costs that answer, and no later one', async () => {
    await oddPoll(F - 40);
    expect(follower.failure).toBeUndefined();
    expect(follower.state).toMatchObject({ finalizedEpoch: F, scannedEpoch: F });
    follower.chain.advance();
    expect(await follower.poll(EPOCH_MS)).toEqual(['latest', `${E + 1}`, 'finalized', `${F + 1}`]);
    expect(follower.state).toMatchObject({ finalizedEpoch: F + 2, scannedEpoch: F + 2 });
    expect(proposed()).toBe(3 * 32);
    expect(follower.found('finality_back')).toEqual([]);
  });

  it('goes back if all answers of an hour are lower, which is reported, and nothing counts twice', async () => {
    for (let i = 1; i <= 30; i += 1) {
      Object.assign(follower.chain, { latest: E - 40 + i, finalized: F - 40 + i });
      await follower.poll(EPOCH_MS);
      expect(follower.failure).toBeUndefined();
      // The second poll is the first one that reads finality.
      expect(follower.state.finalizedEpoch).toBe(i <= 11 ? F : F - 40 + i);
    }
    expect(follower.found('finality_back')).toEqual([{ from: F, to: F - 28 }]);
    expect(follower.state.scannedEpoch).toBe(F);
    follower.chain.grow(E + 30, F + 30);
    await follower.poll(EPOCH_MS);
    while (follower.due() <= follower.now) await follower.poll(0);
    expect(follower.state.scannedEpoch).toBe(F + 30);
    expect(proposed()).toBe(31 * 32);
  });

  it('does not go back if one answer of the hour is not lower, or if the clock jumps', () => {
    let state: Slashings = { ...NO_SLASHINGS, finalizedEpoch: F, scannedEpoch: F };
    for (let minute = 0; minute < 240; minute += 10) {
      const epoch = minute % 60 === 50 ? F : F - 3;
      state = withFinality(state, epoch, 'mainnet', { now: NOW + minute * MINUTE, held: NOW + minute * MINUTE });
      expect(state).toMatchObject({ finalizedEpoch: F, scannedEpoch: F });
    }
    for (const now of [NOW, NOW + 1, NOW + 2 * HOUR]) state = withFinality(state, F - 3, 'mainnet', { now, held: NOW });
    expect(state.finalizedEpoch).toBe(F);
  });

  it('that was too high in one answer counts no epoch beyond the next answer', async () => {
    // Finality stands still for an hour.
    follower.now += HOUR;
    follower.fault = (what) => (what === `${F + 1}` ? 'server_error' : undefined);
    follower.chain.grow(E + 8, F + 5);
    await follower.poll();
    expect(follower.state).toMatchObject({ finalizedEpoch: F + 5, scannedEpoch: F });
    follower.fault = () => undefined;
    follower.chain.grow(E + 9, F + 2);
    expect(await follower.poll()).toEqual(['latest', `${E + 8}`, 'finalized', `${F + 1}`]);
    expect(follower.state).toMatchObject({ finalizedEpoch: F + 5, scannedEpoch: F + 2 });
    expect(follower.due()).toBeGreaterThan(follower.now);
    follower.chain.grow(E + 10, F + 6);
    await follower.poll(EPOCH_MS);
    expect(follower.state).toMatchObject({ finalizedEpoch: F + 6, scannedEpoch: F + 6 });
  });
});
