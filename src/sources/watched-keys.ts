import { type NamedWatch, watchedGroups } from '../facts/groups.ts';
import { type Watch, watches, watchOf } from '../facts/watch.ts';
import { type Inputs, type KnownKey, NO_INPUTS } from './read.ts';
import type { Source, WatchOptions } from './source.ts';

type Watched = Pick<WatchOptions, 'watch' | 'groups' | 'undecided' | 'shared'>;

/**
 * Pure. The watched set of a chain, in which a known index replaces its key.
 * @param elsewhere What other chains know. Null if unknown: then leaves out a key that may be elsewhere, unless this chain was asked
 */
export function resolved(
  { watch, groups, keys: configured }: Pick<WatchOptions, 'watch' | 'groups' | 'keys'>,
  known: readonly KnownKey[] = [],
  elsewhere: Inputs['keysElsewhere'] | null = [],
): Watched {
  if (!configured) return { watch, groups };
  const { keys, anywhere } = configured;
  const own = byKey(known);
  const others = elsewhere?.map(byKey);
  const [found, open, undecided] = [new Map<string, number>(), new Set<string>(), new Set<string>()];
  for (const key of keys) {
    const one = own.get(key);
    if (one?.index !== undefined) found.set(key, one.index);
    else if (isFound(one) || !anywhere.has(key)) open.add(key);
    else if (others ? !others.some((other) => isFound(other.get(key))) : one) {
      open.add(key);
      if (others?.some((other) => !other.has(key))) undecided.add(key);
    }
  }
  const withFound = (indices: Watch, of: readonly string[]): Watch =>
    watchOf([...indices, ...of.flatMap((key) => found.get(key) ?? []).map((index) => ({ first: index, last: index }))]);
  const split = configured.groups.map(
    ({ name, watch: own, keys: ofGroup = [] }): NamedWatch => ({
      name,
      watch: withFound(own, ofGroup),
      keys: ofGroup.filter((key) => open.has(key)),
    }),
  );
  const all = withFound(watch, keys);
  const shared = [...found.values()].filter((one) => split.filter((group) => watches(group.watch, one)).length > 1);
  return { watch: all, groups: watchedGroups(all, split, [...open]), undecided, shared };
}

function isFound(one: KnownKey | undefined): boolean {
  return one !== undefined && (one.index !== undefined || one.status !== 'not_found');
}

function byKey(known: readonly KnownKey[]): ReadonlyMap<string, KnownKey> {
  return new Map(known.flatMap((one) => (one.key === undefined ? [] : [[one.key, one]])));
}

/** The keys to request, because their index is unknown. */
export function openKeys({ groups }: Pick<WatchOptions, 'groups'>): string[] {
  return groups.flatMap(({ keys }) => [...(keys ?? [])]);
}

/**
 * A source whose options change when a key gets an index: `create` makes the source that does the work, from the resolved options. So no
 * read, family or page sees a key that has an index.
 * @param knownBy The keys that the source's value knows. Absent if another source knows them
 */
export function withKeys<T, O extends WatchOptions>(
  options: O,
  create: (options: O) => Source<T>,
  knownBy?: (value: T) => readonly KnownKey[],
): Source<T> {
  const base = create({ ...options, ...resolved(options) });
  const { anywhere } = options.keys ?? {};
  if (!anywhere) return base;
  const made = new WeakMap<readonly KnownKey[], Source<T>>();
  const sourceOf = (value: T, inputs?: Inputs): Source<T> => {
    const known = knownBy?.(value) ?? inputs?.keys ?? NO_INPUTS.keys;
    const before = made.get(known);
    if (before) return before;
    const source = create({ ...options, ...resolved(options, known, inputs?.keysElsewhere ?? null) });
    // Not cached, because the knowledge of other chains changes.
    if (anywhere.size === 0) made.set(known, source);
    return source;
  };
  const reads = base.reads.map((read, i) => {
    const of = (source: Source<T>) => source.reads[i] as typeof read;
    return {
      ...read,
      ...(read.due && { due: (value, ...rest) => of(sourceOf(value)).due?.(value, ...rest) ?? Infinity }),
      run: (context, value) => of(sourceOf(value, context.inputs)).run(context, value),
    } satisfies typeof read;
  });
  return {
    ...base,
    // As many reads as before.
    reads: reads as unknown as Source<T>['reads'],
    metrics: (value, timing, inputs) => sourceOf(value, inputs).metrics(value, timing, inputs),
    page: (value, timing, shown) => sourceOf(value, shown.inputs).page?.(value, timing, shown) ?? {},
    more: { ...base.more, showsInputs: true, gives: (value) => sourceOf(value).more?.gives?.(value) ?? {} },
  };
}
