import { describe, expect, it } from 'vitest';
import { NO_SLASHINGS } from '../../../src/sources/slashings/count.ts';
import { pollSlashings } from '../../../src/sources/slashings/poll.ts';
import { Slashings } from '../../../src/sources/slashings/schema.ts';
import { fakeApi } from '../../support/fake-api.ts';
import { slashingsOptions } from '../../support/slashings-options.ts';
import { epochRows, row } from '../../support/slot-rows.ts';
import { HOUR, noSignal, timing } from '../../support/timing.ts';

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
});
