import { stripTypeScriptTypes } from 'node:module';
import { describe, expect, it } from 'vitest';
import { BREAKAGES } from './breakages/list.ts';
import { broken, findBreakage, SOURCES } from './breakages/runner.ts';

describe('the deliberate breakages', () => {
  it.each(BREAKAGES)('can be made: $name', (breakage) => {
    const [file, source] = broken(SOURCES, breakage);
    expect(source).not.toBe(SOURCES[file]);
    // Throws where Node could not run it.
    expect(stripTypeScriptTypes(source)).not.toBe('');
  });

  it.each([
    ['one', 'export function two() {\n  one();\n}'],
    ['one', 'function one() {}\nfunction one<T>() {}'],
    ['Toy.one', 'class Toy {\n  two() {\n    this.one();\n  }\n}'],
  ])('cannot be made where src does not have %s exactly once: %s', (of, file) => {
    expect(() => broken({ file }, { name: 'toy', of, wrong: '() => 0' })).toThrow(`toy: src has ${of}`);
  });

  it('are found: epoch counted twice, and once a week the others', async () => {
    const [breakage = expect.fail()] = BREAKAGES.filter(({ name }) => name === 'epoch counted twice');
    expect(await findBreakage(breakage, 20, 1)).toMatch(/^seed \d+, /);
  });
});
