import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { PROGRAM } from '../src/commands/flag-table.ts';
import { usageOf, variableOf } from '../src/toolkit/flags/flags.ts';
import { configSchema, type JsonSchema, plainSchema } from './config-schema.ts';

/** Writes docs/configuration.md and config.schema.json from the schema that the program itself uses. */

const ROOT = join(import.meta.dirname, '..');

const HEAD = `# Configuration

<!-- Written by node scripts/config-docs.ts. -->

Only the API key has no default. Your file needs only what differs from [config.example.yaml](../config.example.yaml).
\`beaconchain-exporter check --config.file=config.yaml\` reports every mistake with its line, and how many requests it takes.

## Your machines and validators

\`\`\`yaml
validators: {watch: [12345, "20000-20099"]}   # indices, ranges and public keys
machines:
  expected: [node-a, node-b]                  # an alert fires if one never pushes
  exclude: [node-old]                         # out of service: no series, no alert
\`\`\`

## The key in a file

\`\`\`yaml
api: {key_file: /run/secrets/beaconchain-api-key}
\`\`\`

Or without a configuration file: \`BEACONCHAIN_API_KEY_FILE=/run/secrets/beaconchain-api-key\`.

## Two chains

\`\`\`yaml
chains: {mainnet: {}, hoodi: {}}
validators: {watch: {mainnet: [12345], hoodi: ["500-504"]}}
machines:
  chain_rules: [{match: "hoodi-*", chain: hoodi}]   # only for machines without a beacon node
\`\`\`

## Sites, operators or clients

\`\`\`yaml
groups:                                       # the label \`group\`
  home: {machines: [node-a, "home-*"], validators: ["20000-20049"]}
  office: {machines: ["office-*"], validators: {mainnet: ["20050-20099"], hoodi: [500]}}
\`\`\`

## Fewer requests

\`\`\`yaml
budget: {utilization: 0.5}                    # half of each limit is for other programs on the account
machines: {interval: 5m}
slashings: {enabled: false}                   # on a trial, what matters most gets more
\`\`\`

## Rules

- Precedence: flag > environment > file > default.
- \`\${NAME}\` in a text is replaced by the environment variable. An unset variable is a mistake, and so is an unknown key.
- Paths in the file are relative to the file, others to the working directory.
- Durations are those of Prometheus: \`500ms\`, \`30s\`, \`5m\`, \`1h30m\`, \`31d\`, \`1w\`, \`1y\`.
- \`check\` and the log warn of valid settings that cannot work as intended.
- Editors complete and check a file that begins with \`# yaml-language-server: $schema=config.schema.json\`.

Hardly anybody needs a key marked (rare).
`;

/** Keys that most people never need. */
export const RARE: readonly string[] = [
  'api.base_url',
  'api.timeout',
  'budget.plan.per_second',
  'budget.plan.per_month',
  'chains.mainnet.v1_base_url',
  'chains.hoodi.v1_base_url',
  'machines.stale_after',
  'machines.forget_after',
  'machines.include',
  'machines.max',
  'machines.chain',
  'validators.interval',
  'daily_returns.interval',
  'slashings.interval',
  'slashings.catch_up',
  'sync_committee.interval',
  'network.interval',
  'state.redis.prefix',
  'web.telemetry_path',
  'log.format',
];

/** What a mistake says in more words than its reader needs beforehand. */
const LENGTHY = /^(a duration|a URL)\b.*/;

/** A key with the path below its section. */
interface Key {
  readonly path: string;
  readonly schema: JsonSchema;
  readonly isRequired: boolean;
}

/** All keys with a description, outer before inner. */
function keysOf(schema: JsonSchema, path = ''): Key[] {
  const inner = [schema, ...(schema.anyOf ?? [])];
  return inner.flatMap((one) => [
    ...Object.entries(one.properties ?? {}).flatMap(([name, value]): Key[] => {
      const below = path === '' ? name : `${path}.${name}`;
      const isRequired = one.required?.includes(name) ?? false;
      return [...(value.description ? [{ path: below, schema: value, isRequired }] : []), ...keysOf(value, below)];
    }),
    ...(one.items ? keysOf(one.items, `${path}[]`) : []),
    ...(typeof one.additionalProperties === 'object' ? keysOf(one.additionalProperties, `${path}NAME`) : []),
  ]);
}

function rowOf(section: string, { path, schema, isRequired }: Key): string {
  const { default: fallback, errorMessage = 'a mapping', description = '' } = schema;
  const given = fallback === undefined ? '' : `: ${JSON.stringify(fallback).replace(/^"(.*)"$/, '$1')}`;
  const needed = isRequired ? ' (needed)' : '';
  const mark = RARE.includes(`${section}.${path}`) ? ' (rare)' : '';
  const shown = section === 'chains' ? path.replace(/^\w+/, 'CHAIN') : path;
  return tableRow([
    `\`${shown}${given}\`${needed}${mark}`,
    errorMessage.replace(/^expected /, '').replace(LENGTHY, '$1'),
    linked(description),
  ]);
}

function tableRow(cells: readonly string[]): string {
  return `| ${cells.map((cell) => cell.replace(/[|*]/g, '\\$&')).join(' | ')} |`;
}

/** Files of this folder as links. */
function linked(text: string): string {
  return text.replace(/\bdocs\/([\w-]+\.md)\b/g, '[$1]($1)');
}

function sectionText([name, schema]: readonly [string, JsonSchema]): string {
  const rows = [...new Set(keysOf(schema).map((key) => rowOf(name, key)))];
  const head = ['| key and default | expected | meaning |', '|---|---|---|'];
  return [`## ${name}`, '', linked(schema.description ?? ''), '', ...head, ...rows, ''].join('\n');
}

function flagsText(): string {
  const rows = PROGRAM.flags
    .filter(({ commands, config }) => commands.includes('serve') && config === undefined)
    .map((flag) => tableRow([`\`${usageOf(flag)}\``, flag.help]));
  return [
    '## Flags and environment variables',
    '',
    'The keys of `web` and `log` are flags too, such as `--web.listen-address=:10032` (repeatable) and `--web.config.file`. Each flag has',
    `a variable, such as \`${variableOf(PROGRAM, 'config.file')}\`, in which commas separate several addresses. The API key has no flag,`,
    'because everybody on the machine can read command lines. `beaconchain-exporter backfill --help` prints the flags of a command.',
    '`serve` also has:',
    '',
    '| flag | what |',
    '|---|---|',
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
