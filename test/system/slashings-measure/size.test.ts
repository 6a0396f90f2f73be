import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { describe, expect, it } from 'vitest';
import type { ApiRequest } from '../../../src/api/client.ts';
import type { Family } from '../../../src/metrics/family.ts';
import { NO_SLASHINGS } from '../../../src/sources/slashings/count.ts';
import { slashingsSource } from '../../../src/sources/slashings/index.ts';
import { slashingFamilies } from '../../../src/sources/slashings/metrics.ts';
import { type Watch, watchOf } from '../../../src/sources/slashings/options.ts';
import type { Slashings } from '../../../src/sources/slashings/schema.ts';
import { fakeApi } from '../../support/fake-api.ts';
import { samplesOf, sampleValue } from '../../support/samples.ts';
import { slashingsOptions } from '../../support/slashings-options.ts';
import { epochRows, type Fields, row, slashing } from '../../support/slot-rows.ts';
import { NOW, noSignal, timing } from '../../support/timing.ts';

const OPTIONS = slashingsOptions();
const SOURCE = slashingsSource(OPTIONS);

const FIRST_EPOCH = 405_000;
const EPOCHS_PER_DAY = 225;
const YEAR = 365 * EPOCHS_PER_DAY;
const PER_YEAR = 60;
/** One a block since Electra (api-facts 8): 22 or 23 in each epoch of the last day. */
const MASS = 5_000;
const EPOCHS_PER_POLL = 12;
const EPOCH_MS = 384_000;
const RENDERED = 100;

/** How many slashings the blocks of an epoch include. */
function slashingsIn(epoch: number): number {
  const i = epoch - FIRST_EPOCH;
  const last = YEAR - EPOCHS_PER_DAY;
  if (i >= last)
    return Math.floor(((i - last + 1) * MASS) / EPOCHS_PER_DAY) - Math.floor(((i - last) * MASS) / EPOCHS_PER_DAY);
  return i % Math.floor(last / PER_YEAR) === 0 && i < last - PER_YEAR ? 1 : 0;
}

/** Epochs of a single row where nothing happens: a year of whole ones would take minutes to read. */
function rowsOf(epoch: number): Fields[] {
  const count = slashingsIn(epoch);
  if (count === 0) return [row({ slot: epoch * 32 })];
  return epochRows(epoch).map((fields, i) => ({ ...fields, attesterslashingscount: i < count ? 1 : 0 }));
}

function serve({ path }: ApiRequest, finalized: number): unknown {
  const [, , , kind, name] = path.split('/');
  const slot = Number(name);
  if (kind === 'slot') return { data: [slashing(slot, [slot % 1_000_000], { attestation1_slot: slot })] };
  return { data: rowsOf(name === 'finalized' ? finalized : Number(name)) };
}

function bytesOf(state: Slashings): number {
  return Buffer.byteLength(JSON.stringify(state));
}

/** Bytes on the heap that `make` leaves in use. */
function memoryOf<T>(make: () => T): { value: T; bytes: number } {
  setFlagsFromString('--expose-gc');
  const gc: () => void = runInNewContext('gc');
  gc();
  const before = process.memoryUsage().heapUsed;
  const value = make();
  gc();
  return { value, bytes: process.memoryUsage().heapUsed - before };
}

describe('system/slashings-measure/size', () => {
  it('the state stays below 5 MB after a year of mainnet that ends with 5,000 validators slashed in a day', async ({
    annotate,
  }) => {
    let state = SOURCE.empty;
    let finalized = FIRST_EPOCH;
    let beforeTheLastDay = 0;
    const api = fakeApi((request) => serve(request, finalized));
    for (let epoch = FIRST_EPOCH; epoch < FIRST_EPOCH + YEAR + EPOCHS_PER_POLL; epoch += EPOCHS_PER_POLL) {
      finalized = Math.min(epoch, FIRST_EPOCH + YEAR - 1);
      const now = NOW + (finalized - FIRST_EPOCH) * EPOCH_MS;
      if (slashingsIn(finalized) < 2) beforeTheLastDay = bytesOf(state);
      ({ value: state } = await SOURCE.poll(api, state, timing({ now, coverage: 'finalized' }), noSignal()));
    }
    await annotate(`${beforeTheLastDay} bytes, and ${bytesOf(state)} bytes after the last day`);
    expect(state.totals).toMatchObject({ slashedValidators: MASS + PER_YEAR, skippedEpochs: 0 });
    expect(state.slashed).toHaveLength(MASS + PER_YEAR);
    expect(state.scannedEpoch).toBe(FIRST_EPOCH + YEAR - 1);
    expect(bytesOf(state)).toBeLessThan(5_000_000);
  });

  it.for<[string, () => Watch]>([
    ['one range', () => watchOf([{ first: 0, last: 99_999 }])],
    ['single indices', () => watchOf(Array.from({ length: 100_000 }, (_, i) => ({ first: 2 * i, last: 2 * i })))],
  ])('100,000 watched validators as %s cost no series, little memory and no time', async ([, make], { annotate }) => {
    const { value: watch, bytes } = memoryOf(make);
    const slashed = Array.from({ length: MASS }, (_, i): [number, number] => [1_000_000 + i, 12_000_000 + i]);
    const state: Slashings = { ...NO_SLASHINGS, slashed: [...slashed, [64, 12_000_000]] };
    const families = (): Family[] => slashingFamilies({ ...OPTIONS, watch }, state, timing());
    const before = process.cpuUsage();
    for (let i = 0; i < RENDERED; i += 1) families();
    const ms = process.cpuUsage(before).user / 1_000 / RENDERED;
    await annotate(`${bytes} bytes, ${ms.toFixed(2)} ms for the families with ${MASS} validators slashed`);

    expect(sampleValue(families(), 'beaconchain_watched_validators')).toBe(100_000);
    expect(sampleValue(families(), 'beaconchain_watched_validators_slashed')).toBe(1);
    const named = samplesOf(families(), 'beaconchain_watched_validator_slashed_timestamp_seconds');
    expect(named.map(({ labels }) => labels['validator'])).toEqual(['64']);
    expect(bytes).toBeLessThan(8_000_000);
    // A generous multiple of what it takes: the machine may be slow.
    expect(ms).toBeLessThan(50);
  });
});
