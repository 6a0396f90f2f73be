import { type Watch, type WatchRange, watches, watchOf } from './watch.ts';

/** The watched validators of one group, or without `group` those of none. */
export interface WatchedGroup {
  readonly group?: string;
  readonly watch: Watch;
}

/** Every watched validator once: the groups with validators in their order, then the rest, if there is any. */
export function watchedGroups(
  watch: Watch,
  groups: readonly { readonly name: string; readonly watch: Watch }[],
): readonly WatchedGroup[] {
  const named = groups.flatMap(({ name, watch }) => (watch.length > 0 ? [{ group: name, watch }] : []));
  const rest = without(watch, watchOf(named.flatMap((one) => one.watch)));
  return rest.length > 0 ? [...named, { watch: rest }] : named;
}

/** The label of what belongs to a group; none without one, so that nothing changes where no groups are configured. */
export function groupLabel(group: string | undefined): { readonly group?: string } {
  return group === undefined ? {} : { group };
}

/** The group of a validator, or that of those in none; undefined: it is not watched. */
export function watchedGroupOf(groups: readonly WatchedGroup[], validator: number): WatchedGroup | undefined {
  return groups.find(({ watch }) => watches(watch, validator));
}

/** The parts of the ranges that are in none of `others`. */
function without(watch: Watch, others: Watch): Watch {
  const left: WatchRange[] = [];
  for (const { first, last } of watch) {
    let from = first;
    for (const other of others) {
      if (other.last < from || other.first > last) continue;
      if (other.first > from) left.push({ first: from, last: other.first - 1 });
      from = other.last + 1;
    }
    if (from <= last) left.push({ first: from, last });
  }
  return left;
}
