import type { Written } from '../property/odd.ts';

/** A field of the answer to a request. */
export interface Place {
  /** The path and the body. */
  readonly request: string;
  readonly keys: readonly string[];
  readonly value: unknown;
}

export function leavesIn(request: string, value: unknown, keys: readonly string[] = []): Place[] {
  if (typeof value !== 'object' || value === null) return [{ request, keys, value }];
  return Object.entries(value).flatMap(([key, own]) => leavesIn(request, own, [...keys, key]));
}

/** The name of the field, without the number of the record. */
export function nameOf({ request, keys }: Place): string {
  return `${request.replace(/\{.*/, '').replace(/\d{3,}/g, 'N')} ${keys.filter((key) => !/^\d+$/.test(key)).join('.')}`;
}

/** The same answer with another value there. */
export function withValue(good: Written, keys: readonly string[], value: unknown): Written {
  return { ...good, body: JSON.stringify(replaced(JSON.parse(good.body), keys, value)) };
}

function replaced(body: unknown, keys: readonly string[], value: unknown): unknown {
  const [key, ...rest] = keys;
  if (key === undefined) return value;
  const copy = (Array.isArray(body) ? [...body] : { ...(body as object) }) as Record<string, unknown>;
  copy[key] = replaced(copy[key], rest, value);
  return copy;
}
