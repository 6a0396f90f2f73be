import { seedOf } from '../toolkit/lib/random.ts';
import { Refusal } from './refusal.ts';

/**
 * A cursor contains the position of the next page and a checksum over this position and the rest of the body. A changed
 * cursor or filter is therefore refused, as by the service (api-facts 7.2).
 */
export function encodeCursor(query: readonly unknown[], position: object): string {
  return Buffer.from(JSON.stringify([sum(query, position), position])).toString('base64url');
}

/**
 * Undefined for the first page, which has the cursor ''.
 * @throws Refusal 400 for what `encodeCursor` did not make for this query.
 */
export function decodeCursor<P extends object>(query: readonly unknown[], cursor: string): P | undefined {
  if (cursor === '') return undefined;
  const [checksum, position] = parse(cursor);
  if (typeof position !== 'object' || position === null || checksum !== sum(query, position)) throw new Refusal(400);
  // The checksum matches, so this endpoint encoded it.
  return position as P;
}

function parse(cursor: string): unknown[] {
  try {
    const json: unknown = JSON.parse(Buffer.from(cursor, 'base64url').toString());
    return Array.isArray(json) ? json : [];
  } catch {
    return [];
  }
}

function sum(query: readonly unknown[], position: object): number {
  return seedOf(JSON.stringify([query, position]));
}
