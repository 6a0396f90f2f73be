type Maybe<T> = T | null | undefined;

/** The sum. Undefined without amounts, or if one is unknown, because half a sum would be wrong. */
export function sumOfAll(amounts: readonly Maybe<number>[]): number | undefined {
  return allKnown(amounts)?.reduce((sum, one) => sum + one, 0);
}

/** The same for wei, exactly. */
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
 * The weighted mean of the values whose weight is not 0. Undefined if a value or a weight is unknown. A single value needs no weight, and
 * has no rounding error.
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
