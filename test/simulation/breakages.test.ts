import { readFileSync } from 'node:fs';
import { stripTypeScriptTypes } from 'node:module';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { BREAKAGES, broken } from './breakages/list.ts';
import { findBreakage } from './breakages/runner.ts';

const SRC = join(import.meta.dirname, '../../src');
/** The others are simulated once a week. */
const MOST_TELLING = ['epoch counted twice', 'stale values not withdrawn'];

describe('the deliberate breakages', () => {
  it('can be made', () => {
    for (const breakage of BREAKAGES) {
      const source = readFileSync(join(SRC, breakage.file), 'utf8');
      const after = broken(source, breakage);
      expect(after, breakage.name).not.toBe(source);
      // Throws where Node could not run it.
      expect(stripTypeScriptTypes(after), breakage.name).not.toBe('');
    }
  });

  it.each(['zero', 'one one'])('cannot be made where the text does not occur once: %s', (source) => {
    const toy = { name: 'toy', file: 'a.ts', find: 'one', replace: 'two' };
    expect(() => broken(source, toy)).toThrow('toy: src/a.ts does not have the text exactly once');
  });

  it.each(BREAKAGES.filter(({ name }) => MOST_TELLING.includes(name)))('are found: $name', async (breakage) => {
    expect(await findBreakage(breakage, 20, 1)).toMatch(/^seed \d+, /);
  });
});
