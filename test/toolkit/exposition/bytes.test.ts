import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Bytes } from '../../../src/toolkit/exposition/bytes.ts';

describe('metrics/bytes', () => {
  it('contains everything that was added, in any script, however much more than expected', () => {
    const texts = fc.array(
      fc.oneof(fc.string({ unit: 'binary', maxLength: 40 }), fc.constant('ä机\u{1f980}'.repeat(300))),
    );
    fc.assert(
      fc.property(texts, fc.nat(10_000), (pieces, expected) => {
        const bytes = new Bytes(expected);
        for (const piece of pieces) bytes.add(piece);
        expect(bytes.written().equals(Buffer.from(pieces.join('')))).toBe(true);
      }),
      { numRuns: 20 },
    );
  });
});
