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

  it.each([
    { of: 'one', file: 'export function two() {}' },
    { of: 'one', file: 'function one() {}\nfunction one<T>() {}' },
    { of: 'one', file: 'function two() {\n  one();\n}' },
    { of: 'Toy.one', file: 'class Other {\n  one() {}\n}' },
    { of: 'Toy.one', file: 'class Toy {\n  two() {\n    this.one();\n  }\n}' },
  ])('cannot be made where src does not have $of exactly once: $file', ({ of, file }) => {
    expect(() => broken({ file }, { name: 'toy', of, wrong: '() => 0' })).toThrow(`toy: src has ${of}`);
  });

  it.each([
    {
      of: 'one',
      file: 'export async function one<T>(\n  a: T,\n) {\n  return a;\n}\nexport const result = await one(1);',
    },
    {
      of: 'Toy.#one',
      file: 'class Toy {\n  /** One. */\n  async #one(a) {\n    return a;\n  }\n  two = () => this.#one(1);\n}\nexport const result = await new Toy().two();',
    },
    {
      of: 'Toy.one',
      file: 'export class Toy { x = 1; one (a: number) { return a; } }\nexport const result = new Toy().one(1);',
    },
  ])('are around $of, whatever its form', async ({ of, file }) => {
    const [, source] = broken({ file }, { name: 'toy', of, wrong: '(right, a) => right(a + 1)' });
    const code = stripTypeScriptTypes(source);
    const { result } = await import(`data:text/javascript,${encodeURIComponent(code)}`);
    expect(await result).toBe(2);
  });

  it.each(BREAKAGES.filter(({ name }) => MOST_TELLING.includes(name)))('are found: $name', async (breakage) => {
    expect(await findBreakage(breakage, 20, 1)).toMatch(/^seed \d+, /);
  });
});
