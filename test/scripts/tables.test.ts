import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { SCRIPT as ARCHITECTURE, architectureTable } from '../../scripts/architecture-table.ts';
import { TABLES } from '../../scripts/budget-table.ts';
import { withTable } from '../../scripts/document-table.ts';
import { metricsDocs } from '../../scripts/metrics-docs.ts';

describe('the generated tables', () => {
  it.each([['docs/internals/architecture.md', ARCHITECTURE, architectureTable], ...TABLES])(
    '%s is up to date (else: node %s)',
    async (file, script, table) => {
      const document = readFileSync(file, 'utf8');
      expect(document).toBe(withTable(document, script, await table()));
    },
  );

  it('docs/metrics.md is up to date (else: node scripts/metrics-docs.ts)', async () => {
    expect(readFileSync('docs/metrics.md', 'utf8')).toBe(await metricsDocs());
  });

  it('a document without a place for its table is refused', () => {
    expect(() => withTable('# Title\n', 'scripts/x.ts', 'new\n')).toThrow('no <!-- table: node scripts/x.ts');
  });
});
