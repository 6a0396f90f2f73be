import { describe, expect, it } from 'vitest';
import { watchOf } from '../../../src/facts/watch.ts';
import type { SourceEvent } from '../../../src/sources/read.ts';
import type { ValidatorsOptions } from '../../../src/sources/validators/options.ts';
import { NO_VALIDATORS, type Validators } from '../../../src/sources/validators/state.ts';
import {
  EPOCH,
  familiesOf,
  identifiersOf,
  NOW,
  pageOf,
  poll,
  serviceOf,
  startOfEpoch,
  validatorRow,
  validatorsAnswer,
  validatorsOptions,
} from '../../support/answers/validators.ts';
import { samplesOf, seriesIn } from '../../support/exposition/samples.ts';
import { DAY } from '../../support/time/timing.ts';

const EPOCH_NOW = 444_377;
const ADDRESS = `0x${'ab'.repeat(20)}`;

/** The credentials of validator 3 in an answer: its epoch, their type, and the withdrawal address. */
type Said = readonly [epoch: number, prefix: unknown, address?: unknown];

/** The value and the events after these answers, one an epoch. */
async function learned(...answers: readonly Said[]): Promise<{ value: Validators; events: SourceEvent[] }> {
  let value = NO_VALIDATORS;
  const events: SourceEvent[] = [];
  for (const [i, [epoch, prefix, address = null]] of answers.entries()) {
    const api = serviceOf({
      validators: (request) =>
        validatorsAnswer(
          epoch,
          identifiersOf(request).map((index) =>
            validatorRow(index, index === 3 ? { withdrawal_credentials: { prefix, address } } : {}),
          ),
        ),
    });
    const polled = await poll(api, value, undefined, NOW + i * EPOCH);
    expect(polled.failure).toBeUndefined();
    ({ value } = polled);
    events.push(...polled.events);
  }
  return { value, events };
}

function changed(value: Validators, now?: number, options?: ValidatorsOptions): Record<string, number> {
  const samples = samplesOf(
    familiesOf(value, now, options),
    'beaconchain_watched_validator_credentials_changed_timestamp_seconds',
  );
  return Object.fromEntries(samples.map(({ labels, value: at }) => [`${labels['validator']} ${labels['type']}`, at]));
}

function byType(value: Validators, now?: number): Record<string, number> {
  return seriesIn(
    familiesOf(value, now).filter(({ name }) => name.endsWith('by_credentials')),
    'mainnet',
  );
}

function notices(value: Validators) {
  const { notices: all = [] } = pageOf(value);
  return all.filter(({ alert }) => alert === 'BeaconchainCredentialsChanged');
}

describe('the credentials of watched validators', () => {
  it('are counted by every type, and stay when the status is withdrawn', async () => {
    const { value } = await learned([EPOCH_NOW, '0x02'], [EPOCH_NOW + 1, '0x02']);
    const expected = { '0x00': 1, '0x01': 10, '0x02': 1, other: 0 };
    const series = Object.entries(expected).map(([type, count]) => [
      `watched_validators_by_credentials ${type}`,
      count,
    ]);
    expect(byType(value)).toEqual(Object.fromEntries(series));
    expect(byType(value, NOW + DAY)).toEqual(byType(value));
  });

  it('change when the next answer confirms it, which is reported once with both types and the address', async () => {
    const first = await learned([EPOCH_NOW, '0x00'], [EPOCH_NOW + 1, '0x01', ADDRESS]);
    expect([first.events, changed(first.value), notices(first.value)]).toEqual([[], {}, []]);
    expect(byType(first.value)).toMatchObject({ 'watched_validators_by_credentials 0x00': 2 });
    const { value, events } = await learned(
      [EPOCH_NOW, '0x00'],
      [EPOCH_NOW + 1, '0x01', ADDRESS.toUpperCase().replace('X', 'x')],
      [EPOCH_NOW + 1, '0x01', ADDRESS],
      [EPOCH_NOW + 2, '0x01', ADDRESS],
    );
    const change = { from: '0x00', to: '0x01', address: ADDRESS, epoch: EPOCH_NOW + 1 };
    expect(events).toEqual([{ type: 'withdrawal_address_set', validator: 3, ...change }]);
    expect(changed(value, NOW + DAY)).toEqual({ '3 0x01': startOfEpoch(EPOCH_NOW + 1) / 1000 });
    const [notice] = notices(value);
    expect(notice).toMatchObject({ tone: 'bad', text: expect.stringContaining('somebody has your mnemonic') });
    const table = pageOf(value).tables?.find(({ title }) => title === 'Changed withdrawal credentials');
    expect(JSON.stringify([...(table?.rows ?? [])])).toContain(ADDRESS);
    expect(JSON.stringify(familiesOf(value))).not.toContain(ADDRESS);
  });

  it.each<[string, epochs: readonly number[], prefixes: readonly unknown[]]>([
    ['a single answer', [1, 2, 3], ['0x01', '0x00', '0x01']],
    ['an older answer', [1, -1], ['0x01', '0x01']],
    ['two answers that differ', [1, 2], ['0x01', '0x02']],
    ['answers without them', [1, 2, 3], [null, 7, 'x']],
  ])('do not change after %s', async (_, epochs, prefixes) => {
    const answers = epochs.map((epoch, i): Said => [EPOCH_NOW + epoch, prefixes[i]]);
    const { value, events } = await learned([EPOCH_NOW, '0x00'], ...answers);
    expect([events, changed(value)]).toEqual([[], {}]);
    expect(byType(value)).toMatchObject({ 'watched_validators_by_credentials 0x00': 2 });
  });

  it('change although an answer between two that agree lacks them', async () => {
    const answers = ['0x00', '0x01', null, '0x01'].map((prefix, i): Said => [EPOCH_NOW + i, prefix]);
    const { events } = await learned(...answers);
    expect(events).toMatchObject([{ from: '0x00', to: '0x01', address: null, epoch: EPOCH_NOW + 1 }]);
  });

  it('do not change if they fall and recover, which only a fault of the service can show', async () => {
    const told = (...said: readonly string[]) =>
      learned(...said.map((prefix, i): Said => [EPOCH_NOW + i, prefix, ADDRESS]));
    const fallen = await told('0x01', '0x00', '0x00');
    expect(byType(fallen.value)).toMatchObject({ 'watched_validators_by_credentials 0x00': 2 });
    for (const said of [
      ['0x01', '0x00', '0x00', '0x01', '0x01'],
      ['0x02', '0x01', '0x01', '0x00', '0x00', '0x02', '0x02'],
    ]) {
      const { value, events } = await told(...said);
      expect([events, changed(value)]).toEqual([[], {}]);
      expect(byType(value)).toMatchObject({ 'watched_validators_by_credentials 0x00': 1 });
    }
    const { events } = await told('0x01', '0x00', '0x00', '0x02', '0x02');
    expect(events).toMatchObject([{ type: 'credentials_changed', from: '0x01', to: '0x02' }]);
  });

  it('that got an address keep their series however many others compound later', async () => {
    const options = validatorsOptions({ watch: watchOf([{ first: 1, last: 150 }]) });
    let value = NO_VALIDATORS;
    const ofOther = (i: number): string => (i < 4 ? '0x01' : '0x02');
    for (const i of [1, 2, 3, 4, 5]) {
      const prefixOf = (index: number): string => (index === 3 ? (i === 1 ? '0x00' : '0x01') : ofOther(i));
      const rowOf = (index: number) => validatorRow(index, { withdrawal_credentials: { prefix: prefixOf(index) } });
      const api = serviceOf({
        validators: (request) => validatorsAnswer(EPOCH_NOW + i, identifiersOf(request).map(rowOf)),
      });
      ({ value } = await poll(api, value, options, NOW + i * EPOCH));
    }
    const names = Object.keys(changed(value, NOW + 5 * EPOCH, options));
    expect([names.length, names.filter((name) => name.endsWith('0x01'))]).toEqual([101, ['3 0x01']]);
  });

  it('that compound have a neutral notice, beside the notice about the address', async () => {
    const said = ['0x00', '0x01', '0x01', '0x02', '0x02'].map((prefix, i): Said => [EPOCH_NOW + i, prefix, ADDRESS]);
    const { value, events } = await learned(...said);
    expect(events.map(({ type }) => type)).toEqual(['withdrawal_address_set', 'credentials_changed']);
    expect(Object.keys(changed(value))).toEqual(['3 0x01', '3 0x02']);
    expect(notices(value).map(({ tone }) => tone)).toEqual(['bad', 'neutral']);
  });

  it('that got an address and compound between two answers are reported as the former', async () => {
    const { value, events } = await learned([EPOCH_NOW, '0x00'], [EPOCH_NOW + 1, '0x02'], [EPOCH_NOW + 2, '0x02']);
    expect(events.map(({ type }) => type)).toEqual(['withdrawal_address_set']);
    expect(Object.keys(changed(value))).toEqual(['3 0x01']);
  });
});
