import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { JsonRefused, parseJson } from '../../src/api/json.ts';
import { bodyOf } from '../support/written-answer.ts';

const MIB = 1024 * 1024;

/** A body that arrives in pieces of this many bytes, with empty ones between. */
async function* inPieces(text: string, size: number): AsyncGenerator<Uint8Array> {
  const bytes = Buffer.from(text);
  for (let i = 0; i < bytes.length; i += size) {
    yield bytes.subarray(i, i + size);
    yield new Uint8Array(0);
  }
}

describe('api/json', () => {
  it('reads what JSON.parse reads, as it does', async () => {
    await fc.assert(
      fc.asyncProperty(fc.json({ maxDepth: 20 }), fc.constantFrom('', '  ', '\t'), async (text, indent) => {
        const value = JSON.parse(text);
        expect(await parseJson('machine_metrics', bodyOf(JSON.stringify(value, null, indent)))).toEqual(value);
      }),
    );
  });

  it('takes brackets, commas and quotes within a text for text', async () => {
    const odd = `${'[{,:'.repeat(200_000)}\\"]`;
    expect(await parseJson('machine_metrics', bodyOf(JSON.stringify({ odd })))).toEqual({ odd });
  });

  it('takes them for text too where a piece ends with the backslash before a quote', async () => {
    const odd = `\\"${'['.repeat(100)}\\`;
    expect(await parseJson('machine_metrics', inPieces(JSON.stringify({ odd }), 1))).toEqual({ odd });
  });

  it('refuses what JSON.parse refuses', async () => {
    const malformed = fc.string().filter((text) => {
      try {
        JSON.parse(text);
        return false;
      } catch {
        return true;
      }
    });
    await fc.assert(
      fc.asyncProperty(malformed, async (text) => {
        await expect(parseJson('machine_metrics', bodyOf(text))).rejects.toThrow(JsonRefused);
      }),
    );
  });

  it('reads two slashings of all validators that a slot can have', async () => {
    const indices = Array.from({ length: 131_072 }, (_, i) => i);
    const record = { attestation1_indices: indices, attestation2_indices: indices };
    expect(await parseJson('attester_slashings', bodyOf(JSON.stringify([record, record])))).toEqual([record, record]);
  });

  it('reads 32 levels and a number of 1,000 digits', async () => {
    await expect(parseJson('epoch_slots', bodyOf('['.repeat(32) + ']'.repeat(32)))).resolves.toBeDefined();
    await expect(parseJson('epoch_slots', bodyOf(`[${'1'.repeat(1_000)}]`))).resolves.toBeDefined();
  });

  it.each([
    ['wide', `[${'{},'.repeat(MIB)}{}]`, 'more than 10000 objects'],
    ['of many members', `{${'"a":1,'.repeat(100_001)}"a":1}`, 'values'],
    ['of many values', `[${'1,'.repeat(2 * MIB)}1]`, 'more than 100000 values'],
    ['deep', '['.repeat(4 * MIB), 'nested more than 32 deep'],
    ['deep in objects', '{"a":'.repeat(MIB / 2), 'nested more than 32 deep'],
    ['of a long number', `[${'1'.repeat(4 * MIB)}]`, 'a number or word of more than 1000 characters'],
  ])('refuses an answer that is %s', async (_name, text, why) => {
    await expect(parseJson('machine_metrics', bodyOf(text))).rejects.toThrow(why);
    await expect(parseJson('machine_metrics', inPieces(text, 900))).rejects.toThrow(why);
  });

  it('looks at the pieces as they come, and reads no further than need be', async () => {
    let pieces = 0;
    async function* endless(): AsyncGenerator<Uint8Array> {
      for (const piece = Buffer.from('{},'.repeat(1_000)); ; pieces += 1) yield piece;
    }
    await expect(parseJson('machine_metrics', endless())).rejects.toThrow('more than 10000 objects');
    expect(pieces).toBe(10);
  });

  it('lets others run while a large body is read', async () => {
    let turns = 0;
    let next = setImmediate(function turn() {
      turns += 1;
      next = setImmediate(turn);
    });
    await parseJson('attester_slashings', inPieces(`[${' '.repeat(4 * MIB)}]`, 65_536));
    clearImmediate(next);
    expect(turns).toBeGreaterThanOrEqual(16);
  });

  it('puts together a character that is cut in two', async () => {
    async function* halves(): AsyncGenerator<Uint8Array> {
      const bytes = Buffer.from('"€"');
      yield bytes.subarray(0, 2);
      yield bytes.subarray(2);
    }
    expect(await parseJson('machine_metrics', halves())).toBe('€');
  });
});
