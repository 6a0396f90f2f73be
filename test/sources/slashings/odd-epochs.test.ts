import { describe, expect, it } from 'vitest';
import { CHAINS, SECONDS_PER_EPOCH } from '../../../src/lib/chain.ts';
import { NO_SLASHINGS } from '../../../src/sources/slashings/count.ts';
import { pollSlashings } from '../../../src/sources/slashings/poll.ts';
import { Slashings } from '../../../src/sources/slashings/schema.ts';
import { fakeApi } from '../../support/fake-api.ts';
import { slashingsOptions } from '../../support/slashings-options.ts';
import { epochRows, row } from '../../support/slot-rows.ts';
import { HOUR, MINUTE, NOW, noSignal, timing } from '../../support/timing.ts';

const E = 470_000;

describe('sources/slashings odd answers', () => {
  const skipped: number[] = [];
  const options = slashingsOptions({ catchUpMs: HOUR, onSkipped: (epochs) => skipped.push(epochs) });

  it('does not let one row of an absurd epoch move head or finality', async () => {
    const odd = row({ slot: 999_999_999 * 32, epoch: 999_999_999 });
    const api = fakeApi(({ path }) => {
      const epoch = path.includes('latest') ? E : E - 2;
      return { status: 'OK', data: [...epochRows(epoch), odd] };
    });
    const { value } = await pollSlashings(options, api, NO_SLASHINGS, timing(), noSignal());
    expect(value).toMatchObject({ headEpoch: E, finalizedEpoch: E - 2, scannedEpoch: E - 2 });
  });

  it.each([
    ['of an epoch', (i: number) => row({ slot: 2 ** 45 + i, epoch: 2 ** 40 })],
    ['of slots', (i: number) => row({ slot: 2 ** 45 + i, epoch: E })],
  ])('refuses an answer %s far ahead of the chain: head and finality would stay there', async (_, far) => {
    const api = fakeApi(() => ({ status: 'OK', data: Array.from({ length: 32 }, (_slot, i) => far(i)) }));
    const { value, failure } = await pollSlashings(options, api, NO_SLASHINGS, timing(), noSignal());
    expect(failure).toMatchObject({ reason: 'invalid_body' });
    expect(value.headEpoch).toBeUndefined();
    expect(value.finalizedEpoch).toBeUndefined();
  });

  it('reads on when the clock is hours behind the chain', async () => {
    const api = fakeApi(({ path }) => ({ status: 'OK', data: epochRows(path.includes('latest') ? E : E - 2) }));
    const now = (CHAINS.mainnet.genesis + E * SECONDS_PER_EPOCH) * 1000 - 20 * HOUR;
    const { value, failure } = await pollSlashings(options, api, NO_SLASHINGS, timing({ now }), noSignal());
    expect(failure).toBeUndefined();
    expect(value).toMatchObject({ headEpoch: E, scannedEpoch: E - 2 });
  });

  it('can save what it knows before the first epoch of a chain is counted', async () => {
    const api = fakeApi(({ path }) => ({
      status: 'OK',
      data: path.includes('latest') ? epochRows(2) : epochRows(0, { 3: { status: '0' } }),
    }));
    const { value } = await pollSlashings(options, api, NO_SLASHINGS, timing(), noSignal());
    expect(value.scannedEpoch).toBe(-1);
    expect(Slashings.parse(JSON.parse(JSON.stringify(value))).scannedEpoch).toBe(-1);
  });

  it('tells of epochs beyond catch_up, and not of those a scarce budget leaves out', async () => {
    const api = fakeApi(({ path }) => {
      const epoch = path.includes('latest') ? E : path.includes('finalized') ? E - 2 : Number(path.split('/')[4]);
      return { status: 'OK', data: epochRows(epoch) };
    });
    const previous = { ...NO_SLASHINGS, finalizedEpoch: E - 102, scannedEpoch: E - 102 };
    skipped.length = 0;
    const full = await pollSlashings(options, api, previous, timing(), noSignal());
    expect(full.value.totals.skippedEpochs).toBe(100 - 9);
    expect(skipped).toEqual([91]);
    const scarce = timing({ coverage: 'sampled', intervalMs: HOUR });
    const sampled = await pollSlashings(options, api, previous, scarce, noSignal());
    expect(sampled.value.totals.skippedEpochs).toBe(99);
    expect(skipped).toEqual([91]);
  });

  it('gives an epoch that could not be read its hour anew after a pause', async () => {
    const api = fakeApi(({ path }) => {
      if (path.includes(`/${E - 1}/`)) return { status: 'OK', data: [] };
      return { status: 'OK', data: epochRows(path.includes('latest') ? E + 2 : E) };
    });
    const stuck = {
      ...NO_SLASHINGS,
      headEpoch: E + 2,
      finalizedEpoch: E,
      scannedEpoch: E - 2,
      stuckSince: NOW - 10 * HOUR,
    };
    const after = await pollSlashings(options, api, { ...stuck, polledAt: NOW - 2 * HOUR }, timing(), noSignal());
    expect(after.value).toMatchObject({ scannedEpoch: E - 2, stuckSince: NOW });
    const tried = await pollSlashings(options, api, { ...stuck, polledAt: NOW - MINUTE }, timing(), noSignal());
    expect(tried.value.scannedEpoch).toBeGreaterThanOrEqual(E - 1);
  });
});
