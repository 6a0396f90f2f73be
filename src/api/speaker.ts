import type { Headers } from '../budget/headers.ts';
import { isObject } from '../toolkit/lib/is-object.ts';
import type { Answer } from './transport.ts';

/** An error of the service is short. A longer body is a page of something else. */
const MAX_BYTES = 16_384;

/**
 * Whether the service answers, and not a CDN, a proxy or the portal of a network in between (api-facts 7.3). Its errors are
 * JSON with a text `error`, or with the `status` of v1, or have a header about limits. Reads the body of other answers. A
 * server error is the same failure, whoever sends it.
 * @throws whatever reading the body throws
 */
export async function isOfService(answer: Answer): Promise<boolean> {
  if (answer.status === 200 || answer.status >= 500 || hasOwnHeader(answer.headers)) return true;
  return isOwnError(await textOf(answer));
}

function hasOwnHeader(headers: Headers): boolean {
  return Object.keys(headers).some((name) => /^((x-)?ratelimit-|x-beaconchain-version$)/i.test(name));
}

function isOwnError(text: string): boolean {
  try {
    const body: unknown = JSON.parse(text);
    return isObject(body) && (typeof body['error'] === 'string' || /^(OK|ERROR)/.test(String(body['status'])));
  } catch {
    return false;
  }
}

/** The body; '' if it is too long. */
async function textOf(answer: Answer): Promise<string> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of answer.body()) {
    bytes += chunk.length;
    if (bytes > MAX_BYTES) return '';
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString();
}

/** The media type, which names neither a host nor a key. */
export function mediaTypeOf({ headers }: Pick<Answer, 'headers'>): string {
  return /^[\w.+-]{1,40}\/[\w.+-]{1,40}/.exec(String(headers['content-type']))?.[0] ?? 'no content type';
}
