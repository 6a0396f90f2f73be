import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type Format, OPENMETRICS_EOF } from '../../src/metrics/encode.ts';
import type { Family } from '../../src/metrics/family.ts';
import { encodeFamilies } from '../support/encode.ts';
import { cases, PATIENT } from '../support/fuzz.ts';
import { parseIndependently } from '../support/independent-parser.ts';
import { areMissing, PROMTOOL, PYTHON_PARSERS, runTool } from '../support/tools.ts';

const FORMATS: readonly Format[] = ['text', 'openmetrics'];
const SAMPLES = 250;

const anyText = fc.oneof(
  fc.string({ unit: 'binary' }),
  fc.string({ unit: 'grapheme' }),
  fc
    .array(fc.constantFrom(...'\\"\n\r\t{},= #\0', '\ud83c', '\udfe0', '# EOF', '\u2028', 'ü', '🦀'))
    .map((parts) => parts.join('')),
);
const anyNumber = fc.oneof(
  fc.double(),
  fc.constantFrom(0, -0, NaN, Infinity, -Infinity, 5e-324, 2.2e-308, 1.7976931348623157e308, 2 ** 53 + 2, 1e21, 1e-7),
);

/** As a reader in C takes it: without NUL, in UTF-8. */
function readable(text: string): string {
  return Buffer.from(text).toString().replaceAll('\0', '\ufffd');
}

/** Many samples a case, because each case starts a program. */
const families: fc.Arbitrary<Family[]> = fc
  .array(fc.tuple(anyText, anyNumber, fc.boolean()), { minLength: SAMPLES, maxLength: SAMPLES })
  .map((all) => {
    const samples = all.map(([text, value], i) => ({ labels: { text, i: String(i) }, value }));
    const counted = samples.filter(({ value }) => value >= 0);
    return [
      { name: 'odd_seconds', type: 'gauge', help: 'Odd.', samples },
      { name: 'odd_total', type: 'counter', help: 'Odd too: " \\ \n.', samples: counted },
    ];
  });

describe('fuzz encoder', PATIENT, () => {
  describe.skipIf(areMissing(PYTHON_PARSERS))('an independent parser', () => {
    it.each(FORMATS)('reads any text and any number in %s as it was', (format) => {
      fc.assert(
        fc.property(families, (given) => {
          const end = format === 'openmetrics' ? OPENMETRICS_EOF : '';
          const read = parseIndependently(encodeFamilies(given, format) + end, format);
          const expected = given.map(({ name, samples }) =>
            samples.map(({ labels, value }) => ({
              name,
              labels: { ...labels, text: readable(labels['text'] ?? '') },
              // Neither format is asked to keep the sign of a zero.
              value: value === 0 ? 0 : value,
            })),
          );
          expect(read.map(({ samples }) => samples)).toEqual(expected);
        }),
        cases(2),
      );
    });
  });

  it.skipIf(areMissing(PROMTOOL))('promtool finds nothing to say against any text and any number', () => {
    fc.assert(
      fc.property(families, (given) => {
        const { status, stdout, stderr } = runTool(PROMTOOL, ['check', 'metrics'], encodeFamilies(given, 'text'));
        expect({ status, stdout, stderr }).toEqual({ status: 0, stdout: '', stderr: '' });
      }),
      cases(2),
    );
  });
});
