import { readFileSync } from 'node:fs';
import { stripTypeScriptTypes } from 'node:module';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { type Breakage, broken } from './breakages/breakage.ts';
import { withList } from './breakages/runner.ts';
import { BREAKAGES } from './breakages/table.ts';

const SRC = join(import.meta.dirname, '../../src');

describe('the deliberate breakages', () => {
  it('have names of their own', () => {
    expect(new Set(BREAKAGES.map(({ name }) => name)).size).toBe(BREAKAGES.length);
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

  it.each(['zero', 'one one'])('cannot be made where the text does not occur once: %s', (source) => {
    expect(() => broken(source, toy)).toThrow('toy: src/a.ts does not have the text exactly once');
  });

  it('are a list in a document, with what has found each of them', () => {
    const [head, end] = ['# A\n<!-- list: npm run simulate -- --breakages -->\n', '<!-- end of list -->\nB\n'];
    const results = [3, undefined, 5].map((seed) => ({
      breakage: toy,
      found: seed === undefined ? undefined : { seed, check: 'state: kept' },
      seconds: 1,
    }));
    const list = '\n- **not found**: toy\n- state: kept: toy (3), toy (5)\n\n';
    expect(withList(`${head}old\n${end}`, results)).toBe(`${head}${list}${end}`);
    expect(() => withList('# A\n', results)).toThrow('no <!-- list');
  });
});
