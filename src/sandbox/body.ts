import { Refusal } from './refusal.ts';

export type Fields = Readonly<Record<string, unknown>>;

/** @throws Refusal 400 for anything but a JSON object. */
export function parseBody(text: string): Fields {
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch {
    throw new Refusal(400);
  }
  return fields(json);
}

export function fields(value: unknown): Fields {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw new Refusal(400);
  return value as Fields;
}

function natural(value: unknown): number {
  if (typeof value !== 'number' || !Number.isSafeInteger(value) || value < 0) throw new Refusal(400);
  return value;
}

export interface Bounds {
  readonly start: number;
  readonly end: number;
}

/** Reads a range with both ends in order. */
export function parseBounds(value: unknown): Bounds {
  const { start, end } = fields(value);
  const result = { start: natural(start), end: natural(end) };
  if (result.start > result.end) throw new Refusal(400);
  return result;
}

/** 1 to 10, default 10 (api-facts 7.2). */
export function pageSize(value: unknown): number {
  if (value === undefined) return 10;
  const size = natural(value);
  if (size < 1 || size > 10) throw new Refusal(400);
  return size;
}

export function chainName(value: unknown): 'mainnet' | 'hoodi' {
  if (value === undefined || value === 'mainnet') return 'mainnet';
  if (value === 'hoodi') return 'hoodi';
  throw new Refusal(400);
}
