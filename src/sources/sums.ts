type Maybe<T> = T | null | undefined;

/** The sum. Undefined if there is no amount, or one of them is not known: half of it would be a false value. */
export function sumOfAll(amounts: readonly Maybe<number>[]): number | undefined {
  return allKnown(amounts)?.reduce((sum, one) => sum + one, 0);
}

/** The same of amounts of wei, exactly. */
export function weiOfAll(amounts: readonly Maybe<string>[]): string | undefined {
  return allKnown(amounts)
    ?.reduce((sum, wei) => sum + BigInt(wei), 0n)
    .toString();
}

function allKnown<T>(values: readonly Maybe<T>[]): T[] | undefined {
  const known = values.filter((one) => one != null);
  return known.length > 0 && known.length === values.length ? known : undefined;
}

/**
 * The weighted mean of the values whose weight is not 0. Undefined if one of them or a weight is not known. A single value needs
 * no weight, and is returned without a rounding error.
 */
export function meanOf(
  values: readonly (readonly [value: Maybe<number>, weight: Maybe<number>])[],
): number | undefined {
  const weighed = values.filter(([, weight]) => weight !== 0);
  const known = allKnown(weighed.map(([value]) => value));
  if (!known || known.length === 1) return known?.[0];
  const all = sumOfAll(weighed.map(([, weight]) => weight));
  return all && known.reduce((sum, value, i) => sum + value * (weighed[i]?.[1] ?? 0), 0) / all;
}
