import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Row, TABLE } from '../test/architecture/table.ts';
import { withTable } from './document-table.ts';

/** Writes the table of docs/internals/architecture.md: what each part is for, and whom it may import. */

export const SCRIPT = 'scripts/architecture-table.ts';
const FILE = join(import.meta.dirname, '../docs/internals/architecture.md');

/** What almost every part may import: the table does not repeat both. */
const BASE = ['toolkit', 'facts'];

function rowOf({ part, what, imports, types = [], packages }: Row): string {
  const hasBase = BASE.every((one) => imports.includes(one));
  const named = imports.filter((one) => !(hasBase && BASE.includes(one)));
  const parts = [...named, ...types.map((type) => `types of ${type}`)].join(', ');
  const all = (names: string): string => (names === '*' ? 'all' : names);
  return `| \`${part}\` | ${what} | ${all(parts)} | ${all(packages.join(', '))} |`;
}

export function architectureTable(): string {
  const rows = ['| part of src | what it is for | may import | packages |', '|---|---|---|---|', ...TABLE.map(rowOf)];
  return `${rows.join('\n')}\n`;
}

if (import.meta.main) writeFileSync(FILE, withTable(readFileSync(FILE, 'utf8'), SCRIPT, architectureTable()));
