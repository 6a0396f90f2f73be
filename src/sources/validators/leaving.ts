import { type Chain, epochTime, explorerUrl } from '../../facts/chain.ts';
import type { UnixMs } from '../../toolkit/lib/time.ts';
import { spaced } from '../../toolkit/lib/words.ts';
import { type Cell, type Linked, type Table, time } from '../content.ts';
import { type Indexed, isIndexed, type Validator } from './state.ts';

/** Validators that exit or have exited, until their balance is withdrawn, by the time of their next step. */
export function leavingOf(validators: readonly Validator[]): Indexed[] {
  const leaving = validators
    .filter(isIndexed)
    .filter(({ exitEpoch, status }) => exitEpoch !== undefined && status !== 'withdrawal_done');
  return leaving.sort((a, b) => nextStep(a) - nextStep(b) || a.index - b.index);
}

/** The epoch of the exit or of the withdrawal, whichever comes next. After both, the validator only waits for the sweep. */
function nextStep({ exitEpoch, withdrawableEpoch, epoch }: Validator): number {
  return [exitEpoch, withdrawableEpoch].find((one) => one !== undefined && one >= epoch) ?? Number.MAX_SAFE_INTEGER;
}

/** Empty if no validator exits. */
export function leavingTables(chain: Chain, validators: readonly Validator[], now: UnixMs, linked: Linked): Table[] {
  const leaving = leavingOf(validators);
  if (leaving.length === 0) return [];
  const at = (epoch: number | undefined): Cell =>
    epoch === undefined ? 'not known' : time(epochTime(chain, epoch) * 1000, now);
  return [
    {
      title: 'Leaving validators',
      columns: ['Validator', 'Chain', 'Status', 'Exit', 'Can be withdrawn'],
      rows: leaving.map(({ index, status, exitEpoch, withdrawableEpoch }) => [
        linked(`${index}`, explorerUrl(chain, 'validator', index)),
        chain,
        spaced(status),
        at(exitEpoch),
        at(withdrawableEpoch),
      ]),
      size: leaving.length,
      shown: 0,
      empty: '',
    },
  ];
}
