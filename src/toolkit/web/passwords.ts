import { createHmac, randomBytes } from 'node:crypto';
import { extname, join } from 'node:path';
import { Worker } from 'node:worker_threads';

/** A comparison takes about 60 ms at the usual cost of 10: less than a minute for all. */
export const MAX_WAITING = 900;
/** Compared for a name that is not in the file. Otherwise the response time would reveal which names exist. */
const DECOY = `$2y$10$${'.'.repeat(53)}`;
/** Both the source (.ts) and the build (.js) run. */
const WORKER = join(import.meta.dirname, `bcrypt-worker${extname(import.meta.filename)}`);

export interface Credentials {
  readonly user: string;
  readonly password: string;
}

/** A message to the worker, which replies with true or false, in the same order. */
export interface Comparison {
  readonly password: string;
  readonly hash: string;
}

interface Waiting extends PromiseWithResolvers<boolean> {
  readonly comparison: Comparison;
  readonly digest: string;
}

export class TooBusy extends Error {
  override readonly name = 'TooBusy';
}

/**
 * A thread compares passwords, one after the other. Good logins are remembered, so that a client that has logged in never
 * waits behind guesses. A password keeps its place after its client gave up, so that the next scrape is admitted.
 */
export class Passwords {
  /** Known only to this process, so that remembered digests are useless elsewhere. */
  readonly #salt = randomBytes(32);
  /** Digests of good logins: few, because each is of a user in the file. */
  readonly #good = new Set<string>();
  /** The worker compares the first one. */
  readonly #waiting: Waiting[] = [];
  #worker: Worker | undefined;

  /**
   * @param users Bcrypt hashes by name
   * @throws TooBusy
   */
  async admits({ user, password }: Credentials, users: ReadonlyMap<string, string>): Promise<boolean> {
    const hash = users.get(user);
    // The hash is part of the digest: a changed password or a removed user is forgotten at once.
    const digest = createHmac('sha256', this.#salt)
      .update(JSON.stringify([user, hash, password]))
      .digest('hex');
    if (this.#good.has(digest)) return true;
    const isAdmitted = (await this.#compare(digest, { password, hash: hash ?? DECOY })) && hash !== undefined;
    if (isAdmitted) this.#good.add(digest);
    return isAdmitted;
  }

  /** Stops at once, even during a comparison. */
  async close(): Promise<void> {
    await this.#worker?.terminate();
  }

  async #compare(digest: string, comparison: Comparison): Promise<boolean> {
    const same = this.#waiting.find((one) => one.digest === digest);
    if (same) return same.promise;
    if (this.#waiting.length >= MAX_WAITING) throw new TooBusy('too many passwords wait');
    const waiting = { ...Promise.withResolvers<boolean>(), comparison, digest };
    if (this.#waiting.push(waiting) === 1) this.#next();
    return waiting.promise;
  }

  #next(): void {
    const [first] = this.#waiting;
    if (!first) return;
    this.#worker ??= this.#start();
    this.#worker.postMessage(first.comparison);
  }

  #start(): Worker {
    const worker = new Worker(WORKER);
    worker.unref();
    worker.on('message', (isEqual: boolean) => {
      this.#waiting.shift()?.resolve(isEqual);
      this.#next();
    });
    worker.on('error', (error) => this.#fail(error));
    worker.on('exit', () => this.#fail(new Error('the thread that compares passwords has ended')));
    return worker;
  }

  /** Rejects all comparisons. The next one starts a new thread. */
  #fail(error: unknown): void {
    this.#worker = undefined;
    for (const { reject } of this.#waiting.splice(0)) reject(error);
  }
}

/** The name and password of an Authorization header. */
export function credentialsOf(authorization: string | undefined): Credentials | undefined {
  const [, encoded] = /^Basic ([A-Za-z0-9+/]*={0,2})$/i.exec(authorization ?? '') ?? [];
  if (encoded === undefined) return undefined;
  const text = Buffer.from(encoded, 'base64').toString('utf8');
  const colon = text.indexOf(':');
  return colon < 0 ? undefined : { user: text.slice(0, colon), password: text.slice(colon + 1) };
}
