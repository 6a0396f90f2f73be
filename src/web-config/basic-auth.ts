import { createHmac, randomBytes } from 'node:crypto';
import type { Clock } from '../lib/clock.ts';
import type { MonotonicMs } from '../lib/time.ts';
import type { Origin } from './login-queue.ts';

/** As many as exporter-toolkit remembers. */
const MAX_REMEMBERED = 100;
const MAX_FAILURES_REMEMBERED = 1_000;
/** A wrong password is not compared again within this time, so a misconfigured client costs next to nothing. */
const FAILURE_REMEMBERED_MS = 60_000;
/** Takes about 240 ms. An unknown name costs no more than this, even if users in the file have a higher cost. */
const MAX_DECOY_COST = 12;

export interface Credentials {
  readonly user: string;
  readonly password: string;
}

/** Where a request came from. */
export type LoginOrigin = Omit<Origin, 'user'>;

type Matches = (password: string, hash: string, origin: Origin) => Promise<boolean>;

/**
 * Decides by name and password who is admitted. The response does not reveal which names exist. Its time does not
 * reveal it either, as long as no other logins wait and all costs are at most 12.
 */
export class BasicAuth {
  readonly #matches: Matches;
  readonly #clock: Pick<Clock, 'monotonic'>;
  /** Known only to this process, so that remembered digests are useless elsewhere. */
  readonly #salt = randomBytes(32);
  readonly #remembered = new Set<string>();
  /** Digests of failed logins, and until when they are remembered; the oldest first. */
  readonly #failed = new Map<string, MonotonicMs>();
  readonly #running = new Map<string, Promise<boolean>>();

  constructor(matches: Matches, clock: Pick<Clock, 'monotonic'>) {
    this.#matches = matches;
    this.#clock = clock;
  }

  /** @param users Bcrypt hashes by name; at least one. */
  async admits(
    { user, password }: Credentials,
    users: ReadonlyMap<string, string>,
    client: LoginOrigin,
  ): Promise<boolean> {
    const known = users.get(user);
    const hash = known ?? this.#decoy(user, [...users.values()]);
    // The hash is part of the digest: a changed password or a removed user is forgotten at once.
    const digest = this.#digest('pass', user, hash, password);
    if (this.#remembered.has(digest)) return true;
    if (this.#hasFailed(digest)) return false;
    const origin = { ...client, user: known === undefined ? '' : user };
    const isEqual = await this.#compareOnce(digest, () => this.#matches(password, hash, origin));
    const isAdmitted = isEqual && known !== undefined;
    if (isAdmitted) this.#remember(digest);
    else this.#rememberFailure(digest);
    return isAdmitted;
  }

  /** Scrapes that start together with the same password share one comparison. */
  #compareOnce(digest: string, compare: () => Promise<boolean>): Promise<boolean> {
    const running = this.#running.get(digest);
    if (running) return running;
    const started = compare().finally(() => this.#running.delete(digest));
    this.#running.set(digest, started);
    return started;
  }

  #remember(digest: string): void {
    const [oldest] = this.#remembered;
    if (oldest !== undefined && this.#remembered.size >= MAX_REMEMBERED) this.#remembered.delete(oldest);
    this.#remembered.add(digest);
  }

  #hasFailed(digest: string): boolean {
    return (this.#failed.get(digest) ?? Number.NEGATIVE_INFINITY) > this.#clock.monotonic();
  }

  #rememberFailure(digest: string): void {
    const [oldest] = this.#failed.keys();
    if (oldest !== undefined && this.#failed.size >= MAX_FAILURES_REMEMBERED) this.#failed.delete(oldest);
    this.#failed.delete(digest);
    this.#failed.set(digest, this.#clock.monotonic() + FAILURE_REMEMBERED_MS);
  }

  /** A hash that matches no password, with the cost of one of the users. The same name always gets the same hash. */
  #decoy(user: string, hashes: readonly string[]): string {
    const digest = this.#digest('decoy', user);
    const like = hashes[Number.parseInt(digest.slice(0, 8), 16) % hashes.length] ?? '';
    const cost = Math.min(costOf(like), MAX_DECOY_COST);
    return `${like.slice(0, 4)}${String(cost).padStart(2, '0')}$${digest.slice(0, 53)}`;
  }

  #digest(...parts: readonly string[]): string {
    return createHmac('sha256', this.#salt).update(JSON.stringify(parts)).digest('hex');
  }
}

/** The cost in a bcrypt hash: each step doubles the work. */
export function costOf(hash: string): number {
  return Number(hash.slice(4, 6));
}

/** The name and password of an Authorization header; undefined where it has none. */
export function credentialsOf(authorization: string | undefined): Credentials | undefined {
  const [, encoded] = /^Basic ([A-Za-z0-9+/]*={0,2})$/i.exec(authorization ?? '') ?? [];
  if (encoded === undefined) return undefined;
  const text = Buffer.from(encoded, 'base64').toString('utf8');
  const colon = text.indexOf(':');
  return colon < 0 ? undefined : { user: text.slice(0, colon), password: text.slice(colon + 1) };
}
