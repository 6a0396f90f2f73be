import * as z from 'zod';

/** The version of the format in which this program writes documents. */
export const STATE_VERSION = 1;

/** In characters: the machines of most users. */
const SMALL = 100_000;

const Envelope = z.object({
  version: z.number(),
  /** The oldest version that can read the value; absent, or of a shape that this program does not know: `version` itself. */
  oldest_reader: z.number().optional().catch(undefined),
  value: z.unknown().optional(),
});

/** A document that a later version of the program wrote. It is not to be overwritten. */
export class StateTooNew extends Error {
  override readonly name = 'StateTooNew';

  /** @param document Its name or file, for the operator. */
  constructor(document: string, why: string) {
    super(`${document} was written by a newer version of the exporter: ${why}`);
  }
}

export type Parsed<T> = { success: true; data: T } | { success: false; why: string };

type Unwrapped = { success: true; value: unknown; version: number } | { success: false; why: string; isNewer: boolean };

export function wrap(value: unknown): string {
  return JSON.stringify({ version: STATE_VERSION, value });
}

/** The value in a document, if this version of the program can read it. */
export function unwrap(text: string): Unwrapped {
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch {
    return { success: false, why: 'not JSON', isNewer: false };
  }
  const envelope = Envelope.safeParse(json, { jitless: true });
  // A newer one may have no value under this name.
  if (!envelope.success || (envelope.data.value === undefined && envelope.data.version <= STATE_VERSION))
    return { success: false, why: `not a version ${STATE_VERSION} document`, isNewer: false };
  const { version, oldest_reader: oldestReader = version, value } = envelope.data;
  if (oldestReader <= STATE_VERSION && version >= 1) return { success: true, value, version };
  return {
    success: false,
    why: `version ${version}, but this program reads version ${STATE_VERSION}`,
    isNewer: version > STATE_VERSION,
  };
}

/**
 * The value in a document, if it has this shape.
 * @param document Its name or file, for the operator.
 * @throws StateTooNew: a newer one is never taken for damaged, whatever is in it
 */
export function parseDocument<S extends z.ZodType>(document: string, text: string, schema: S): Parsed<z.output<S>> {
  const opened = unwrap(text);
  if (!opened.success) {
    if (opened.isNewer) throw new StateTooNew(document, opened.why);
    return opened;
  }
  const parsed = parseValue(opened.value, schema, text.length < SMALL);
  if (!parsed.success && opened.version > STATE_VERSION)
    throw new StateTooNew(document, `version ${opened.version}, ${parsed.why}`);
  return parsed;
}

/** `isSmall`: it takes less time to check the value than to generate code that checks it quickly. */
export function parseValue<S extends z.ZodType>(value: unknown, schema: S, isSmall = false): Parsed<z.output<S>> {
  const parsed = schema.safeParse(value, { jitless: isSmall });
  if (parsed.success) return { success: true, data: parsed.data };
  return { success: false, why: `unexpected ${parsed.error.issues[0]?.path.join('.') || 'value'}` };
}
