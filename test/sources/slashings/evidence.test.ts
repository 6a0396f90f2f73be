import { describe, expect, it } from 'vitest';
import { AttesterSlashing } from '../../../src/api/answers/slots.ts';
import { identityOf, kindOf, slashedBy } from '../../../src/sources/slashings/evidence.ts';
import { type Fields, slashing } from '../../support/answers/slot-rows.ts';

function evidence(validators: readonly number[], fields: Fields = {}): AttesterSlashing {
  return AttesterSlashing.parse(slashing(12571718, validators, fields));
}

/** The record with its two attestations exchanged. */
function exchanged(record: Fields): Fields {
  const other = (field: string): string =>
    field.replace(/^attestation([12])/, (_, n: string) => `attestation${3 - Number(n)}`);
  return Object.fromEntries(Object.entries(record).map(([field, value]) => [other(field), value]));
}

describe('identity', () => {
  const known = identityOf(evidence([7, 5]));

  it('is the same as in earlier versions, whose state remembers it', () => {
    expect(known).toBe('5ce1a675d5c865763330cb58e8c53a13');
  });

  it('ignores the order of attestations and indices, repetitions, signatures, the block and the spelling of roots', () => {
    const others: Fields[] = [
      { attestation1_signature: '0xb2', attestation2_signature: undefined },
      { block_root: '0xother', block_slot: 12571800, block_index: 3 },
      { attestation1_beaconblockroot: '0x4B50F711' },
    ];
    const same = [...others.map((fields) => evidence([5, 7], fields)), evidence([5, 7, 5])];
    same.push(AttesterSlashing.parse(exchanged(slashing(12571718, [7, 5]))));
    for (const record of same) expect(identityOf(record)).toBe(known);
  });

  const data = ['beaconblockroot', 'index', 'slot', 'source_epoch', 'source_root', 'target_epoch', 'target_root'];

  it('depends on every field of the data and on the indices', () => {
    for (const field of [1, 2].flatMap((n) => ['indices', ...data].map((name) => `attestation${n}_${name}`))) {
      const other = field.endsWith('root') ? '0xf00' : field.endsWith('indices') ? [57] : 1;
      expect(identityOf(evidence([7, 5], { [field]: other })), field).not.toBe(known);
    }
  });
});

const same = { attestation2_beaconblockroot: '0x4b50f711' };

// Since Gloas the index is a vote on the payload.
it.each<[kind: string, when: string, sourcesAndTargets: readonly number[], fields?: Fields]>([
  ['double_vote', 'different data have one target epoch', [1, 2, 1, 2]],
  ['double_vote', 'different data have one target epoch', [0, 2, 1, 2], same],
  ['double_vote', 'the data differ in the index alone', [1, 2, 1, 2], { ...same, attestation2_index: 1 }],
  ['surround_vote', 'one surrounds the other', [1, 4, 2, 3]],
  ['surround_vote', 'one surrounds the other', [2, 3, 1, 4]],
  ['unknown', 'neither holds', [1, 3, 2, 4]],
  ['unknown', 'neither holds', [1, 2, 3, 4]],
  ['unknown', 'neither holds', [1, 4, 1, 3]],
  ['unknown', 'neither holds', [1, 2, 1, 2], same],
])('the kind is %s when %s: %j', (kind, _, sourcesAndTargets, fields) => {
  const epochs = sourcesAndTargets.map((epoch, i) => [
    `attestation${i < 2 ? 1 : 2}_${i % 2 ? 'target' : 'source'}_epoch`,
    epoch,
  ]);
  expect(kindOf(evidence([1], { ...Object.fromEntries(epochs), ...fields }))).toBe(kind);
});

it('lists the validators of both attestations once, ascending, as slashed', () => {
  const lists = { attestation1_indices: [9, 3, 3, 100, 7], attestation2_indices: [100, 3, 8, 9, 3] };
  expect(slashedBy(evidence([], lists))).toEqual([3, 9, 100]);
});
