import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { JsonRefused, parseJson } from '../../src/api/json.ts';

const MIB = 1024 * 1024;

describe('api/json', () => {
  it('reads what JSON.parse reads, as it does', async () => {
    await fc.assert(
      fc.asyncProperty(fc.json({ maxDepth: 20 }), async (text) => {
        expect(await parseJson('machine_metrics', text)).toEqual(JSON.parse(text));
      }),
    );
  });

  it('takes brackets, commas and quotes within a text for text', async () => {
    const odd = `${'[{,:'.repeat(200_000)}\\"]`;
    expect(await parseJson('machine_metrics', JSON.stringify({ odd }))).toEqual({ odd });
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
        await expect(parseJson('machine_metrics', text)).rejects.toThrow(JsonRefused);
      }),
    );
  });

  it('reads two slashings of all validators that a slot can have', async () => {
    const indices = Array.from({ length: 131_072 }, (_, i) => i);
    const record = { attestation1_indices: indices, attestation2_indices: indices };
    expect(await parseJson('attester_slashings', JSON.stringify([record, record]))).toEqual([record, record]);
  });

  it('reads 32 levels and a number of 1,000 digits', async () => {
    await expect(parseJson('epoch_slots', '['.repeat(32) + ']'.repeat(32))).resolves.toBeDefined();
    await expect(parseJson('epoch_slots', `[${'1'.repeat(1_000)}]`)).resolves.toBeDefined();
  });

  it.each([
    ['wide', `[${'{},'.repeat(MIB)}{}]`, 'more than 10000 objects'],
    ['of many members', `{${'"a":1,'.repeat(100_001)}"a":1}`, 'values'],
    ['of many values', `[${'1,'.repeat(2 * MIB)}1]`, 'more than 100000 values'],
    ['deep', '['.repeat(4 * MIB), 'nested more than 32 deep'],
    ['deep in objects', '{"a":'.repeat(MIB / 2), 'nested more than 32 deep'],
    ['a number without end', `[${'1'.repeat(4 * MIB)}]`, 'a number without end'],
  ])('refuses an answer that is %s', async (_name, text, why) => {
    await expect(parseJson('machine_metrics', text)).rejects.toThrow(why);
  });

  it('gives others a turn while it reads a large text', async () => {
    let turns = 0;
    let isRead = false;
    const others = (): void => {
      turns += 1;
      if (!isRead) setImmediate(others);
    };
    setImmediate(others);
    await parseJson('attester_slashings', JSON.stringify('a'.repeat(32 * MIB)));
    isRead = true;
    expect(turns).toBeGreaterThanOrEqual(30);
  });
});
