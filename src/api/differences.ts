import { isObject } from '../lib/is-object.ts';
import { isMilliseconds } from '../lib/time.ts';
import { cropped } from '../lib/words.ts';
import type { Endpoint } from './errors.ts';
import { type Leaf, type Members, type Shape, specificationOf } from './specification.ts';

/** How an answer can differ from the specification. A closed set, because it is a metric label. */
export const DIFFERENCE_KINDS = ['absent', 'unknown', 'type'] as const;
export type DifferenceKind = (typeof DIFFERENCE_KINDS)[number];

export interface Difference {
  /**
   * `absent`: no record has the field. `unknown`: a field or a value that the specification does not name. `type`: another
   * type or unit.
   */
  readonly kind: DifferenceKind;
  /**
   * The path of the field, such as `data.system_metrics[].cpu_cores`. Names of unknown fields come from the service.
   */
  readonly field: string;
  /** The actual and the expected value; empty if the kind is sufficient. */
  readonly detail: string;
  /** An absent field that may be left out: a zero in a machine record, for example. */
  readonly mayBeAbsent: boolean;
}

export type TimeUnit = 'seconds' | 'milliseconds';

/** Items beyond this number are assumed to be like the others. */
const MAX_ITEMS = 100;
const MAX_UNKNOWN = 20;
const MAX_NAME_LENGTH = 60;

export interface Comparison {
  readonly differences: readonly Difference[];
  /** The units of the times that may be in seconds or milliseconds, by field. */
  readonly units: ReadonlyMap<string, ReadonlySet<TimeUnit>>;
}

/** Pure. Compares an answer with the specification of its endpoint. */
export function compareAnswer(endpoint: Endpoint, answer: unknown): Comparison {
  const found: Found = { differences: [], units: new Map() };
  compare('', specificationOf(endpoint, answer), [answer], found);
  return found;
}

/** What a comparison has found so far. */
interface Found {
  readonly differences: Difference[];
  readonly units: Map<string, ReadonlySet<TimeUnit>>;
}

/** Compares all values of one field. A null matches any shape: the service has no value. */
function compare(field: string, shape: Shape, values: readonly unknown[], found: Found): void {
  const given = values.includes(null) ? values.filter((value) => value !== null) : values;
  if (typeof shape === 'string') {
    if (shape === 'time') {
      const times = given.filter((value) => typeof value === 'number');
      found.units.set(field, new Set(times.map(unitOf)));
    }
    compareLeaf(field, shape, given, found);
  } else if (isChoice(shape)) {
    compareChoice(field, shape, given, found);
  } else if (isList(shape)) {
    const items = given.filter(Array.isArray).flatMap((list) => list.slice(0, MAX_ITEMS));
    const other = given.find((value) => !Array.isArray(value));
    noteType(field, other, 'a list', found);
    compare(`${field}[]`, shape[0], items.slice(0, MAX_ITEMS), found);
  } else {
    // Some endpoints return an empty list if there is no object.
    const other = given.find((value) => !isObject(value) && !(Array.isArray(value) && value.length === 0));
    noteType(field, other, 'an object', found);
    compareMembers(field, shape, given.filter(isObject), found);
  }
}

function compareMembers(
  field: string,
  shape: Members,
  objects: readonly Readonly<Record<string, unknown>>[],
  found: Found,
): void {
  if (objects.length === 0) return;
  const within = (name: string): string => (field === '' ? name : `${field}.${name}`);
  const members = membersOf(shape);
  const unknown = new Set<string>();
  for (const object of objects) for (const name in object) if (!members.has(name)) unknown.add(name);
  for (const [name, { mayBeAbsent, shape: member }] of members) {
    const values: unknown[] = [];
    for (const object of objects) if (Object.hasOwn(object, name)) values.push(object[name]);
    if (values.length > 0) compare(within(name), member, values, found);
    else found.differences.push({ kind: 'absent', field: within(name), detail: '', mayBeAbsent });
  }
  for (const name of [...unknown].slice(0, MAX_UNKNOWN))
    found.differences.push(difference('unknown', within(cropped(name, MAX_NAME_LENGTH))));
}

interface Member {
  readonly shape: Shape;
  readonly mayBeAbsent: boolean;
}

/** The shapes are constants, and are asked for their members at each answer. */
const allMembers = new WeakMap<Members, ReadonlyMap<string, Member>>();

/** The members of an object by name, without the `?` of those that may be absent. */
function membersOf(shape: Members): ReadonlyMap<string, Member> {
  const known = allMembers.get(shape);
  if (known) return known;
  const members = Object.entries(shape).map(
    ([key, member]) => [key.replace(/\?$/, ''), { shape: member, mayBeAbsent: key.endsWith('?') }] as const,
  );
  const made = new Map(members);
  allMembers.set(shape, made);
  return made;
}

function compareChoice(field: string, choice: ReadonlySet<string>, values: readonly unknown[], found: Found): void {
  const text = values.find((value) => typeof value === 'string' && !choice.has(value));
  const other = values.find((value) => typeof value !== 'string');
  if (text !== undefined) found.differences.push(difference('unknown', field, `the value ${quoted(String(text))}`));
  noteType(field, other, 'a string', found);
}

function compareLeaf(field: string, leaf: Leaf, values: readonly unknown[], found: Found): void {
  const { type, isRight, what } = LEAVES[leaf];
  const other = values.find((value) => typeof value !== type);
  if (other !== undefined) noteType(field, other, what, found);
  else if (isRight && !values.every(isRight)) found.differences.push(difference('type', field, `not ${what}`));
}

/** @param other Undefined: there is no value of another type. */
function noteType(field: string, other: unknown, expected: string, found: Found): void {
  if (other === undefined) return;
  found.differences.push(difference('type', field, `${named(other)} instead of ${expected}`));
}

function difference(kind: DifferenceKind, field: string, detail = ''): Difference {
  return { kind, field, detail, mayBeAbsent: false };
}

const WEI = /^(0|-?[1-9][0-9]*)$/;

const LEAVES: Readonly<
  Record<Leaf, { readonly type: string; readonly isRight?: (value: unknown) => boolean; readonly what: string }>
> = {
  boolean: { type: 'boolean', what: 'a boolean' },
  number: { type: 'number', what: 'a number' },
  seconds: { type: 'number', isRight: (value) => unitOf(Number(value)) === 'seconds', what: 'a Unix time in seconds' },
  string: { type: 'string', what: 'a string' },
  time: { type: 'number', what: 'a number' },
  wei: { type: 'string', isRight: (value) => WEI.test(String(value)), what: 'a decimal string' },
};

function unitOf(time: number): TimeUnit {
  return isMilliseconds(time) ? 'milliseconds' : 'seconds';
}

function isChoice(shape: Shape): shape is ReadonlySet<string> {
  return shape instanceof Set;
}

function isList(shape: Shape): shape is readonly [Shape] {
  return Array.isArray(shape);
}

function named(value: unknown): string {
  if (Array.isArray(value)) return 'a list';
  return isObject(value) ? 'an object' : `a ${typeof value}`;
}

function quoted(text: string): string {
  return JSON.stringify(cropped(text, MAX_NAME_LENGTH));
}
