import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { COMMAND_NAMES, TABLE } from '../src/commands/flag-table.ts';
import { usageOf, variableOf } from '../src/commands/flags.ts';
import { configSchema, type JsonSchema, plainSchema } from './config-schema.ts';

/** Writes docs/configuration.md and config.schema.json, from what the program itself checks by. */

const ROOT = join(import.meta.dirname, '..');

const HEAD = `# Configuration

<!-- Written by node scripts/config-docs.ts. -->

Everything has a default except the API key. [config.example.yaml](../config.example.yaml) shows every key with its default;
your file needs only what differs. \`beaconchain-exporter check --config.file=config.yaml\` reports every mistake with its line
and the expected value, and prints how many requests the configuration needs.

- A flag overrides its environment variable, which overrides the file, which overrides the default.
- \`\${NAME}\` in a text is replaced by the environment variable. An unset variable is a mistake.
- Relative paths in the file are relative to the file, as in Prometheus. Those of flags and environment variables, and the
  default of \`state.dir\`, are relative to the working directory.
- An unknown key is a mistake. An empty section or chain uses the defaults.
- \`check\` prints one line per mistake, of all files together, and exits with 1. What is legal and cannot work as meant, such as
  an expected machine that is excluded, is a warning: \`check\` prints it and exits with 0, \`serve\` logs it.
- \`check\` tries whether the state can be kept, and leaves nothing behind. Run it as the user of the exporter.
- Durations are written as in Prometheus: \`500ms\`, \`30s\`, \`5m\`, \`1h30m\`, \`31d\`, \`1w\`, \`1y\`.
- SIGHUP and \`POST /-/reload\` reload the file. If it has a mistake, nothing changes, and the reason is reported. A change of
  \`state\`, \`web\` or \`log.format\` takes a restart; a reload refuses it.

Editors that use yaml-language-server, such as VS Code with its YAML extension, complete and check the file with the
[schema](../config.schema.json). Put this line first, with the path of the schema:

\`\`\`yaml
# yaml-language-server: $schema=node_modules/beaconchain-exporter/config.schema.json
\`\`\`
`;

/** A key with the path below its section. */
interface Key {
  readonly path: string;
  readonly schema: JsonSchema;
  readonly isRequired: boolean;
}

/** All that has a meaning of its own, outer before inner. */
function keysOf(schema: JsonSchema, path = ''): Key[] {
  const inner = [schema, ...(schema.anyOf ?? [])];
  return inner.flatMap((one) => [
    ...Object.entries(one.properties ?? {}).flatMap(([name, value]): Key[] => {
      const below = path === '' ? name : `${path}.${name}`;
      const isRequired = one.required?.includes(name) ?? false;
      return [...(value.description ? [{ path: below, schema: value, isRequired }] : []), ...keysOf(value, below)];
    }),
    ...(one.items ? keysOf(one.items, `${path}[]`) : []),
  ]);
}

function rowOf({ path, schema, isRequired }: Key): string {
  const { default: fallback, errorMessage = 'a mapping', description = '' } = schema;
  const unset = isRequired ? 'needed' : '';
  const given = fallback === undefined ? unset : `\`${JSON.stringify(fallback).replace(/^"(.*)"$/, '$1')}\``;
  return tableRow([`\`${path}\``, errorMessage.replace(/^expected /, ''), given, linked(description)]);
}

function tableRow(cells: readonly string[]): string {
  return `| ${cells.map((cell) => cell.replace(/[|*]/g, '\\$&')).join(' | ')} |`;
}

/** Files of this folder as links. */
function linked(text: string): string {
  return text.replace(/\bdocs\/([\w-]+\.md)\b/g, '[$1]($1)');
}

function sectionText([name, schema]: readonly [string, JsonSchema]): string {
  const rows = keysOf(schema).map(rowOf);
  const head = ['| key | expected | default | meaning |', '|---|---|---|---|'];
  return [`## ${name}`, '', linked(schema.description ?? ''), '', ...head, ...rows, ''].join('\n');
}

function flagsText(): string {
  const rows = TABLE.map((flag) =>
    tableRow([
      `\`${usageOf(flag)}\``,
      `\`${variableOf(flag.name)}\``,
      flag.commands.length === COMMAND_NAMES.length ? 'all' : flag.commands.join(', '),
      flag.help,
    ]),
  );
  return [
    '## Flags and environment variables',
    '',
    'There are also `--help` and `--version`. `BEACONCHAIN_API_KEY` is the API key. It has no flag, because everybody on the',
    'machine can read command lines. The exporter also obeys `HTTPS_PROXY`, `HTTP_PROXY`, `NO_PROXY` and',
    '`NODE_EXTRA_CA_CERTS`: see [operations.md](operations.md#through-a-proxy).',
    '',
    '| flag | environment variable | commands | what |',
    '|---|---|---|---|',
    ...rows,
    '',
  ].join('\n');
}

export function configDocs(): string {
  return [HEAD, ...Object.entries(plainSchema().properties ?? {}).map(sectionText), flagsText()].join('\n');
}

export function schemaText(): string {
  return `${JSON.stringify(configSchema(), null, 2)}\n`;
}

/** File and text. */
export const GENERATED = [
  ['docs/configuration.md', configDocs],
  ['config.schema.json', schemaText],
] as const;

if (import.meta.main) {
  for (const [file, text] of GENERATED) {
    const path = join(ROOT, file);
    if (text() !== readFileSync(path, { encoding: 'utf8', flag: 'a+' })) writeFileSync(path, text());
  }
}
