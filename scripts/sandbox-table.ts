import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ORDERS } from '../src/sandbox/order-table.ts';
import { withTable } from './document-table.ts';

/** Writes the orders into docs/internals/sandbox.md. */

const FILE = join(import.meta.dirname, '../docs/internals/sandbox.md');
export const SCRIPT = 'scripts/sandbox-table.ts';

export function sandboxTable(): string {
  const rows = Object.entries(ORDERS).map(
    ([path, { about, example }]) => `| \`${example === '' ? path : `${path}?${example}`}\` | ${about} |`,
  );
  return ['| order | what happens |', '|---|---|', ...rows, ''].join('\n');
}

if (import.meta.main) writeFileSync(FILE, withTable(readFileSync(FILE, 'utf8'), SCRIPT, sandboxTable()));
