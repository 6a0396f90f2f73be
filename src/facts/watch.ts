/** The index of a validator, or its public key: 0x and 96 hexadecimal digits in lower case. */
export type Identifier = number | string;

/** How a validator is named: its index, or the first eight digits of its key. */
export function nameOf(identifier: Identifier): string {
  return String(identifier).slice(0, '0x12345678'.length);
}

/** An inclusive range of validator indices. */
export interface WatchRange {
  readonly first: number;
  readonly last: number;
}

/** A set of validator indices that costs what its ranges cost: ascending, neither overlapping nor touching. */
export type Watch = readonly WatchRange[];

export function watchOf(ranges: readonly WatchRange[]): Watch {
  const merged: { first: number; last: number }[] = [];
  for (const range of ranges.toSorted((a, b) => a.first - b.first)) {
    const previous = merged.at(-1);
    if (previous && range.first <= previous.last + 1) previous.last = Math.max(previous.last, range.last);
    else merged.push({ ...range });
  }
  return merged;
}

export function watches(watch: Watch, validator: number): boolean {
  let low = 0;
  let high = watch.length - 1;
  while (low <= high) {
    const middle = (low + high) >> 1;
    const range = watch[middle] as WatchRange;
    if (validator < range.first) high = middle - 1;
    else if (validator > range.last) low = middle + 1;
    else return true;
  }
  return false;
}

export function watchedCount(watch: Watch): number {
  return watch.reduce((count, { first, last }) => count + last - first + 1, 0);
}

export function* indicesOf(watch: Watch): Generator<number> {
  for (const { first, last } of watch) for (let index = first; index <= last; index += 1) yield index;
}

export function chunksOf<T>(all: readonly T[], size: number): T[][] {
  return Array.from({ length: Math.ceil(all.length / size) }, (_, i) => all.slice(i * size, (i + 1) * size));
}

/** The ranges as text, the same for the same set. */
export function rangesOf(watch: Watch): string {
  return watch.map(({ first, last }) => `${first}-${last}`).join();
}
