import { isObject } from '../lib/is-object.ts';

/** A value that takes precedence over the file's. */
export interface Override {
  readonly path: readonly [string, string];
  readonly value: unknown;
  /** The flag or environment variable that it comes from. */
  readonly origin: string;
}

/** The document with the overrides. A section that cannot hold one stays as it is, for the schema to report. */
export function override(document: unknown, overrides: readonly Override[]): unknown {
  let root = document ?? {};
  for (const { path, value } of overrides) {
    const [name, key] = path;
    const section = isObject(root) ? (root[name] ?? {}) : undefined;
    if (isObject(root) && isObject(section)) root = { ...root, [name]: { ...section, [key]: value } };
  }
  return root;
}
