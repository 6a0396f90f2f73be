/** Where a login comes from, which decides when its turn is. */
export interface Origin {
  /** The remote address; see `addressOf`. */
  readonly address: string;
  /** The name of the user, or '' for every name that the file does not have: thousands of made-up names are one. */
  readonly user: string;
  /** Whether a login over this connection has failed a moment ago. */
  readonly hasFailed: boolean;
}

interface Waiting<T> {
  readonly origin: Origin;
  readonly job: T;
}

/** Logins of one user from one address, the next to be served first. */
type Line<T> = Waiting<T>[];

/** A comparison takes about 60 ms at the usual cost: whoever is behind so many gives up before its turn. */
export const MAX_WAITING = 64;
/** For one user from one address. The last of them is served within 2 s. */
export const MAX_WAITING_PER_USER = 24;

/**
 * Logins that wait to be checked. Addresses take turns, and so do the users of one address, so that a flood delays mostly
 * itself. Of one user the newest is served first, because the others have had their chance; a connection over which a
 * login has just failed goes behind those over which none has.
 */
export class LoginQueue<T> {
  /** Lines by address and user. The first of each map has the next turn. */
  readonly #addresses = new Map<string, Map<string, Line<T>>>();
  #size = 0;

  get size(): number {
    return this.#size;
  }

  /** Adds a login. Returns the one that has to go because too many wait, which may be the one that came. */
  push(origin: Origin, job: T): T | undefined {
    const users = this.#addresses.get(origin.address) ?? new Map<string, Line<T>>();
    const line = users.get(origin.user) ?? [];
    this.#addresses.set(origin.address, users.set(origin.user, line));
    const before = origin.hasFailed ? line.findIndex(({ origin: other }) => other.hasFailed) : 0;
    line.splice(before < 0 ? line.length : before, 0, { origin, job });
    this.#size += 1;
    if (line.length > MAX_WAITING_PER_USER) return this.#dropLast(users, line);
    return this.#size > MAX_WAITING ? this.#dropFromLongest() : undefined;
  }

  /** Takes the login whose turn it is. */
  shift(): T | undefined {
    const [address, users] = first(this.#addresses) ?? [];
    const [user, line] = (users && first(users)) ?? [];
    const waiting = line?.shift();
    if (address === undefined || !users || user === undefined || !line || !waiting) return undefined;
    this.#size -= 1;
    toTheEnd(users, user, line, line.length);
    toTheEnd(this.#addresses, address, users, users.size);
    return waiting.job;
  }

  /** The address with the most logins gives one up, of the user with the most. */
  #dropFromLongest(): T | undefined {
    const users = longest(this.#addresses.values(), (one) =>
      [...one.values()].reduce((sum, line) => sum + line.length, 0),
    );
    const line = users && longest(users.values(), ({ length }) => length);
    return line && this.#dropLast(users, line);
  }

  #dropLast(users: Map<string, Line<T>>, line: Line<T>): T | undefined {
    const last = line.pop();
    this.#size -= 1;
    if (last && line.length === 0) users.delete(last.origin.user);
    if (last && users.size === 0) this.#addresses.delete(last.origin.address);
    return last?.job;
  }
}

function first<K, V>(map: ReadonlyMap<K, V>): [K, V] | undefined {
  const [entry] = map;
  return entry;
}

function toTheEnd<K, V>(map: Map<K, V>, key: K, value: V, size: number): void {
  map.delete(key);
  if (size > 0) map.set(key, value);
}

function longest<V>(values: Iterable<V>, lengthOf: (value: V) => number): V | undefined {
  return [...values].reduce<V | undefined>(
    (most, value) => (most === undefined || lengthOf(value) > lengthOf(most) ? value : most),
    undefined,
  );
}

/** The part of an address that stands for one client: an IPv4 address, or the /64 network of an IPv6 address. */
export function addressOf(remote: string | undefined): string {
  const address = (remote ?? '').replace(/^::ffff:(?=\d+\.)/i, '').replace(/%.*$/, '');
  if (!address.includes(':')) return address;
  const [head = '', tail] = address.split('::');
  const groups = head === '' ? [] : head.split(':');
  const rest = tail === undefined || tail === '' ? [] : tail.split(':');
  const zeros = Array.from({ length: Math.max(0, 8 - groups.length - rest.length) }, () => '0');
  return [...groups, ...(tail === undefined ? [] : zeros), ...rest].slice(0, 4).join(':');
}
