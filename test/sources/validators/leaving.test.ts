import { expect, it } from 'vitest';
import { watchOf } from '../../../src/facts/watch.ts';
import {
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
import { samplesOf } from '../../support/exposition/samples.ts';

const EPOCH_NOW = 444_377;

/** The status and the life of some validators. */
const LIVES: Readonly<Record<number, readonly [status: string, exit: number | null, withdrawable?: number | null]>> = {
  1: ['withdrawal_possible', EPOCH_NOW - 900, EPOCH_NOW - 644],
  2: ['active_exiting', EPOCH_NOW + 300, EPOCH_NOW + 556],
  3: ['exited_unslashed', EPOCH_NOW - 6, EPOCH_NOW + 250],
  4: ['withdrawal_done', EPOCH_NOW - 900, EPOCH_NOW - 644],
  5: ['exited_slashed', EPOCH_NOW - 6, null],
  6: ['active_ongoing', null],
};

it('shows when leaving validators exit and become withdrawable, the next first, until they are withdrawn', async () => {
  const options = validatorsOptions({ watch: watchOf([{ first: 1, last: 6 }]) });
  const api = serviceOf({
    validators: (request) =>
      validatorsAnswer(
        EPOCH_NOW,
        identifiersOf(request).map((index) => {
          const [status, exit, withdrawable = null] = LIVES[index] ?? ['unknown', null];
          return validatorRow(index, { status, life_cycle_epochs: { exit, withdrawable } });
        }),
      ),
  });
  const { value } = await poll(api, undefined, options);
  const times = (name: string): unknown =>
    samplesOf(familiesOf(value, NOW, options), `beaconchain_watched_validator_${name}_timestamp_seconds`).map(
      ({ labels, value: at }) => [labels['validator'], at * 1000],
    );
  const at = (index: number, i: 1 | 2) => [`${index}`, startOfEpoch(Number(LIVES[index]?.[i]))];
  expect(times('exit')).toEqual([at(3, 1), at(2, 1), at(1, 1), at(5, 1)]);
  expect(times('withdrawable')).toEqual([at(3, 2), at(2, 2), at(1, 2)]);
  const table = pageOf(value, options).tables?.find(({ title }) => title === 'Leaving validators');
  expect([...(table?.rows ?? [])].map(([, , status]) => status)).toEqual([
    'exited unslashed',
    'active exiting',
    'withdrawal possible',
    'exited slashed',
  ]);
});
