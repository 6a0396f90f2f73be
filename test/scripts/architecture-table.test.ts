import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { architectureTable, SCRIPT } from '../../scripts/architecture-table.ts';
import { withTable } from '../../scripts/document-table.ts';

describe('scripts/architecture-table', () => {
  it('is what docs/internals/architecture.md says (else: node scripts/architecture-table.ts)', () => {
    const document = readFileSync('docs/internals/architecture.md', 'utf8');
    expect(document).toBe(withTable(document, SCRIPT, architectureTable()));
  });
});
