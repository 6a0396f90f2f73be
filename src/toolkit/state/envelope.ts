import * as z from 'zod';

/** The version of the format in which this program writes documents. It reads no other. */
export const STATE_VERSION = 3;

const Envelope = z.object({ version: z.number(), value: z.unknown().optional() });

/** A part of the state that another version of the program wrote. It is not to be overwritten. */
export class StateOfOtherVersion extends Error {
  override readonly name = 'StateOfOtherVersion';

  /**
   * @param what The part, and why it is refused.
   * @param anew How the operator begins without it.
   */
  constructor(what: string, anew: string) {
    super(`${what}. It was not changed. Start the version that wrote it, or begin without this state: ${anew}`);
  }
}

/** The command with which the operator begins without the state in this directory. */
export function anewIn(dir: string): string {
  return /^[\w./-]+$/.test(dir) ? `mv ${dir} ${dir}.old` : `mv "${dir}" "${dir}.old"`;
}

export type Parsed<T> = { success: true; data: T } | { success: false; why: string; isOfOtherVersion?: true };

export function wrap(value: unknown): string {
  return JSON.stringify({ version: STATE_VERSION, value });
}

/** The value in a document, if this version of the program wrote it. */
export function unwrap(text: string): Parsed<unknown> {
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch {
    return { success: false, why: 'not JSON' };
  }
  const envelope = Envelope.safeParse(json);
  const { version = 0, value } = envelope.data ?? {};
  // No version of the program has written a lower one.
  if (version >= 1 && version !== STATE_VERSION) {
    const age = version > STATE_VERSION ? 'a newer' : 'an older';
    const why = `written by ${age} version of the exporter (format ${version}, this version has ${STATE_VERSION})`;
    return { success: false, why, isOfOtherVersion: true };
  }
  if (version === STATE_VERSION && value !== undefined) return { success: true, data: value };
  return { success: false, why: 'not a document of the exporter' };
}

/**
 * The value in a document, if it has this shape.
 * @param document Its name or file, for the operator.
 * @param anew How the operator begins without the document.
 * @throws StateOfOtherVersion: such a document is never taken for damaged, whatever is in it
 */
export function parseDocument<S extends z.ZodType>(
  { document, anew }: { readonly document: string; readonly anew: string },
  text: string,
  schema: S,
): Parsed<z.output<S>> {
  const opened = unwrap(text);
  if (opened.success) return parseValue(opened.data, schema);
  if (opened.isOfOtherVersion) throw new StateOfOtherVersion(`${document} was ${opened.why}`, anew);
  return opened;
}

export function parseValue<S extends z.ZodType>(value: unknown, schema: S): Parsed<z.output<S>> {
  const parsed = schema.safeParse(value);
  if (parsed.success) return { success: true, data: parsed.data };
  return { success: false, why: `unexpected ${parsed.error.issues[0]?.path.join('.') || 'value'}` };
}
