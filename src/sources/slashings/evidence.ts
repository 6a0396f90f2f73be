import { hash } from 'node:crypto';
import type { AttesterSlashing, Kind } from './schema.ts';

interface Attestation {
  readonly slot: number;
  readonly index: number;
  readonly beaconBlockRoot: string;
  readonly sourceEpoch: number;
  readonly sourceRoot: string;
  readonly targetEpoch: number;
  readonly targetRoot: string;
  readonly indices: Uint32Array;
}

function attestationsOf(record: AttesterSlashing): readonly [Attestation, Attestation] {
  return [
    {
      slot: record.attestation1_slot,
      index: record.attestation1_index,
      beaconBlockRoot: record.attestation1_beaconblockroot,
      sourceEpoch: record.attestation1_source_epoch,
      sourceRoot: record.attestation1_source_root,
      targetEpoch: record.attestation1_target_epoch,
      targetRoot: record.attestation1_target_root,
      indices: record.attestation1_indices,
    },
    {
      slot: record.attestation2_slot,
      index: record.attestation2_index,
      beaconBlockRoot: record.attestation2_beaconblockroot,
      sourceEpoch: record.attestation2_source_epoch,
      sourceRoot: record.attestation2_source_root,
      targetEpoch: record.attestation2_target_epoch,
      targetRoot: record.attestation2_target_root,
      indices: record.attestation2_indices,
    },
  ];
}

/**
 * Identifies a slashing by its content: the pair of attestations, in either order, with sorted indices. Not by the block,
 * which a reorganisation changes, nor by the signatures. 128 bits of SHA-256, hex.
 */
export function identityOf(record: AttesterSlashing): string {
  const pair = attestationsOf(record).map(fingerprint).sort();
  return hash('sha256', pair.join(' ')).slice(0, 32);
}

function fingerprint(attestation: Attestation): string {
  const { indices, ...data } = attestation;
  return hash('sha256', `${Object.values(data).join(' ')} ${[...new Set(indices.toSorted())].join(',')}`);
}

/** consensus-specs phase0, is_slashable_attestation_data; both orders of a surround count as one kind. */
export function kindOf(record: AttesterSlashing): Kind {
  const [one, two] = attestationsOf(record);
  if (one.targetEpoch === two.targetEpoch) return sameData(one, two) ? 'unknown' : 'double_vote';
  return surrounds(one, two) || surrounds(two, one) ? 'surround_vote' : 'unknown';
}

function sameData({ indices: _one, ...a }: Attestation, { indices: _two, ...b }: Attestation): boolean {
  return Object.values(a).join(' ') === Object.values(b).join(' ');
}

function surrounds(outer: Attestation, inner: Attestation): boolean {
  return outer.sourceEpoch < inner.sourceEpoch && inner.targetEpoch < outer.targetEpoch;
}

/** Validators in both lists, each once: an upper bound of those slashed (api-facts 8). Takes linear time. */
export function slashedBy(record: AttesterSlashing): number[] {
  const first = new Set(record.attestation1_indices);
  return [...new Set(record.attestation2_indices)].filter((index) => first.has(index)).sort((a, b) => a - b);
}
