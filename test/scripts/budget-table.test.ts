import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { budgetTable, planTable, SCRIPT, validatorsTable } from '../../scripts/budget-table.ts';
import { withTable } from '../../scripts/document-table.ts';

describe('scripts/budget-table', () => {
  it('is what docs/budget.md says (else: node scripts/budget-table.ts)', async () => {
    const document = readFileSync('docs/budget.md', 'utf8');
    const table = await budgetTable();
    // A head, and four plans with one and two chains and three sizes of fleets.
    expect(table.trimEnd().split('\n')).toHaveLength(2 + 4 * 2 * 3);
    expect(document).toBe(withTable(document, SCRIPT, table));
  });

  it('is what docs/validators.md says of 1 to 10,000 validators (else: node scripts/budget-table.ts)', () => {
    const document = readFileSync('docs/validators.md', 'utf8');
    const table = validatorsTable();
    expect(table.trimEnd().split('\n')).toHaveLength(2 + 4);
    expect(document).toBe(withTable(document, SCRIPT, table));
  });

  it('is what README.md says of one chain (else: node scripts/budget-table.ts)', async () => {
    const document = readFileSync('README.md', 'utf8');
    const table = await planTable();
    expect(table.trimEnd().split('\n')).toHaveLength(2 + 4);
    expect(document).toBe(withTable(document, SCRIPT, table));
  });
});
