import { MS_PER_EPOCH, USUAL_AGE } from '../../facts/chain.ts';
import { spaced } from '../../toolkit/lib/words.ts';
import type { Read, Timing } from '../read.ts';
import type { Detection, Source } from '../source.ts';
import { withKeys } from '../watched-keys.ts';
import { dutiesRead, rewardsRead } from './aggregates.ts';
import { EPOCH_DUTIES, EPOCH_REWARDS } from './epoch-parts.ts';
import { epochReads } from './epochs.ts';
import { EVENTS } from './events.ts';
import { epochsHistory } from './history.ts';
import { membersRead, seatsOf } from './members.ts';
import { slashedIn, validatorFamilies } from './metrics.ts';
import type { ValidatorsOptions } from './options.ts';
import { validatorsPage } from './page.ts';
import { validatorsProbing } from './probe.ts';
import { NO_VALIDATORS, Validators } from './state.ts';
import { statusRead } from './status.ts';

/** The watched validators of a chain: status, balances, duties, rewards, and seats in sync committees. */
export function validatorsSource(options: ValidatorsOptions): Source<Validators> {
  return withKeys(options, sourceOf, ({ validators }) => validators);
}

function sourceOf(options: ValidatorsOptions): Source<Validators> {
  const { chain, chains, watch, syncCommittee } = options;
  return {
    name: 'validators',
    chain,
    reads: readsOf(options),
    state: Validators,
    empty: NO_VALIDATORS,
    share: () => 2 / chains,
    metrics: (value, timing, inputs) => validatorFamilies(options, value, timing, inputs),
    events: EVENTS,
    page: (value, timing, shown) => validatorsPage(options, value, timing, shown),
    more: {
      probe: validatorsProbing(options),
      history: (value) => epochsHistory(options, value),
      gives: (value) => ({
        slashedByStatus: slashedIn(value, watch),
        keys: value.validators,
        ...(syncCommittee && { seatsOf: (period) => seatsOf(value.committees, period) }),
      }),
      detects: (timing) => detectionsOf(options, timing),
      leavesOut: lateEpochs,
    },
  };
}

function readsOf(options: ValidatorsOptions): Source<Validators>['reads'] {
  const { status, rewards, syncCommittee } = options;
  const [first, ...others] = [
    ...(status ? [statusRead(options), dutiesRead(options)] : []),
    ...(status && rewards ? [rewardsRead(options)] : []),
    ...(syncCommittee ? [membersRead(options)] : []),
  ];
  const epochs = epochReads(options);
  if (first) return [first, ...others, ...epochs];
  const [duties, earned] = epochs as [Read<Validators>, Read<Validators>];
  return [duties, earned];
}

/** The parts of the epochs that cannot keep up. A part that is off leaves nothing out. */
function lateEpochs(timing: Timing): string {
  const isLate = (part: string): boolean => (timing.of(part) ?? 0) > MS_PER_EPOCH;
  const late = [EPOCH_DUTIES, EPOCH_REWARDS].filter(({ name }) => isLate(name));
  return late.length > 0 ? `${late.map(({ name }) => spaced(name)).join(' and ')} cannot keep up` : '';
}

/** Two responses of different epochs must report a validator as offline. */
function detectionsOf({ status }: ValidatorsOptions, timing: Timing): Detection[] {
  const readMs = timing.of('status') ?? Infinity;
  const slashedMs = MS_PER_EPOCH + readMs;
  const all: Detection[] = [
    [
      'BeaconchainValidatorOffline',
      'a validator is offline',
      USUAL_AGE.status + readMs + Math.max(readMs, MS_PER_EPOCH),
    ],
    ['BeaconchainWatchedValidatorSlashed', 'a validator is slashed as an attester', slashedMs],
    ['BeaconchainWatchedValidatorSlashed', 'a validator is slashed as a proposer', slashedMs],
    ['BeaconchainCredentialsChanged', 'withdrawal credentials change', MS_PER_EPOCH + 2 * readMs],
  ];
  return status ? all : [];
}
