import { readFileSync } from 'node:fs';
import { stripTypeScriptTypes } from 'node:module';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { type Breakage, broken } from './breakages/breakage.ts';
import { BREAKAGES } from './breakages/table.ts';

const SRC = join(import.meta.dirname, '../../src');

describe('the deliberate breakages', () => {
  it('are at least 26, with names of their own', () => {
    const names = BREAKAGES.map(({ name }) => name);
    expect(names.length).toBeGreaterThanOrEqual(26);
    expect(names.filter((name, i) => names.indexOf(name) !== i)).toEqual([]);
  });

  it.each(BREAKAGES)('can be made: $name', (breakage) => {
    const source = readFileSync(join(SRC, breakage.file), 'utf8');
    const after = broken(source, breakage);
    expect(after).not.toBe(source);
    // Throws where Node could not run it.
    expect(stripTypeScriptTypes(after)).not.toBe('');
    expect(breakage.why).toMatch(/^[A-Z].*\.$/);
  });

  const toy: Breakage = { name: 'toy', file: 'a.ts', find: 'one', replace: '$& two', why: 'A toy.' };

  it('replace the text as it is written', () => {
    expect(broken('zero one three', toy)).toBe('zero $& two three');
  });

  it.each([
    ['zero', 0],
    ['one one', 2],
  ])('cannot be made where the text does not occur once: %s', (source, times) => {
    expect(() => broken(source, toy)).toThrow(`toy: src/a.ts has the text ${times} times, not once`);
  });
});
