import { parseArgs } from 'node:util';
import { nearest } from '../lib/nearest.ts';
import { visible } from '../lib/text.ts';
import { type Environment, nonEmpty } from '../yaml/document.ts';
import type { Override } from '../yaml/override.ts';
import { columns } from './columns.ts';

/** The description of a flag in the table. Without `value` it is a boolean, and `--no-NAME` makes it false. */
export interface FlagDescription {
  readonly help: string;
  /** The name of its value in the help. */
  readonly value?: string;
  /** The value if the flag is given without one. */
  readonly fallback?: string;
  readonly isRepeatable?: true;
  /** A boolean that is true by default. */
  readonly isOn?: true;
  /** The section and key of the config file that the flag overrides. */
  readonly config?: readonly [string, string];
}

export interface Flag<Name extends string = string> extends FlagDescription {
  readonly name: string;
  readonly commands: readonly Name[];
}

export interface Program<Name extends string> {
  readonly name: string;
  readonly about: string;
  /** What each command does. */
  readonly commands: Readonly<Record<Name, string>>;
  /** The command if the command line names none. */
  readonly byDefault: Name;
  /** All flags except help and version, in the order of the help. A flag whose help differs by command is here twice. */
  readonly flags: readonly Flag<Name>[];
  /** The flag that names a file. A file without a flag was probably meant for it. */
  readonly file: string;
  /** The last lines of the help. */
  readonly notes: readonly string[];
}

/** The values of the flags of {@link FlagDescription}s: those that are set on the command line or in the environment. */
export type FlagsOf<D> = { readonly [Name in keyof D]?: ValueOf<D[Name]> };
type ValueOf<D> = D extends { isRepeatable: true } ? readonly string[] : D extends { value: string } ? string : boolean;

export type Command<Name extends string, Values> =
  | { readonly name: 'help'; readonly command: Name | undefined }
  | { readonly name: 'version' }
  | {
      readonly name: Name;
      readonly flags: Values;
      /** The flags that override the config file, with which their values are checked. */
      readonly overrides: readonly Override[];
    };

/** The message is one line. */
export class UsageError extends Error {
  override readonly name = 'UsageError';

  constructor(message: string) {
    super(visible(message));
  }
}

/**
 * Reads a command line, without the two words that started Node, and the environment variables of its flags.
 * @param Values The values of the flags of the program
 * @throws UsageError
 */
export function parseCommand<Name extends string, Values>(
  program: Program<Name>,
  argv: readonly string[],
  env: Environment,
): Command<Name, Values> {
  const { typed, words } = readLine(program, argv);
  const [word, stray] = words;
  if (word === 'help') return { name: 'help', command: stray === undefined ? undefined : commandOf(program, stray) };
  const command = word === undefined ? program.byDefault : commandOf(program, word);
  if (typed.has('help')) return { name: 'help', command: word === undefined ? undefined : command };
  if (typed.has('version')) return { name: 'version' };
  const ofCommand = program.flags.filter((flag) => flag.commands.includes(command));
  const names = ofCommand.map((flag) => `--${flag.name}`);
  if (stray !== undefined) throw unknown(program, 'argument', stray, names);
  for (const name of typed.keys()) refuseForeign(program, name, command);
  const settings = ofCommand.flatMap((flag) => {
    const texts = typed.get(flag.name);
    if (texts !== undefined) return settingOf(flag, `--${flag.name}`, texts);
    const variable = variableOf(program, flag.name);
    // Other variables with our prefix are ignored: Kubernetes sets some for a service of our name.
    const fallback = nonEmpty(env, variable);
    if (fallback === undefined) return [];
    // The values of a repeatable setting of the file are separated by commas or spaces, which none of them contains.
    const isList = flag.isRepeatable && flag.config;
    return settingOf(flag, variable, isList ? fallback.split(/[,\s]+/).filter(Boolean) : [fallback]);
  });
  const flags = Object.fromEntries(settings.map(({ name, value }) => [name, value])) as Values;
  return { name: command, flags, overrides: settings.flatMap(({ override }) => override ?? []) };
}

/** The flags of a command line with their values, and its other words. */
function readLine(
  program: Program<string>,
  argv: readonly string[],
): { typed: Map<string, string[]>; words: string[] } {
  const { flags } = program;
  const options = Object.fromEntries(
    flags.map(({ name, value, fallback }) => [
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
  const names = flags.map((flag) => `--${flag.name}`);
  const typed = new Map<string, string[]>();
  const words: string[] = [];
  for (const token of tokens) {
    if (token.kind === 'positional') words.push(token.value);
    if (token.kind !== 'option') continue;
    const { rawName, value } = token;
    const negated = flags.find((flag) => !flag.value && `no-${flag.name}` === token.name);
    if (negated && value !== undefined) throw new UsageError(`${rawName} expects no value`);
    const flag = negated ?? flags.find(({ name }) => name === token.name);
    const name = flag?.name ?? token.name;
    if (!flag && name !== 'help' && name !== 'version') throw unknown(program, 'flag', rawName, names);
    const before = typed.get(name) ?? [];
    if (before.length > 0 && !flag?.isRepeatable) throw new UsageError(`${rawName} is given twice`);
    typed.set(name, [...before, negated ? 'false' : textOf(flag, token)]);
  }
  return { typed, words };
}

type Token = NonNullable<ReturnType<typeof parseArgs>['tokens']>[number];

function textOf(flag: Flag | undefined, { rawName, value, inlineValue }: Extract<Token, { kind: 'option' }>): string {
  if (!flag?.value) return value ?? 'true';
  if (flag.fallback !== undefined) return value ?? flag.fallback;
  const swallowed = !inlineValue && value?.startsWith('-');
  if (!value || swallowed) throw new UsageError(`${rawName} expects a value: ${rawName}=${flag.value}`);
  return value;
}

function unknown({ file }: Program<string>, what: string, word: string, names: readonly string[]): UsageError {
  const meant = nearest(word, names) ?? probably(word, names, file);
  const hint = meant === undefined ? 'try --help' : `did you mean ${meant}?`;
  return new UsageError(`unknown ${what} ${JSON.stringify(word)}, ${hint}`);
}

/** The flag with this first letter or part of a name, as in other programs, or the flag that a bare file name lacks. */
function probably(word: string, names: readonly string[], file: string): string | undefined {
  if (/^[^-].*[/.]/.test(word)) return `--${file}=${word}`;
  if (word === `-${file[0]}`) return `--${file}`;
  const part = word.slice(2);
  return names.find((name) => name.startsWith(`--${part}.`) || name.endsWith(`.${part}`));
}

function commandOf<Name extends string>(program: Program<Name>, word: string): Name {
  const { commands } = program;
  if (!Object.hasOwn(commands, word)) throw unknown(program, 'command', word, Object.keys(commands));
  return word as Name;
}

function refuseForeign({ flags }: Program<string>, name: string, command: string): void {
  const commands = flags.filter((flag) => flag.name === name).flatMap((flag) => flag.commands);
  if (commands.length === 0 || commands.includes(command)) return;
  throw new UsageError(`unknown flag "--${name}" of ${command}, it belongs to ${commands.join(', ')}`);
}

const BOOLEANS = new Map(Object.entries({ true: true, 1: true, false: false, 0: false }));

/** @param origin The flag or variable with these texts; only a repeatable flag has more than one. */
function settingOf(flag: Flag, origin: string, texts: readonly string[]) {
  const [text = ''] = texts;
  const value = flag.isRepeatable ? texts : flag.value ? text : BOOLEANS.get(text);
  if (value === undefined) throw new UsageError(`${origin}: expected true or false, got ${JSON.stringify(text)}`);
  const written = texts.length > 1 ? texts : text;
  return { name: flag.name, value, override: flag.config && { path: flag.config, value: written, origin } };
}

export function variableOf(program: Pick<Program<string>, 'name'>, flag: string): string {
  return `${program.name}_${flag}`.toUpperCase().replace(/[.-]/g, '_');
}

export function usageOf({ name, value, fallback, isOn }: Flag): string {
  if (fallback !== undefined) return `--${name}[=${value}]`;
  return value ? `--${name}=${value}` : `--${isOn ? '[no-]' : ''}${name}`;
}

/** The help of a command, or without one of the program. */
export function helpText<Name extends string>(program: Program<Name>, command?: Name): string {
  const { name, byDefault, notes } = program;
  const about = command ? `${command}: ${program.commands[command]}` : program.about;
  const commands = command ? [] : ['', 'Commands:', ...indented(Object.entries(program.commands))];
  const flags = program.flags.filter((flag) => flag.commands.includes(command ?? byDefault));
  const rows = [
    ...flags.map((flag) => [usageOf(flag), flag.help]),
    ['--help', 'Print this help.'],
    ['--version', 'Print the version.'],
  ];
  return [
    `Usage: ${name} ${command ?? '[COMMAND]'} [FLAGS]`,
    '',
    about,
    ...commands,
    '',
    command ? 'Flags:' : `Flags of ${byDefault} (use COMMAND --help for those of another command):`,
    ...indented(rows),
    '',
    ...notes,
    '',
  ].join('\n');
}

function indented(rows: readonly (readonly string[])[]): string[] {
  return columns(rows).map((line) => `  ${line}`);
}
