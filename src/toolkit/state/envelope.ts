import * as z from 'zod';
import { isObject } from '../lib/is-object.ts';

const Envelope = z.object({ version: z.number(), value: z.unknown().optional() });

/** Another version of the program wrote a part of the state, which must not be overwritten. */
export class StateOfOtherVersion extends Error {
  override readonly name = 'StateOfOtherVersion';

  /**
   * @param what The part, and why it is refused.
   * @param remedy How the operator starts without it.
   */
  constructor(what: string, remedy: string) {
    super(`${what}. It was not changed. Start the version that wrote it, or begin without this state: ${remedy}`);
  }
}

/** The command with which the operator starts without this file or directory. */
export function moveAside(dir: string): string {
  return /^[\w./-]+$/.test(dir) ? `mv ${dir} ${dir}.old` : `mv "${dir}" "${dir}.old"`;
}

type Parsed<T> = { success: true; data: T } | { success: false; why: string; isOfOtherVersion?: true };

/** Stringified in less than a millisecond. */
const PIECE_CHARACTERS = 128 * 1024;
const PART_ITEMS = 50;

/** The text of a document in pieces, between which other work can run. The value must not change until the last one. */
export function* wrap(version: number, value: unknown): Generator<string> {
  let piece = '';
  for (const part of partsOf({ version, value })) {
    piece += part;
    if (piece.length < PIECE_CHARACTERS) continue;
    yield piece;
    piece = '';
  }
  yield piece;
}

/** The JSON of plain data: some items of a list at a time. */
function* partsOf(value: unknown): Generator<string> {
  if (Array.isArray(value)) {
    for (let i = 0; i < value.length; i += PART_ITEMS) {
      yield `${i === 0 ? '[' : ','}${JSON.stringify(value.slice(i, i + PART_ITEMS)).slice(1, -1)}`;
    }
    yield value.length === 0 ? '[]' : ']';
  } else if (isObject(value)) {
    let before = '{';
    for (const [key, own] of Object.entries(value)) {
      if (own === undefined) continue;
      yield `${before}${JSON.stringify(key)}:`;
      yield* partsOf(own);
      before = ',';
    }
    yield before === '{' ? '{}' : '}';
  } else yield JSON.stringify(value);
}

/** The value in a document, if it was written in our version. */
export function unwrap(ours: number, text: string): Parsed<unknown> {
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch {
    return { success: false, why: 'not JSON' };
  }
  const { version = 0, value } = Envelope.safeParse(json).data ?? {};
  // No version of the program has written a lower one.
  if (version >= 1 && version !== ours) {
    const age = version > ours ? 'a newer' : 'an older';
    const why = `written by ${age} version of the exporter (format ${version}, this version has ${ours})`;
    return { success: false, why, isOfOtherVersion: true };
  }
  if (version === ours && value !== undefined) return { success: true, data: value };
  return { success: false, why: 'not a document of the exporter' };
}

/**
 * The value in a document, if it has this shape.
 * @param document Its name or file, for the operator.
 * @param remedy How the operator starts without the document.
 * @throws StateOfOtherVersion: such a document never counts as damaged, whatever is in it
 */
export function parseDocument<S extends z.ZodType>(
  { document, remedy }: { readonly document: string; readonly remedy: string },
  version: number,
  text: string,
  schema: S,
): Parsed<z.output<S>> {
  const opened = unwrap(version, text);
  if (opened.success) return parseValue(opened.data, schema);
  if (opened.isOfOtherVersion) throw new StateOfOtherVersion(`${document} was ${opened.why}`, remedy);
  return opened;
}

export function parseValue<S extends z.ZodType>(value: unknown, schema: S): Parsed<z.output<S>> {
  const parsed = schema.safeParse(value);
  if (parsed.success) return { success: true, data: parsed.data };
  return { success: false, why: `unexpected ${parsed.error.issues[0]?.path.join('.') || 'value'}` };
}
