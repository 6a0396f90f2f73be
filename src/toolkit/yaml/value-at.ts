/** The value at a path of nested mappings and lists. */
export function valueAt(value: unknown, path: readonly PropertyKey[]): unknown {
  let at = value;
  for (const key of path) {
    if (typeof at !== 'object' || at === null || !Object.hasOwn(at, key)) return undefined;
    at = (at as Record<PropertyKey, unknown>)[key];
  }
  return at;
}

/** Every value at a path in which `*` is any key or index, with its own path. */
export function valuesAt(value: unknown, [key, ...rest]: readonly string[]): { path: PropertyKey[]; value: unknown }[] {
  if (key === undefined) return [{ path: [], value }];
  const all = Array.isArray(value) ? [...value.keys()] : Object.keys(value ?? {});
  return (key === '*' ? all : [key]).flatMap((one) =>
    valuesAt(valueAt(value, [one]), rest).map((found) => ({ ...found, path: [one, ...found.path] })),
  );
}

/** The list at a path such as `data.items`. Default: empty. */
export function listAt(value: unknown, path: string): readonly unknown[] {
  const found = valueAt(value, path.split('.'));
  return Array.isArray(found) ? found : [];
}
