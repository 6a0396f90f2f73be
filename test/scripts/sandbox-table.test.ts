import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { withTable } from '../../scripts/document-table.ts';
import { SCRIPT, sandboxTable } from '../../scripts/sandbox-table.ts';
import { ORDERS } from '../../src/sandbox/order-table.ts';

describe('scripts/sandbox-table', () => {
  it('is what docs/sandbox.md says (else: node scripts/sandbox-table.ts)', () => {
    const document = readFileSync('docs/sandbox.md', 'utf8');
    expect(document).toBe(withTable(document, SCRIPT, sandboxTable()));
    for (const path of Object.keys(ORDERS)) expect(document).toContain(`| \`${path}`);
  });
});
