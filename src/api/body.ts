import type { Headers } from '../budget/headers.ts';
import { isObject } from '../toolkit/lib/is-object.ts';
import type { Endpoint } from './endpoints.ts';
import { isFailure, RequestFailed } from './errors.ts';
import type { Answer } from './transport.ts';

const MIB = 1024 * 1024;

/** The most that a body may contain. JSON.parse cannot be interrupted, and takes seconds for millions of objects. */
interface Limits {
  readonly bytes: number;
  /** Opening brackets and braces. */
  readonly brackets: number;
  readonly commas: number;
}

/** A page has up to 100 records of at most 60 fields and ten objects. */
const PAGE: Limits = { bytes: MIB, brackets: 5_000, commas: 20_000 };
/** A slashing lists at most 131,072 validators twice (Electra): 2.1 MB. Before Electra a block could contain two. */
const SLASHINGS: Limits = { bytes: 4 * MIB, brackets: 1_000, commas: 600_000 };
/** Errors of the service are short. */
const ERROR: Limits = { bytes: 16_384, brackets: Number.POSITIVE_INFINITY, commas: Number.POSITIVE_INFINITY };

const [COMMA, BRACKET, BRACE] = [0x2c, 0x5b, 0x7b];
const UTF8 = new TextDecoder('utf-8', { fatal: true });

/**
 * Reads JSON of any shape. Counts while the chunks arrive, so a body over its limits is neither read to its end nor parsed.
 * Brackets and commas in strings count too; there are few.
 * @throws RequestFailed; whatever reading the body throws
 */
export async function readBody(
  endpoint: Endpoint,
  stream: AsyncIterable<Uint8Array>,
  limits = endpoint === 'attester_slashings' ? SLASHINGS : PAGE,
): Promise<unknown> {
  const chunks: Uint8Array[] = [];
  const counts = { bytes: 0, brackets: 0, commas: 0 };
  for await (const chunk of stream) {
    chunks.push(chunk);
    counts.bytes += chunk.length;
    counts.brackets += countOf(BRACKET, chunk) + countOf(BRACE, chunk);
    counts.commas += countOf(COMMA, chunk);
    for (const what of ['bytes', 'brackets', 'commas'] as const) {
      if (counts[what] > limits[what])
        throw new RequestFailed(endpoint, 'invalid_body', `more than ${limits[what]} ${what}`);
    }
  }
  const body = Buffer.concat(chunks);
  try {
    return JSON.parse(UTF8.decode(body));
  } catch {
    // HTML with status 200 is usually the login page of a proxy or a captive portal.
    const isHtml = /^\s*<(!doctype|html)/i.test(String(body));
    throw new RequestFailed(endpoint, 'invalid_body', isHtml ? 'HTML, not JSON' : 'not JSON');
  }
}

/** Without V8's optimizing compilers (memory.ts) a loop over all bytes takes six times as long: 40 ms for 2 MB. */
function countOf(byte: number, chunk: Uint8Array): number {
  let count = 0;
  for (let i = chunk.indexOf(byte); i !== -1; i = chunk.indexOf(byte, i + 1)) count += 1;
  return count;
}

/**
 * Whether a response is from the service, and not from a CDN, a proxy or a captive portal (api-facts 7.3). Errors of the service
 * are JSON with a text `error` or the `status` of v1, or have a header about limits. Its server errors may be plain text, never
 * HTML. May read the body.
 * @throws whatever reading the body throws
 */
export async function isOfService(endpoint: Endpoint, answer: Answer): Promise<boolean> {
  if (answer.status === 200 || hasOwnHeader(answer.headers)) return true;
  if (answer.status >= 500) return mediaTypeOf(answer) !== 'text/html';
  try {
    const body = await readBody(endpoint, answer.body(), ERROR);
    return isObject(body) && (typeof body['error'] === 'string' || /^(OK|ERROR)/.test(String(body['status'])));
  } catch (error) {
    if (isFailure(error, 'invalid_body')) return false;
    throw error;
  }
}

function hasOwnHeader(headers: Headers): boolean {
  return Object.keys(headers).some((name) => /^((x-)?ratelimit-|x-beaconchain-version$)/i.test(name));
}

/** The media type, which cannot contain a host or a key. */
export function mediaTypeOf({ headers }: Pick<Answer, 'headers'>): string {
  return /^[\w.+-]{1,40}\/[\w.+-]{1,40}/.exec(String(headers['content-type']))?.[0] ?? 'no content type';
}
