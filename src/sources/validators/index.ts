import type { Source } from '../source.ts';
import { dutiesRead, rewardsRead } from './aggregates.ts';
import { membersRead, seatsOf } from './members.ts';
import { slashedIn, validatorFamilies } from './metrics.ts';
import type { ValidatorsOptions } from './options.ts';
import { doubtsOf, validatorsPage } from './page.ts';
import { validatorsProbing } from './probe.ts';
import { NO_VALIDATORS, Validators } from './state.ts';
import { statusRead } from './status.ts';

/** The watched validators of a chain: status, balances, duties, rewards, and seats in sync committees. */
export function validatorsSource(options: ValidatorsOptions): Source<Validators> {
  const { chain, chains, watch, syncCommittee } = options;
  return {
    name: 'validators',
    chain,
    reads: readsOf(options),
    state: Validators,
    empty: NO_VALIDATORS,
    share: () => 2 / chains,
    metrics: (value, timing, inputs) => validatorFamilies(options, value, timing, inputs),
    page: (value, timing, shown) => validatorsPage(options, value, timing, shown),
    more: {
      probe: validatorsProbing(options),
      gives: (value) => ({
        slashedByStatus: slashedIn(value, watch),
        ...(syncCommittee && { seatsOf: (period) => seatsOf(value.committees, period) }),
      }),
      doubts: (timing) => doubtsOf(options, timing),
    },
  };
}

function readsOf(options: ValidatorsOptions): Source<Validators>['reads'] {
  const { status, rewards, syncCommittee } = options;
  if (!status) return [membersRead(options)];
  return [
    statusRead(options),
    dutiesRead(options),
    ...(rewards ? [rewardsRead(options)] : []),
    ...(syncCommittee ? [membersRead(options)] : []),
  ];
}
