import { parseArgs } from 'node:util';
import { type Environment, nonEmpty } from '../config/document.ts';
import type { Override } from '../config/override.ts';
import { columns } from './columns.ts';
import { COMMAND_NAMES, COMMANDS, type CommandName, type Flag, type Flags, TABLE } from './flag-table.ts';

export type Command =
  | { readonly name: 'help'; readonly command: CommandName | undefined }
  | { readonly name: 'version' }
  | {
      readonly name: CommandName;
      readonly flags: Flags;
      /** The flags that override the config file, with which their values are checked. */
      readonly overrides: readonly Override[];
    };

/** The command line cannot be understood; the message is one line. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}

/**
 * Reads a command line, without the two words that started Node, and the environment variables of its flags.
 * @throws UsageError
 */
export function parseCommand(argv: readonly string[], env: Environment): Command {
  const { typed, words } = readLine(argv);
  const [word, stray] = words;
  if (word === 'help') return { name: 'help', command: stray === undefined ? undefined : commandOf(stray) };
  const command = commandOf(word ?? 'serve');
  if (typed.has('help')) return { name: 'help', command: word === undefined ? undefined : command };
  if (typed.has('version')) return { name: 'version' };
  if (stray !== undefined) throw new UsageError(`unexpected argument ${JSON.stringify(stray)}`);
  for (const name of typed.keys()) refuseForeign(name, command);
  const settings = TABLE.filter((flag) => flag.commands.includes(command)).flatMap((flag) => {
    const texts = typed.get(flag.name);
    if (texts !== undefined) return settingOf(flag, `--${flag.name}`, texts);
    const variable = variableOf(flag.name);
    // Other variables with our prefix are ignored: Kubernetes sets some for a service of our name.
    const fallback = nonEmpty(env, variable);
    if (fallback === undefined) return [];
    // The values of a repeatable setting of the file are separated by commas or spaces, which none of them contains.
    const isList = flag.isRepeatable && flag.config;
    return settingOf(flag, variable, isList ? fallback.split(/[,\s]+/).filter(Boolean) : [fallback]);
  });
  const flags: Flags = Object.fromEntries(settings.map(({ name, value }) => [name, value]));
  const overrides = settings.flatMap(({ override }) => override ?? []);
  return { name: flags['config.check'] ? 'check' : command, flags, overrides };
}

/** The flags of a command line with their values, and its other words. */
function readLine(argv: readonly string[]): { typed: Map<string, string[]>; words: string[] } {
  const options = Object.fromEntries(
    TABLE.map(({ name, value, fallback }) => [
      name,
      { type: value && !fallback ? ('string' as const) : ('boolean' as const) },
    ]),
  );
  const { tokens } = parseArgs({
    args: [...argv],
    options: { ...options, help: { type: 'boolean', short: 'h' }, version: { type: 'boolean' } },
    // In strict mode, Node would report mistakes with its own messages.
    strict: false,
    allowPositionals: true,
    tokens: true,
  });
  const typed = new Map<string, string[]>();
  const words: string[] = [];
  for (const token of tokens) {
    if (token.kind === 'positional') words.push(token.value);
    if (token.kind !== 'option') continue;
    const negated = negatedBy(token);
    const name = negated?.name ?? token.name;
    const before = typed.get(name) ?? [];
    if (before.length > 0 && !flagOf(name)?.isRepeatable) throw new UsageError(`${token.rawName} is given twice`);
    typed.set(name, [...before, negated ? 'false' : textOf(token)]);
  }
  return { typed, words };
}

interface OptionToken {
  readonly name: string;
  readonly rawName: string;
  readonly value?: string | undefined;
  readonly inlineValue?: boolean | undefined;
}

/** The boolean that `--no-NAME` sets to false. */
function negatedBy({ name, rawName, value }: OptionToken): Flag | undefined {
  const flag = name.startsWith('no-') ? flagOf(name.slice('no-'.length)) : undefined;
  if (!flag || flag.value) return undefined;
  if (value !== undefined) throw new UsageError(`${rawName} expects no value`);
  return flag;
}

function textOf({ name, rawName, value, inlineValue }: OptionToken): string {
  const flag = flagOf(name);
  if (!flag && name !== 'help' && name !== 'version') throw new UsageError(unknown('flag', rawName));
  if (!flag?.value) return value ?? 'true';
  if (flag.fallback !== undefined) return value ?? flag.fallback;
  const swallowed = !inlineValue && value?.startsWith('-');
  if (!value || swallowed) throw new UsageError(`${rawName} expects a value: ${rawName}=${flag.value}`);
  return value;
}

function flagOf(name: string): Flag | undefined {
  return TABLE.find((known) => known.name === name);
}

function unknown(what: string, word: string): string {
  return `unknown ${what} ${JSON.stringify(word)}, try --help`;
}

function commandOf(word: string): CommandName {
  const command = COMMAND_NAMES.find((name) => name === word);
  if (!command) throw new UsageError(unknown('command', word));
  return command;
}

function refuseForeign(name: string, command: CommandName): void {
  const commands = TABLE.filter((flag) => flag.name === name).flatMap((flag) => flag.commands);
  if (commands.length === 0 || commands.includes(command)) return;
  throw new UsageError(`unknown flag "--${name}" of ${command}, it belongs to ${commands.join(', ')}`);
}

const BOOLEANS = new Map([
  ['true', true],
  ['1', true],
  ['false', false],
  ['0', false],
]);

/** @param origin The flag or variable with these texts; only a repeatable flag has more than one. */
function settingOf(flag: Flag, origin: string, texts: readonly string[]) {
  const [text = ''] = texts;
  const value = flag.isRepeatable ? texts : flag.value ? text : BOOLEANS.get(text);
  if (value === undefined) throw new UsageError(`${origin}: expected true or false, got ${JSON.stringify(text)}`);
  const written = texts.length > 1 ? texts : text;
  return { name: flag.name, value, override: flag.config && { path: flag.config, value: written, origin } };
}

export function variableOf(name: string): string {
  return `BEACONCHAIN_EXPORTER_${name.toUpperCase().replace(/[.-]/g, '_')}`;
}

/** A flag as the help writes it. */
export function usageOf({ name, value, fallback, isOn }: Flag): string {
  if (fallback !== undefined) return `--${name}[=${value}]`;
  return value ? `--${name}=${value}` : `--${isOn ? '[no-]' : ''}${name}`;
}

/** The help of a command, or without one of the program. */
export function helpText(command?: CommandName): string {
  const usage = `Usage: beaconchain-exporter ${command ?? '[COMMAND]'} [FLAGS]`;
  const about = command ? [`${command}: ${COMMANDS[command]}`] : ['Prometheus exporter for beaconcha.in.'];
  const commands = command ? [] : ['', 'Commands:', ...indented(Object.entries(COMMANDS))];
  const flags = TABLE.filter(({ commands }) => commands.includes(command ?? 'serve'));
  const rows = [
    ...flags.map((flag) => [usageOf(flag), flag.help]),
    ['--help', 'Print this help.'],
    ['--version', 'Print the version.'],
  ];
  return [
    usage,
    '',
    ...about,
    ...commands,
    '',
    command ? 'Flags:' : 'Flags of serve (use COMMAND --help for those of another command):',
    ...indented(rows),
    '',
    'Each flag has an environment variable, such as BEACONCHAIN_EXPORTER_CONFIG_FILE for --config.file.',
    'Precedence: flag > environment > file > default. BEACONCHAIN_API_KEY is the API key,',
    'BEACONCHAIN_API_KEY_FILE a file that contains it.',
    '',
  ].join('\n');
}

function indented(rows: readonly (readonly string[])[]): string[] {
  return columns(rows).map((line) => `  ${line}`);
}
