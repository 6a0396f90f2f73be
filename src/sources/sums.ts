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
 * The weighted mean of the known values. Undefined if a weight is not known. A single value needs none, and is returned without a
 * rounding error.
 */
export function meanOf(
  values: readonly (readonly [value: Maybe<number>, weight: Maybe<number>])[],
): number | undefined {
  const known = values.flatMap(([value, weight]) => (value == null || weight === 0 ? [] : [{ value, weight }]));
  if (known.length <= 1) return known[0]?.value;
  const all = sumOfAll(known.map(({ weight }) => weight));
  return all && known.reduce((sum, { value, weight }) => sum + value * (weight ?? 0), 0) / all;
}
