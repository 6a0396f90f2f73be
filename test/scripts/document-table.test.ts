import { describe, expect, it } from 'vitest';
import { withTable } from '../../scripts/document-table.ts';

const DOCUMENT = 'a\n<!-- table: node scripts/x.ts -->\nold\n<!-- end of table -->\nb\n';

describe('scripts/document-table', () => {
  it('puts a table in the place of the old one', () => {
    expect(withTable(DOCUMENT, 'scripts/x.ts', 'new\n')).toBe(DOCUMENT.replace('old', 'new'));
  });

  it('refuses a document without a place for it', () => {
    expect(() => withTable(DOCUMENT, 'scripts/y.ts', 'new\n')).toThrow('no <!-- table: node scripts/y.ts');
  });
});
