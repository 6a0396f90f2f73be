import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { PROGRAM } from '../../src/commands/flag-table.ts';

interface Schema {
  readonly properties: Readonly<Record<string, Partial<Schema>>>;
}

const SCHEMA: Schema = JSON.parse(readFileSync(join(import.meta.dirname, '../../config.schema.json'), 'utf8'));

/** The settings of the config file and the flags with a dot, such as `state.redis` and `config.file`. */
const SETTINGS = [
  ...Object.entries(SCHEMA.properties).flatMap(([section, { properties = {} }]) =>
    Object.keys(properties).map((key) => `${section}.${key}`),
  ),
  ...PROGRAM.flags.map(({ name }) => name).filter((name) => name.includes('.')),
];

/** What the toolkit does not know, also not in its comments. */
const FOREIGN: readonly RegExp[] = [
  // The chain, and money.
  /(?<![a-z])(?:slot|epoch|machine|validator|beacon|chain|slash(?:ed|ing)|propos|attest|committee|stak(?:e|ing)\b|dut(?:y|ies)\b)/i,
  /(?<![a-z])(?:eth|ether|ethereum|g?wei|mainnet|hoodi)(?![a-z])/i,
  // Other parts of the program, and its port.
  /(?<![a-z])(?:sandbox|ledger|sweep|fleet|backfill)/i,
  /(?<!\d)1003\d(?!\d)/,
  // Our documents. Those of others are on the web.
  /(?<!\w|\w\/)docs\b/,
  new RegExp(`(?<![\\w.#])(?:${SETTINGS.map((name) => name.replaceAll('.', '\\.')).join('|')})(?!\\w)`),
];

/** The words in a text that only this exporter knows. */
export function foreignWordsIn(text: string): string[] {
  return FOREIGN.flatMap((words) => words.exec(text)?.[0] ?? []);
}
