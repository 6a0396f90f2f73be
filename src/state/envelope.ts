import { z } from 'zod';

/** The form in which this version of the program writes documents. */
export const VERSION = 1;

const Envelope = z.object({
  version: z.int(),
  /** The oldest version that can still read the value; absent: `version` itself. */
  oldest_reader: z.int().exactOptional(),
  value: z.unknown(),
});

type Opened = { success: true; value: unknown; version: number } | { success: false; why: string; isNewer: boolean };

export function wrap(value: unknown): string {
  return JSON.stringify({ version: VERSION, value });
}

/** What a document holds, if it was written for this version of the program or for one that this one can follow. */
export function open(text: string): Opened {
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch {
    return { success: false, why: 'not JSON', isNewer: false };
  }
  const envelope = Envelope.safeParse(json);
  if (!envelope.success) return { success: false, why: `not of version ${VERSION}`, isNewer: false };
  const { version, oldest_reader: oldestReader = version, value } = envelope.data;
  if (oldestReader <= VERSION && version >= 1) return { success: true, value, version };
  return { success: false, why: `of version ${version}, this program reads ${VERSION}`, isNewer: version > VERSION };
}

type Parsed<T> = { success: true; data: T } | { success: false; why: string };

export function parseValue<S extends z.ZodType>(value: unknown, schema: S): Parsed<z.output<S>> {
  const parsed = schema.safeParse(value);
  if (parsed.success) return { success: true, data: parsed.data };
  return { success: false, why: `unexpected ${parsed.error.issues[0]?.path.join('.') || 'value'}` };
}
