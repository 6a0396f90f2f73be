import type { Chain } from '../lib/chain.ts';
import type { Logger } from '../lib/log.ts';
import { type Watch, watches } from '../lib/watch.ts';
import type { ObservedSlashing } from '../sources/slashings/options.ts';

const MAX_NAMED = 20;

/** A slashing is a warning; one of a watched validator is an error, and names those first. */
export function logSlashing(
  log: Logger,
  chain: Chain,
  watch: Watch,
  { slot, kind, validators }: ObservedSlashing,
): void {
  const watched = validators.filter((validator) => watches(watch, validator));
  const others = validators.filter((validator) => !watches(watch, validator));
  const fields = {
    chain,
    slot,
    kind,
    validators: [...watched, ...others].slice(0, MAX_NAMED),
    count: validators.length,
    watched: watched.length,
  };
  if (watched.length > 0) log.error(fields, 'watched validator slashed');
  else log.warn(fields, kind === 'proposer' ? 'proposer slashing' : 'attester slashing');
}
