import { isObject } from '../lib/is-object.ts';
import { type Finding, pathText } from './mistakes.ts';
import { valueAt } from './value-at.ts';

/** A key that has another name since a version. */
export interface MovedKey {
  readonly from: readonly string[];
  readonly to: readonly string[];
  readonly since: string;
  /** The old name still works, with a warning: at least during the minor version that moved the key. */
  readonly works: boolean;
}

/** Every key that was released under another name. None is removed from this table: old files are told the new name. */
export const MOVED_KEYS: readonly MovedKey[] = [];

export interface Moves {
  /** The document with the new names only. */
  rename(document: unknown): unknown;
  readonly mistakes: readonly Finding[];
  readonly warnings: readonly Finding[];
  /** A finding about a value, at the name under which the file has it. */
  asWritten(finding: Finding): Finding;
}

/** Pure. What becomes of the old names in a document. */
export function movesIn(document: unknown, keys: readonly MovedKey[] = MOVED_KEYS): Moves {
  const found = keys.filter(({ from }) => hasPath(document, from));
  const working = found.filter(
    ({ to, works }, i) => works && !hasPath(document, to) && !found.slice(0, i).some((key) => isSame(key.to, to)),
  );
  return {
    rename: (written) =>
      found.reduce<unknown>((renamed, key) => {
        const without = withValue(renamed, key.from, undefined);
        const emptied = withoutEmpty(without, key.from);
        return working.includes(key) ? withValue(emptied, key.to, valueAt(renamed, key.from)) : emptied;
      }, written),
    mistakes: found.filter((key) => !working.includes(key)).map((key) => ({ path: key.from, message: refusal(key) })),
    warnings: working.map(({ from, to, since }) => ({
      path: from,
      message: `is called ${pathText(to)} since ${since}: rename it, because a later version refuses the old name`,
    })),
    asWritten: (finding) => {
      const moved = working.find(({ to }) => to.every((name, i) => finding.path[i] === name));
      return moved ? { ...finding, path: [...moved.from, ...finding.path.slice(moved.to.length)] } : finding;
    },
  };
}

function refusal({ to, since, works }: MovedKey): string {
  const name = pathText(to);
  return works
    ? `is called ${name} since ${since}, which is set too: remove this one`
    : `is called ${name} since ${since}`;
}

function isSame(one: readonly string[], other: readonly string[]): boolean {
  return pathText(one) === pathText(other);
}

/** Without the section of a key that has moved, if it held nothing else: the section may exist no longer. */
function withoutEmpty(document: unknown, [section = '', ...rest]: readonly string[]): unknown {
  const value = valueAt(document, [section]);
  const isEmpty = rest.length > 0 && isObject(value) && Object.keys(value).length === 0;
  return isEmpty ? withValue(document, [section], undefined) : document;
}

function hasPath(document: unknown, path: readonly string[]): boolean {
  const parent = valueAt(document, path.slice(0, -1));
  return isObject(parent) && Object.hasOwn(parent, path.at(-1) ?? '');
}

/** A copy with this value; undefined removes the key. A section that is not a mapping stays, and the schema reports it. */
function withValue(document: unknown, [name = '', ...rest]: readonly string[], value: unknown): unknown {
  if (document !== undefined && document !== null && !isObject(document)) return document;
  const { [name]: old, ...others } = document ?? {};
  const inner = rest.length === 0 ? value : withValue(old, rest, value);
  return inner === undefined ? others : { ...others, [name]: inner };
}
