import * as z from 'zod';

/** The version of the format in which this program writes documents. */
export const STATE_VERSION = 1;

const Envelope = z.object({
  version: z.int(),
  /** The oldest version that can read the value; absent: `version` itself. */
  oldest_reader: z.int().exactOptional(),
  value: z.unknown(),
});

/** A document that a later version of the program wrote. It is not to be overwritten. */
export class StateTooNew extends Error {
  override readonly name = 'StateTooNew';
}

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
  if (!envelope.success) return { success: false, why: `not a version ${STATE_VERSION} document`, isNewer: false };
  const { version, oldest_reader: oldestReader = version, value } = envelope.data;
  if (oldestReader <= STATE_VERSION && version >= 1) return { success: true, value, version };
  return {
    success: false,
    why: `version ${version}, but this program reads version ${STATE_VERSION}`,
    isNewer: version > STATE_VERSION,
  };
}

export type Parsed<T> = { success: true; data: T } | { success: false; why: string };

/** `isSmall`: it takes less time to check the value than to generate code that checks it quickly. */
export function parseValue<S extends z.ZodType>(value: unknown, schema: S, isSmall = false): Parsed<z.output<S>> {
  const parsed = schema.safeParse(value, { jitless: isSmall });
  if (parsed.success) return { success: true, data: parsed.data };
  return { success: false, why: `unexpected ${parsed.error.issues[0]?.path.join('.') || 'value'}` };
}
