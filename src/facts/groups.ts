import { type Identifier, type Watch, type WatchRange, watchedCount, watches, watchOf } from './watch.ts';

/** The watched validators of one group, or without `group` those in no group. */
export interface WatchedGroup {
  readonly group?: string;
  readonly watch: Watch;
  /** The public keys of validators whose index is not known. */
  readonly keys?: ReadonlySet<string>;
}

/** A set of validators with a name. */
export interface NamedWatch {
  readonly name: string;
  readonly watch: Watch;
  readonly keys?: readonly string[];
}

/**
 * Every watched validator once: the groups with validators in their order, then the rest, if there is any. The first of two
 * groups keeps a validator of both.
 */
export function watchedGroups(
  watch: Watch,
  groups: readonly NamedWatch[],
  keys: readonly string[] = [],
): readonly WatchedGroup[] {
  let taken: Watch = [];
  let takenKeys: ReadonlySet<string> = new Set();
  return [...groups, { name: undefined, watch, keys }].flatMap((one): WatchedGroup[] => {
    const own = without(one.watch, taken);
    const ownKeys = new Set(one.keys).difference(takenKeys);
    taken = watchOf([...taken, ...own]);
    takenKeys = takenKeys.union(ownKeys);
    if (own.length === 0 && ownKeys.size === 0) return [];
    return [{ ...groupLabel(one.name), watch: own, ...(ownKeys.size > 0 && { keys: ownKeys }) }];
  });
}

export function sizeOf({ watch, keys }: WatchedGroup): number {
  return watchedCount(watch) + (keys?.size ?? 0);
}

/** The label of a group. No label without a group, so that nothing changes if no groups are configured. */
export function groupLabel(group: string | undefined): { readonly group?: string } {
  return group === undefined ? {} : { group };
}

/** The group of a validator, which may be the one without a name. Undefined if it is not watched. */
export function watchedGroupOf(groups: readonly WatchedGroup[], validator: Identifier): WatchedGroup | undefined {
  return groups.find(({ watch, keys }) =>
    typeof validator === 'number' ? watches(watch, validator) : keys?.has(validator),
  );
}

/** The parts of the ranges that are in none of `others`. */
function without(watch: Watch, others: Watch): Watch {
  const left: WatchRange[] = [];
  // Both ascend: thousands of keys are thousands of ranges.
  let next = 0;
  for (const { first, last } of watch) {
    let from = first;
    while ((others[next]?.last ?? Infinity) < first) next += 1;
    for (let at = next; (others[at]?.first ?? Infinity) <= last; at += 1) {
      const other = others[at] as WatchRange;
      if (other.first > from) left.push({ first: from, last: other.first - 1 });
      from = other.last + 1;
    }
    if (from <= last) left.push({ first: from, last });
  }
  return left;
}
