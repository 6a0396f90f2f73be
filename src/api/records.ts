import { setImmediate } from 'node:timers/promises';
import type * as z from 'zod';
import { isObject } from '../lib/is-object.ts';

/** This many are parsed in a few milliseconds. Ordinary pages have fewer records. */
const SLICE = 250;

/**
 * Parses records one by one and returns the valid ones in order. A small body can contain 100,000 invalid ones, which
 * take zod a second, so other work runs in between.
 */
export async function goodRecords<S extends z.ZodType>(
  record: S,
  items: readonly unknown[],
  isPlausible: (record: z.output<S>) => boolean = () => true,
): Promise<z.output<S>[]> {
  const good: z.output<S>[] = [];
  for (const [i, item] of items.entries()) {
    if (i > 0 && i % SLICE === 0) await setImmediate();
    // Every record is an object. Anything else is dropped before zod sees it, because 600,000 of its errors take 200 MiB.
    if (!isObject(item)) continue;
    const parsed = record.safeParse(item);
    if (parsed.success && isPlausible(parsed.data)) good.push(parsed.data);
  }
  return good;
}
