import { parseJson } from './body.ts';
import { Refusal } from './refusal.ts';

/**
 * A cursor contains the rest of the body and the position of the next page, so one that comes with another body is
 * refused, as by the service (api-facts 7.2).
 */
export function encodeCursor(query: readonly unknown[], position: object): string {
  return Buffer.from(JSON.stringify([query, position])).toString('base64url');
}

/**
 * Undefined for the first page, which has the cursor ''.
 * @throws Refusal 400 for what `encodeCursor` did not make for this query.
 */
export function decodeCursor<P extends object>(query: readonly unknown[], cursor: string): P | undefined {
  if (cursor === '') return undefined;
  const text = Buffer.from(cursor, 'base64url').toString();
  const start = `[${JSON.stringify(query)},`;
  if (!text.startsWith(start)) throw new Refusal(400);
  // Only this endpoint has encoded a text with this start.
  return parseJson(text.slice(start.length, -1)) as P;
}
