import * as z from 'zod';
import { isObject } from '../toolkit/lib/is-object.ts';
import { valueAt } from '../toolkit/yaml/value-at.ts';
import { ODD } from './answers/fields.ts';
import type { Endpoint } from './endpoints.ts';
import { RequestFailed } from './errors.ts';

/** The first unreadable field, without its value, which may be personal. */
export interface Odd {
  /** Such as `balances.current`. Empty for the whole record. */
  readonly place: string;
  /** What was expected. */
  readonly message: string;
}

export interface Reading<T> {
  /** Undefined if the record lacks its owner or its time. */
  readonly value?: T;
  /** Undefined if every field was readable. */
  readonly odd?: Odd;
}

const NO_OBJECT: Reading<never> = { odd: { place: '', message: 'expected an object' } };

/**
 * Reads a record field by field. A field of another type or range becomes null, and an object with fields of its own becomes one
 * without fields. The whole record is bad if its schema requires the field.
 */
export function readRecord<S extends z.ZodType>(record: S, item: unknown): Reading<z.output<S>> {
  // Drops anything else before zod sees it, because 600,000 errors of zod take 200 MiB.
  if (!isObject(item) && !(record instanceof z.ZodString)) return NO_OBJECT;
  return readFields(record, item);
}

/** Reads a response whose `data` is one record or has lists of records. It is bad if nothing in `data` is readable. */
export function readAnswer<T>(envelope: z.ZodType<T>, json: unknown): Reading<T> {
  const read = readFields(envelope, json);
  return read.odd && isObject(read.value) && !isKnown(read.value['data']) ? { odd: read.odd } : read;
}

function isKnown(value: unknown): boolean {
  return value instanceof Object ? Object.values(value).some(isKnown) : value != null;
}

export interface Records<T> {
  /** Readable in whole or in part. */
  readonly records: readonly T[];
  readonly count: number;
  /** Records with an odd field, and dropped records. */
  readonly invalid: number;
  /** Wholly unreadable records. */
  readonly unreadable: number;
  /** The first one. */
  readonly odd: Odd | undefined;
}

/** Reads each record field by field. Drops implausible records. */
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

/** @throws RequestFailed if there are records and all are unreadable, which does not mean that there are none */
export function expectReadable(
  endpoint: Endpoint,
  { count, unreadable }: Pick<Records<unknown>, 'count' | 'unreadable'>,
): void {
  if (count > 0 && unreadable === count)
    throw new RequestFailed(endpoint, 'invalid_body', 'none of the records can be read');
}

/** The first pass finds odd fields. Each absent object around one takes another pass. */
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
    // A field that is not even readable as null is required.
    if (passes > 2 && issues.some((issue) => valueAt(rest, fieldOf(issue)) === null)) break;
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
