import { SLOTS_PER_EPOCH } from '../facts/chain.ts';
import { between, hexOf, unit } from '../toolkit/lib/random.ts';
import { rootOf } from './slashings-block.ts';

/** An attester slashing. */
export interface Slashing {
  /** The slot that determines its content, whichever block includes it. */
  readonly origin: number;
  readonly validators: readonly number[];
}

/** consensus-specs phase0, is_slashable_attestation_data: a double vote, or every eighth time a surround vote. */
export function attesterEvidence(seed: number, { origin, validators }: Slashing): object {
  const voted = Math.max(3 * SLOTS_PER_EPOCH, origin - 2);
  const target = Math.floor(voted / SLOTS_PER_EPOCH);
  const surround = unit(seed, origin, 11) < 1 / 8;
  const one = { slot: voted, source: surround ? target - 3 : target - 1, target };
  const two = surround
    ? { slot: voted - SLOTS_PER_EPOCH, source: target - 2, target: target - 1 }
    : { slot: voted, source: target - 1, target };
  // Validators with only one of the two votes have even indices in the first and odd ones in the second.
  const others = (parity: number, count: number): number[] =>
    Array.from({ length: count }, (_, i) => 2 * between(0, 500_000, seed, origin, 12 + parity, i) + parity).filter(
      (validator) => !validators.includes(validator),
    );
  const sorted = (indices: number[]): number[] => [...new Set(indices)].sort((a, b) => a - b);
  return {
    ...attestation(seed, 1, one, rootOf(seed, one.slot), sorted([...validators, ...others(0, 30)])),
    ...attestation(seed, 2, two, hexOf(32, seed, origin, 14), sorted([...validators, ...others(1, 10)])),
  };
}

function attestation(
  seed: number,
  n: 1 | 2,
  vote: { readonly slot: number; readonly source: number; readonly target: number },
  beaconBlockRoot: string,
  indices: readonly number[],
): object {
  return {
    [`attestation${n}_beaconblockroot`]: beaconBlockRoot,
    // Committees are merged since Electra (api-facts 8).
    [`attestation${n}_index`]: 0,
    [`attestation${n}_indices`]: indices,
    [`attestation${n}_slot`]: vote.slot,
    [`attestation${n}_source_epoch`]: vote.source,
    [`attestation${n}_source_root`]: rootOf(seed, vote.source * SLOTS_PER_EPOCH),
    [`attestation${n}_target_epoch`]: vote.target,
    [`attestation${n}_target_root`]: rootOf(seed, vote.target * SLOTS_PER_EPOCH),
  };
}
