import { isAbsolute, resolve } from 'node:path';
import type * as z from 'zod';
import { CODE_MEANINGS, codeOf, toWhom } from '../lib/error-code.ts';
import { nearest } from '../lib/nearest.ts';
import { invisibleIn, quoted, visible } from '../lib/text.ts';
import { readText } from '../state/whole-file.ts';
import { valueAt } from './value-at.ts';

/** A mistake before it has a line. */
export interface Finding {
  readonly path: readonly PropertyKey[];
  readonly message: string;
  /** Without a path: an offset in the file, or a name to show instead of the file name. */
  readonly offset?: number;
  readonly place?: string;
}

export interface Mistake {
  /** The config file, or the flag or environment variable that gave the value. */
  readonly place: string;
  /** In the file, from 1; undefined: it has none. */
  readonly line?: number | undefined;
  /** Such as `section.list[0].key`; empty for the whole. */
  readonly path: string;
  readonly message: string;
}

/** All mistakes of a configuration; the message has one line per mistake. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError';
  readonly mistakes: readonly Mistake[];

  constructor(mistakes: readonly Mistake[]) {
    super(mistakes.map(describeMistake).join('\n'));
    this.mistakes = mistakes;
  }
}

export function describeMistake({ place, line, path, message }: Mistake): string {
  const where = line === undefined ? place : `${place}:${line}`;
  return visible([where, path, message].filter((part) => part !== '').join(': '));
}

/** Findings as mistakes, first those of the file in its order, only the first of several at one spot. */
export function locate(
  file: string,
  findings: readonly Finding[],
  lineOf: (finding: Finding) => number | undefined,
): Mistake[] {
  const inFile = new Map<string, Mistake>();
  const elsewhere: Mistake[] = [];
  for (const finding of findings) {
    const { message, place, offset = '' } = finding;
    const path = pathText(finding.path);
    const spot = `${offset} ${path}`;
    if (place !== undefined) elsewhere.push({ place, path, message });
    else if (!inFile.has(spot)) inFile.set(spot, { place: file, line: lineOf(finding), path, message });
  }
  return [...[...inFile.values()].sort((a, b) => (a.line ?? 0) - (b.line ?? 0)), ...elsewhere];
}

export function pathText(path: readonly PropertyKey[]): string {
  return path.reduce<string>((text, key) => {
    if (typeof key === 'number') return `${text}[${key}]`;
    return text === '' ? String(key) : `${text}.${String(key)}`;
  }, '');
}

/** The values that the schema refuses. @param written The document before environment variables were replaced. */
export function schemaFindings(
  { error }: z.ZodSafeParseResult<unknown>,
  document: unknown,
  written: unknown,
): Finding[] {
  return (error?.issues ?? []).flatMap(mostSpecific).flatMap((issue) => {
    const { code, path, message } = issue;
    if (code === 'unrecognized_keys') {
      const known = `one of ${message}`;
      return issue.keys.map((key) => {
        const meant = nearest(key, message.split(', '));
        const expected = meant === undefined ? `expected ${known}` : `did you mean ${meant}? Expected ${known}`;
        return { path: [...path, key], message: `unknown key, ${expected}` };
      });
    }
    const wantsMapping = code === 'invalid_type' && ['object', 'record'].includes(issue.expected);
    const value = valueAt(document, path);
    if (code === 'custom') return { path, message: message + hiddenIn(value, valueAt(written, path)) };
    // A value that replaces a section is not shown, because it may be a secret.
    const got = wantsMapping && typeof value !== 'object' ? 'a single value' : show(value, valueAt(written, path));
    return { path, message: `expected ${message}, got ${got}` };
  });
}

/** For a value that may be a secret: its invisible characters, and the variables it may come from. */
function hiddenIn(value: unknown, written: unknown): string {
  const hidden = typeof value === 'string' ? invisibleIn(value) : undefined;
  const variables = value === written ? null : String(written).match(/\$\{\w+\}/g);
  return hidden === undefined ? '' : `; ${[hidden, ...(variables ?? [])].join(', see ')}`;
}

/** The issues of the alternative of a union that fits the shape of the value, or else the issue of the union. */
function mostSpecific(issue: z.core.$ZodIssue): z.core.$ZodIssue[] {
  if (issue.code !== 'invalid_union') return [issue];
  const fits = ({ code, path }: z.core.$ZodIssue): boolean =>
    path.length > 0 || code === 'custom' || code === 'unrecognized_keys';
  const inside = issue.errors.find((branch) => branch.length > 0 && branch.every(fits));
  if (!inside) return [issue];
  return inside.flatMap((nested) => mostSpecific({ ...nested, path: [...issue.path, ...nested.path] }));
}

const MAX_SHOWN = 60;

export function show(value: unknown, written = value): string {
  if (value === null || value === undefined) return 'nothing';
  if (Array.isArray(value)) return 'a list';
  if (typeof value === 'object') return 'a mapping';
  if (typeof value !== 'string') return String(value);
  // The value of an environment variable may be a secret.
  if (typeof written === 'string' && written !== value) return `the value of ${shorten(written)}`;
  return shorten(value);
}

function shorten(text: string): string {
  return quoted(text.length > MAX_SHOWN ? `${text.slice(0, MAX_SHOWN)}...` : text);
}

/** Why a file could not be read, without its path. */
export function readFailure(error: unknown): string {
  const code = codeOf(error) ?? 'unknown error';
  return `cannot be read: ${CODE_MEANINGS[code] ?? code}${toWhom(error)}`;
}

/** The text of a config file. @throws ConfigError */
export async function readOrRefuse(file: string): Promise<string> {
  try {
    return await readText(file);
  } catch (error) {
    const tried = isAbsolute(file) ? '' : ` (${resolve(file)})`;
    throw new ConfigError([{ place: file, path: '', message: `${readFailure(error)}${tried}` }]);
  }
}

export function notBoth(other: string): string {
  return `${other} is set too, expected only one of the two`;
}
