import type * as z from 'zod';
import { type Endpoint, RequestFailed } from './errors.ts';

const MIB = 1024 * 1024;

/** The most that a body may contain. JSON.parse cannot be interrupted, and takes seconds for millions of objects. */
interface Limits {
  readonly bytes: number;
  /** Opening brackets and braces. */
  readonly brackets: number;
  readonly commas: number;
}

/** A page has up to 100 records of at most 60 fields. Its commas limit its objects too. */
const PAGE: Limits = { bytes: MIB, brackets: Number.POSITIVE_INFINITY, commas: 20_000 };
/** A slashing lists at most 131,072 validators twice (Electra): 2.1 MB. Before Electra a block could contain two. */
const SLASHINGS: Limits = { bytes: 4 * MIB, brackets: 1_000, commas: 600_000 };

const [COMMA, BRACKET, BRACE] = [0x2c, 0x5b, 0x7b];
const UTF8 = new TextDecoder('utf-8', { fatal: true });

/**
 * Reads JSON of any shape. The chunks are counted as they arrive, so a body over its limits is neither read to its end
 * nor parsed. The count includes brackets and commas in strings, which have few of them.
 * @throws RequestFailed; whatever reading the body throws
 */
export async function readBody(endpoint: Endpoint, body: AsyncIterable<Uint8Array>): Promise<unknown> {
  const limits = endpoint === 'attester_slashings' ? SLASHINGS : PAGE;
  const chunks: Uint8Array[] = [];
  const counts = { bytes: 0, brackets: 0, commas: 0 };
  for await (const chunk of body) {
    chunks.push(chunk);
    counts.bytes += chunk.length;
    counts.brackets += countOf(BRACKET, chunk) + countOf(BRACE, chunk);
    counts.commas += countOf(COMMA, chunk);
    for (const what of ['bytes', 'brackets', 'commas'] as const) {
      if (counts[what] > limits[what]) throw invalidBody(endpoint, `more than ${limits[what]} ${what}`);
    }
  }
  try {
    return JSON.parse(UTF8.decode(Buffer.concat(chunks)));
  } catch {
    throw invalidBody(endpoint, 'not JSON');
  }
}

/** Without V8's optimizing compilers (memory.ts) a loop over all bytes takes six times as long: 40 ms for 2 MB. */
function countOf(byte: number, chunk: Uint8Array): number {
  let count = 0;
  for (let i = chunk.indexOf(byte); i !== -1; i = chunk.indexOf(byte, i + 1)) count += 1;
  return count;
}

/** Checks the structure around the records of an answer. @throws RequestFailed */
export function opened<S extends z.ZodType>(endpoint: Endpoint, envelope: S, json: unknown): z.output<S> {
  const parsed = envelope.safeParse(json);
  if (parsed.success) return parsed.data;
  throw invalidBody(endpoint, `unexpected shape at ${parsed.error.issues[0]?.path.join('.') || 'body'}`);
}

function invalidBody(endpoint: Endpoint, detail: string): RequestFailed {
  return new RequestFailed(endpoint, 'invalid_body', detail, 200);
}
