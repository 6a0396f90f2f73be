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
  const units = new Map<string, ReadonlySet<TimeUnit>>();
  const onTimes: OnTimes = (field, times) => void units.set(field, new Set(times.map(unitOf)));
  return { differences: compare('', specificationOf(endpoint, answer), [answer], onTimes), units };
}

type OnTimes = (field: string, times: readonly number[]) => void;

/** Compares all values of one field. A null matches any shape: the service has no value. */
function compare(field: string, shape: Shape, values: readonly unknown[], onTimes: OnTimes): Difference[] {
  const given = values.includes(null) ? values.filter((value) => value !== null) : values;
  if (typeof shape === 'string') {
    if (shape === 'time') {
      const times = given.filter((value) => typeof value === 'number');
      onTimes(field, times);
    }
    return leafDifferences(field, shape, given);
  }
  if (isChoice(shape)) return choiceDifferences(field, shape, given);
  if (isList(shape)) {
    const items = given.filter(Array.isArray).flatMap((list) => list.slice(0, MAX_ITEMS));
    const other = given.find((value) => !Array.isArray(value));
    return [
      ...typeDifference(field, other, 'a list'),
      ...compare(`${field}[]`, shape[0], items.slice(0, MAX_ITEMS), onTimes),
    ];
  }
  // Some endpoints return an empty list if there is no object.
  const other = given.find((value) => !isObject(value) && !(Array.isArray(value) && value.length === 0));
  return [
    ...typeDifference(field, other, 'an object'),
    ...memberDifferences(field, shape, given.filter(isObject), onTimes),
  ];
}

function memberDifferences(
  field: string,
  shape: Members,
  objects: readonly Readonly<Record<string, unknown>>[],
  onTimes: OnTimes,
): Difference[] {
  if (objects.length === 0) return [];
  const within = (name: string): string => (field === '' ? name : `${field}.${name}`);
  const members = membersOf(shape);
  const unknown = new Set<string>();
  for (const object of objects) for (const name in object) if (!members.has(name)) unknown.add(name);
  return [
    ...[...members].flatMap(([name, { mayBeAbsent, shape: member }]): Difference[] => {
      const values: unknown[] = [];
      for (const object of objects) if (Object.hasOwn(object, name)) values.push(object[name]);
      if (values.length > 0) return compare(within(name), member, values, onTimes);
      return [{ kind: 'absent', field: within(name), detail: '', mayBeAbsent }];
    }),
    ...[...unknown].slice(0, MAX_UNKNOWN).map((name) => difference('unknown', within(cropped(name, MAX_NAME_LENGTH)))),
  ];
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

function choiceDifferences(field: string, choice: ReadonlySet<string>, values: readonly unknown[]): Difference[] {
  const text = values.find((value) => typeof value === 'string' && !choice.has(value));
  const other = values.find((value) => typeof value !== 'string');
  const unknown = text === undefined ? [] : [difference('unknown', field, `the value ${quoted(String(text))}`)];
  return [...unknown, ...typeDifference(field, other, 'a string')];
}

function leafDifferences(field: string, leaf: Leaf, values: readonly unknown[]): Difference[] {
  const { type, isRight, what } = LEAVES[leaf];
  const other = values.find((value) => typeof value !== type);
  if (other !== undefined) return typeDifference(field, other, what);
  return !isRight || values.every(isRight) ? [] : [difference('type', field, `not ${what}`)];
}

/** @param other Undefined: there is no value of another type. */
function typeDifference(field: string, other: unknown, expected: string): Difference[] {
  return other === undefined ? [] : [difference('type', field, `${named(other)} instead of ${expected}`)];
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
