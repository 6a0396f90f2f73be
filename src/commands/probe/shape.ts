import { STATUSES } from '../../api/answers/validators.ts';
import { WINDOWS } from '../../api/endpoints.ts';
import { CHAIN_NAMES } from '../../facts/chain.ts';
import { isObject } from '../../toolkit/lib/is-object.ts';

/** The form of values: their kinds, the fields of an object, the items of a list. No value of a user is in it. */
export type Shape = string | { readonly [what: string]: Shape | readonly Shape[] };

/** Texts that are shown, by the name of their field. Each is one of a short list that all users share. */
const SHARED = new Map<string, readonly string[]>([
  ['chain', CHAIN_NAMES],
  ['evaluation_window', WINDOWS],
  ['finality', ['finalized', 'not_finalized']],
  ['prefix', ['0x00', '0x01', '0x02']],
  ['type', ['execution_address']],
  ['status', ['OK', '0', '1', '2', '3', ...STATUSES]],
  ['view', ['latest', 'next']],
]);

/** The first that fits. The number of hexadecimal digits shows whether they are a key, a root or an address. */
const KINDS_OF_TEXT: readonly (readonly [kind: string, pattern: RegExp])[] = [
  ['empty text', /^$/],
  ['whole number as text', /^-?\d+$/],
  ['fraction as text', /^-?\d+\.\d+$/],
  ['hex after 0x', /^0x[\da-f]*$/i],
  ['hex', /^[\da-f]{32,}$/i],
];

/** Answers have fewer levels. More could exhaust the stack. */
const MAX_DEPTH = 10;

/**
 * Pure. The common form of some values, such as all records of a list. `?` marks a field that only some of them have.
 * @param secrets Words that are not shown, not even as the name of a field
 */
export function shapeOf(values: readonly unknown[], secrets: ReadonlySet<unknown>, field = '', depth = 0): Shape {
  if (depth > MAX_DEPTH) return 'deeper than shown';
  const inside = (inner: readonly unknown[], name = ''): Shape => shapeOf(inner, secrets, name, depth + 1);
  const [lists, objects] = [values.filter(Array.isArray), values.filter(isObject)];
  const kinds = values.filter((value) => value === null || typeof value !== 'object').map((one) => kindOf(one, field));
  const fields = Map.groupBy(objects.flatMap(Object.entries<unknown>), ([name]) =>
    isFieldName(name) && !secrets.has(name) ? name : 'names that may be data',
  );
  const members = [...fields].map(([name, entries]): [string, Shape] => {
    const shape = inside(
      entries.map(([, value]) => value),
      name,
    );
    return [entries.length < objects.length ? `${name}?` : name, shape];
  });
  const shapes: Shape[] = [
    ...(kinds.length > 0 ? [[...new Set(kinds)].sort().join(' | ')] : []),
    ...(lists.length > 0 ? [{ [lengthOf(lists)]: inside(lists.flat()) }] : []),
    ...(objects.length > 0 ? [Object.fromEntries(members)] : []),
  ];
  return shapes.length > 1 ? { 'one of': shapes } : (shapes[0] ?? 'no item');
}

function lengthOf(lists: readonly (readonly unknown[])[]): string {
  const lengths = lists.map(({ length }) => length).sort((a, b) => a - b);
  return `list of ${[...new Set([lengths[0], lengths.at(-1)])].join(' to ')}`;
}

/** Words in snake_case or camelCase. Indices, keys, cursors and most names of machines are not. */
function isFieldName(name: string): boolean {
  const isWord = /^[a-z][a-z\d_]*([A-Z][a-z\d]+)*$/.test(name);
  return isWord && name.length <= 40 && name.replace(/\D/g, '').length <= 2;
}

function kindOf(value: unknown, field: string): string {
  if (typeof value === 'number') return Number.isInteger(value) ? 'integer' : 'fraction';
  if (typeof value !== 'string') return String(value);
  if (SHARED.get(field)?.includes(value)) return `'${value}'`;
  const kind = KINDS_OF_TEXT.find(([, pattern]) => pattern.test(value))?.[0] ?? 'text';
  return kind.startsWith('hex') ? `${kind}, ${value.replace(/^0x/i, '').length} digits` : kind;
}
