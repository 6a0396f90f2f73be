import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Format } from '../../../src/toolkit/exposition/encode.ts';
import { type Family, mergeFamilies, type Sample } from '../../../src/toolkit/exposition/family.ts';
import { encodeFamilies } from '../../support/exposition/encode.ts';
import { parseExposition } from '../../support/exposition/exposition-parser.ts';
import { cases, PATIENT } from '../../support/vitest/fuzz.ts';

/** Any sequence of UTF-16 units, lone surrogates and NUL included, with much of what needs care. */
const anyText = fc
  .array(fc.oneof(fc.integer({ min: 0, max: 0xffff }), fc.constantFrom(...'\\"\n{},= #\r\0ü\ud83c\udfe0')), {
    maxLength: 30,
  })
  .map((units) => units.map((unit) => (typeof unit === 'string' ? unit : String.fromCharCode(unit))).join(''));

const sample: fc.Arbitrary<Sample> = fc
  .record(
    {
      labels: fc.dictionary(fc.constantFrom('machine', 'chain', 'le', '_x'), anyText, { noNullPrototype: true }),
      value: fc.oneof(fc.double(), fc.integer(), fc.maxSafeInteger(), fc.constantFrom(NaN, Infinity, -Infinity, -0)),
      milliseconds: fc.integer({ min: 0, max: 4e12 }),
    },
    { requiredKeys: ['labels', 'value'] },
  )
  .map(({ milliseconds, ...rest }) => (milliseconds === undefined ? rest : { ...rest, at: milliseconds / 1_000 }));

const NAMES = ['a_total', 'b_seconds', 'c_seconds_total', 'd:e_9'];

const families: fc.Arbitrary<Family[]> = fc.array(
  fc
    .record({
      name: fc.constantFrom(...NAMES),
      help: fc.constantFrom('Help.', 'a "b" \\ c'),
      samples: fc.array(sample),
    })
    .map((family) => ({ ...family, type: family.name.endsWith('_total') ? 'counter' : 'gauge' })),
);

/** What UTF-8 and a reader in C can hold of a text. */
function readable(text: string): string {
  return Buffer.from(text).toString().split('\0').join('\ufffd');
}

function expectedSamples({ name, samples }: Family): unknown[] {
  return samples.map(({ labels, value, at }) => ({
    name,
    labels: Object.fromEntries(Object.entries(labels).map(([label, text]) => [label, readable(text)])),
    // Neither format is asked to keep the sign of a zero.
    value: value === 0 ? 0 : value,
    timestamp: at,
  }));
}

describe('metrics/encode: property', PATIENT, () => {
  it.each<Format>(['text', 'openmetrics'])('is read back as it was by a parser of %s', (format) => {
    fc.assert(
      fc.property(families, (parts) => {
        const merged = mergeFamilies(parts).filter((family) => family.samples.length > 0);
        const bytes = Buffer.from(encodeFamilies(merged, format));
        const read = parseExposition(bytes.toString());
        expect(read.flatMap((family) => family.samples)).toEqual(merged.flatMap(expectedSamples));
        expect(read.map((family) => family.metadata['TYPE'])).toEqual(merged.map((family) => family.type));
        const { length } = parts.flatMap((family) => family.samples);
        expect(read.flatMap((family) => family.samples)).toHaveLength(length);
      }),
      cases(100),
    );
  });
});
