import * as z from 'zod';
import { isObject } from '../toolkit/lib/is-object.ts';
import { ODD } from './answers/fields.ts';
import type { Endpoint } from './endpoints.ts';
import { RequestFailed } from './errors.ts';

/** The first field that cannot be read. Not its value, which may be personal. */
export interface Odd {
  /** Such as `balances.current`. Empty: the whole. */
  readonly place: string;
  /** What was expected. */
  readonly message: string;
}

export interface Reading<T> {
  /** What was read. Undefined: nothing, because the record lacks what says whose or of when it is. */
  readonly value?: T;
  /** Undefined: all of it was read. */
  readonly odd?: Odd;
}

/**
 * Reads a record field by field. A field of another type or range costs that field, which is read as null; an object with
 * fields of its own is read as one without any. The whole record is bad if its schema requires the field.
 */
export function readRecord<S extends z.ZodType>(record: S, item: unknown): Reading<z.output<S>> {
  // Anything else in its place is dropped before zod sees it, because 600,000 of its errors take 200 MiB.
  if (!isObject(item) && !(record instanceof z.ZodString)) return { odd: { place: '', message: 'expected an object' } };
  return readFields(record, item);
}

/** Reads an answer, whose `data` is one record or holds lists of them. It is bad if nothing in `data` can be read. */
export function readAnswer<T>(envelope: z.ZodType<T>, json: unknown): Reading<T> {
  const read = readFields(envelope, json);
  return read.odd && isObject(read.value) && !isKnown(read.value['data']) ? { odd: read.odd } : read;
}

function isKnown(value: unknown): boolean {
  return value instanceof Object ? Object.values(value).some(isKnown) : value != null;
}

/** The records of a list, or of a part of a sequence. */
export interface Records<T> {
  /** In whole or in part. */
  readonly records: readonly T[];
  readonly count: number;
  /** Those with an odd field, and those that are dropped. */
  readonly invalid: number;
  /** Those of which nothing can be read. */
  readonly unreadable: number;
  /** The first one. */
  readonly odd: Odd | undefined;
}

/** Reads records one by one, each field by field. Drops those that are not plausible. */
export function readRecords<S extends z.ZodType>(
  record: S,
  items: readonly unknown[],
  isPlausible: (record: z.output<S>) => boolean = () => true,
): Records<z.output<S>> {
  const records: z.output<S>[] = [];
  let [invalid, unreadable] = [0, 0];
  let first: Odd | undefined;
  for (const item of items) {
    const { value, odd } = readRecord(record, item);
    const isGood = value !== undefined && isPlausible(value);
    if (isGood) records.push(value);
    if (odd || !isGood) invalid += 1;
    if (value === undefined) unreadable += 1;
    first ??= odd;
  }
  return { records, count: items.length, invalid, unreadable, odd: first };
}

/** @throws RequestFailed if there are records, and none of them can be read: then nothing is known, which is not "none" */
export function expectReadable(
  endpoint: Endpoint,
  { count, unreadable }: Pick<Records<unknown>, 'count' | 'unreadable'>,
): void {
  if (count > 0 && unreadable === count)
    throw new RequestFailed(endpoint, 'invalid_body', 'none of the records can be read');
}

/** An object in an object in a field that is absent takes a pass each, after the one that finds what is odd. */
const MAX_PASSES = 5;

function readFields<S extends z.ZodType>(schema: S, input: unknown): Reading<z.output<S>> {
  let parsed = schema.safeParse(input);
  if (parsed.success) return { value: parsed.data };
  const [first] = parsed.error.issues;
  const odd = { place: first?.path.join('.') ?? '', message: first?.message ?? '' };
  const rest = structuredClone(input);
  for (let passes = 1; passes < MAX_PASSES && !parsed.success; passes += 1) {
    const { issues } = parsed.error;
    if (issues.some((issue) => isIdentity(issue) || fieldOf(issue).length === 0)) break;
    for (const issue of issues) replace(rest, fieldOf(issue), passes === 1 ? ODD : isObjectExpected(issue) ? {} : null);
    parsed = schema.safeParse(rest);
  }
  return parsed.success ? { value: parsed.data, odd } : { odd };
}

/** The path of the field. A list with an odd item is odd as a whole. */
function fieldOf({ path }: z.core.$ZodIssue): PropertyKey[] {
  const item = path.findIndex((key) => typeof key === 'number');
  return item < 0 ? path : path.slice(0, item);
}

function isObjectExpected(issue: z.core.$ZodIssue): boolean {
  return issue.code === 'invalid_type' && issue.expected === 'object' && fieldOf(issue).length === issue.path.length;
}

function isIdentity(issue: z.core.$ZodIssue): boolean {
  return issue.code === 'custom' && issue.params?.['isIdentity'] === true;
}

function replace(root: unknown, path: readonly PropertyKey[], value: unknown): void {
  const parent = path.slice(0, -1).reduce((at, key) => (at as Record<PropertyKey, unknown>)[key], root);
  (parent as Record<PropertyKey, unknown>)[path.at(-1) as PropertyKey] = value;
}
