import { setImmediate } from 'node:timers/promises';
import type { z } from 'zod';

/** As many as are read in a few milliseconds. Ordinary pages hold fewer. */
const SLICE = 250;

/**
 * Parses records one by one: the good ones, in their order. A small body may hold 100,000 bad ones, which take zod a second:
 * others get their turn in between.
 */
export async function goodRecords<S extends z.ZodType>(record: S, items: readonly unknown[]): Promise<z.output<S>[]> {
  const good: z.output<S>[] = [];
  for (const [i, item] of items.entries()) {
    if (i > 0 && i % SLICE === 0) await setImmediate();
    if (!isObject(item)) continue;
    const parsed = record.safeParse(item);
    if (parsed.success) good.push(parsed.data);
  }
  return good;
}

/** Every record is one. What is none needs no error that says what it lacks: 600,000 of those take 200 MiB. */
function isObject(item: unknown): boolean {
  return typeof item === 'object' && item !== null && !Array.isArray(item);
}
