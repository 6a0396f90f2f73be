import type { ValidatorRow } from '../../api/answers/validators.ts';
import { SLOTS_PER_EPOCH } from '../../facts/chain.ts';
import { type Watch, watches } from '../../facts/watch.ts';
import type { Slashed } from '../slashed.ts';
import type { Validators } from './schema.ts';

/** consensus-specs phase0, initiate_validator_exit and slash_validator, in epochs. */
const WITHDRAWABLE_AFTER_EXIT = 256;
const WITHDRAWABLE_AFTER_SLASHING = 8192;

/**
 * A slashed validator is withdrawable at the later of two epochs: one after its exit, one after its slashing. Only the
 * second one tells when it was slashed. An epoch after that of the answer is left out: the next answer has it.
 */
export function slashingOf({ life_cycle_epochs: life }: ValidatorRow, answer: number): Pick<Slashed, 'slot'> {
  if (!life || life.withdrawable <= life.exit + WITHDRAWABLE_AFTER_EXIT) return {};
  const epoch = life.withdrawable - WITHDRAWABLE_AFTER_SLASHING;
  return epoch >= 0 && epoch <= answer ? { slot: epoch * SLOTS_PER_EPOCH } : {};
}

/** The watched validators that are reported as slashed, by the last answer or an earlier one. */
export function slashedIn({ validators }: Validators, watch: Watch): Slashed[] {
  return validators.flatMap(({ slashed }) => (slashed && watches(watch, slashed.validator) ? [slashed] : []));
}
