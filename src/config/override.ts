/** A value that goes before the file's. */
export interface Override {
  /** Section and key. */
  readonly path: readonly [string, string];
  readonly value: string;
  /** The flag or environment variable that gave it. */
  readonly origin: string;
}

type Mapping = Readonly<Record<string, unknown>>;

function isMapping(value: unknown): value is Mapping {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The document with the overrides in it; where it has something else than a section, that is the mistake to tell. */
export function override(document: unknown, overrides: readonly Override[]): unknown {
  let root = document ?? {};
  for (const { path, value } of overrides) {
    const [name, key] = path;
    const section = isMapping(root) ? (root[name] ?? {}) : undefined;
    if (isMapping(root) && isMapping(section)) root = { ...root, [name]: { ...section, [key]: value } };
  }
  return root;
}

/** The document as if nobody had said anything about a key. */
export function withoutKey(document: unknown): unknown {
  if (!isMapping(document) || !isMapping(document['api'])) return document;
  const { key: _key, key_file: _file, ...api } = document['api'];
  return { ...document, api };
}
