type Value = string | Map<string, string>;

interface Stored {
  readonly value: Value;
  /** By the wall clock of the server. */
  readonly expiresAt?: number;
}

/** What a command returns: nil is null. */
export type Reply = null | number | string | Status | readonly Reply[];

/** Such as OK. A script sees it in another shape than text. */
export interface Status {
  readonly status: string;
}

/** What the server answers when it refuses a command; its first word says why. */
export class RefusedByRedis extends Error {
  override readonly name = 'RefusedByRedis';
}

/** The keys of one server. */
export class RedisData {
  readonly #keys: Map<string, Stored>;

  constructor(keys: ReadonlyMap<string, Stored> = new Map()) {
    this.#keys = new Map(keys);
  }

  copy(): RedisData {
    const keys = [...this.#keys].map(([key, { value, ...stored }]): [string, Stored] => [
      key,
      { ...stored, value: typeof value === 'string' ? value : new Map(value) },
    ]);
    return new RedisData(new Map(keys));
  }

  get(key: string): Stored | undefined {
    return this.#keys.get(key);
  }

  set(key: string, stored: Stored): void {
    this.#keys.set(key, stored);
  }

  delete(key: string): boolean {
    return this.#keys.delete(key);
  }

  /** Removes what has expired. */
  expire(now: number): void {
    for (const [key, { expiresAt }] of this.#keys) {
      if (expiresAt !== undefined && now > expiresAt) this.#keys.delete(key);
    }
  }

  text(key: string): string | undefined {
    const value = this.#keys.get(key)?.value;
    if (value instanceof Map) throw wrongType();
    return value;
  }

  hash(key: string): ReadonlyMap<string, string> {
    return this.#hash(key) ?? new Map();
  }

  /** Returns how many of the fields are new. */
  setFields(key: string, fields: readonly (readonly [string, string])[]): number {
    const hash = this.#hash(key) ?? new Map<string, string>();
    const before = hash.size;
    for (const [field, text] of fields) hash.set(field, text);
    if (!this.#keys.has(key)) this.#keys.set(key, { value: hash });
    return hash.size - before;
  }

  /** Returns how many of the fields there were. */
  deleteFields(key: string, fields: readonly string[]): number {
    const hash = this.#hash(key);
    const deleted = fields.filter((field) => hash?.delete(field)).length;
    if (hash?.size === 0) this.#keys.delete(key);
    return deleted;
  }

  #hash(key: string): Map<string, string> | undefined {
    const value = this.#keys.get(key)?.value;
    if (typeof value === 'string') throw wrongType();
    return value;
  }
}

function wrongType(): RefusedByRedis {
  return new RefusedByRedis('WRONGTYPE Operation against a key holding the wrong kind of value');
}
