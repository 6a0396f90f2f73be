import { stripTypeScriptTypes } from 'node:module';
import { describe, expect, it } from 'vitest';
import { BREAKAGES } from './breakages/list.ts';
import { broken, findBreakage, SOURCES } from './breakages/runner.ts';

/** The others are simulated once a week. */
const MOST_TELLING = ['epoch counted twice', 'stale values not withdrawn'];

describe('the deliberate breakages', () => {
  it.each(BREAKAGES)('can be made: $name', (breakage) => {
    const [file, source] = broken(SOURCES, breakage);
    expect(source).not.toBe(SOURCES[file]);
    // Throws where Node could not run it.
    expect(stripTypeScriptTypes(source)).not.toBe('');
  });

  it.each([{ a: 'zero' }, { a: 'one one' }, { a: 'one', b: 'one' }])(
    'cannot be made where the text does not occur once: %o',
    (sources) => {
      expect(() => broken(sources, { name: 'toy', find: 'one', replace: 'two' })).toThrow('toy: the text occurs');
    },
  );

  it.each(BREAKAGES.filter(({ name }) => MOST_TELLING.includes(name)))('are found: $name', async (breakage) => {
    expect(await findBreakage(breakage, 20, 1)).toMatch(/^seed \d+, /);
  });
});
