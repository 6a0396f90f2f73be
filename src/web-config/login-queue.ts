/** The origin of a login, which decides its place in the queue. */
export interface Origin {
  /** As returned by `addressOf` in client-address.ts. */
  readonly address: string;
  /** The user, or '' for all names that are not in the file: thousands of invented names count as one user. */
  readonly user: string;
  /** Whether a login over this connection has just failed. */
  readonly hasFailed: boolean;
}

interface QueuedLogin<T> {
  readonly origin: Origin;
  readonly job: T;
}

/** Logins of one user from one address, the next to be served first. */
type Queue<T> = QueuedLogin<T>[];

/** A comparison takes about 60 ms at the usual cost: a client behind so many gives up before its turn. */
export const MAX_WAITING = 64;
/** The limit for one user from one address. The last of them is served within 2 s. */
export const MAX_WAITING_PER_USER = 24;

/**
 * Logins that wait to be checked. Addresses take turns, and so do the users of one address: a flood mostly delays
 * itself. The newest login of a user is served first, because the older ones have already waited. Connections over
 * which a login has just failed come last.
 */
export class LoginQueue<T> {
  /** By address and user. The first entry of each map has the next turn. */
  readonly #addresses = new Map<string, Map<string, Queue<T>>>();
  #size = 0;

  get size(): number {
    return this.#size;
  }

  /** Adds a login. Returns the one that is dropped because too many wait; it may be the new one. */
  push(origin: Origin, job: T): T | undefined {
    const users = this.#addresses.get(origin.address) ?? new Map<string, Queue<T>>();
    const queue = users.get(origin.user) ?? [];
    this.#addresses.set(origin.address, users.set(origin.user, queue));
    const before = origin.hasFailed ? queue.findIndex(({ origin: other }) => other.hasFailed) : 0;
    queue.splice(before < 0 ? queue.length : before, 0, { origin, job });
    this.#size += 1;
    if (queue.length > MAX_WAITING_PER_USER) return this.#dropLast(users, queue);
    return this.#size > MAX_WAITING ? this.#dropFromLongest() : undefined;
  }

  /** Removes and returns the login whose turn it is. */
  shift(): T | undefined {
    const [address, users] = first(this.#addresses) ?? [];
    const [user, queue] = (users && first(users)) ?? [];
    const waiting = queue?.shift();
    if (address === undefined || !users || user === undefined || !queue || !waiting) return undefined;
    this.#size -= 1;
    moveToEnd(users, user, queue, queue.length);
    moveToEnd(this.#addresses, address, users, users.size);
    return waiting.job;
  }

  /** Drops a login of the address with the most, and there of the user with the most. */
  #dropFromLongest(): T | undefined {
    const users = longest(this.#addresses.values(), (one) =>
      [...one.values()].reduce((sum, queue) => sum + queue.length, 0),
    );
    const queue = users && longest(users.values(), ({ length }) => length);
    return queue && this.#dropLast(users, queue);
  }

  #dropLast(users: Map<string, Queue<T>>, queue: Queue<T>): T | undefined {
    const last = queue.pop();
    this.#size -= 1;
    if (last && queue.length === 0) users.delete(last.origin.user);
    if (last && users.size === 0) this.#addresses.delete(last.origin.address);
    return last?.job;
  }
}

function first<K, V>(map: ReadonlyMap<K, V>): [K, V] | undefined {
  const [entry] = map;
  return entry;
}

function moveToEnd<K, V>(map: Map<K, V>, key: K, value: V, size: number): void {
  map.delete(key);
  if (size > 0) map.set(key, value);
}

function longest<V>(values: Iterable<V>, sizeOf: (value: V) => number): V | undefined {
  return [...values].reduce<V | undefined>(
    (max, value) => (max === undefined || sizeOf(value) > sizeOf(max) ? value : max),
    undefined,
  );
}
