import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ORDERS } from '../src/sandbox/order-table.ts';
import { withTable } from './document-table.ts';

/** Writes the orders into docs/sandbox.md. */

const FILE = join(import.meta.dirname, '../docs/sandbox.md');
export const SCRIPT = 'scripts/sandbox-table.ts';

export function sandboxTable(): string {
  const rows = Object.entries(ORDERS).map(([path, { about, parameters, example }]) => {
    const expected = Object.entries(parameters).map(([name, what]) => `\`${name}\`: ${what}`);
    return `| \`${example === '' ? path : `${path}?${example}`}\` | ${about} | ${expected.join('; ')} |`;
  });
  return ['| order | what happens | parameters |', '|---|---|---|', ...rows, ''].join('\n');
}

if (import.meta.main) writeFileSync(FILE, withTable(readFileSync(FILE, 'utf8'), SCRIPT, sandboxTable()));
