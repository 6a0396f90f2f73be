import { createHmac, randomBytes } from 'node:crypto';

/** As many as the toolkit remembers. */
const MOST_REMEMBERED = 100;

export interface Credentials {
  readonly user: string;
  readonly password: string;
}

/** Says who may pass by name and password, without telling by its answer or its time which names there are. */
export class BasicAuth {
  readonly #matches: (password: string, hash: string) => Promise<boolean>;
  /** Of this process alone: what is remembered is worth nothing elsewhere. */
  readonly #salt = randomBytes(32);
  readonly #remembered = new Set<string>();
  readonly #running = new Map<string, Promise<boolean>>();

  constructor(matches: (password: string, hash: string) => Promise<boolean>) {
    this.#matches = matches;
  }

  /** @param users Bcrypt hashes by name; at least one. */
  async admits({ user, password }: Credentials, users: ReadonlyMap<string, string>): Promise<boolean> {
    const known = users.get(user);
    const hash = known ?? this.#decoy(user, [...users.values()]);
    // With the hash in it, a password that is changed or a user who is removed is forgotten at once.
    const digest = this.#digest('pass', user, hash, password);
    if (this.#remembered.has(digest)) return true;
    const isEqual = await this.#compareOnce(digest, password, hash);
    if (!isEqual || known === undefined) return false;
    this.#remember(digest);
    return true;
  }

  /** Many scrapes that start together with one password are one comparison. */
  #compareOnce(digest: string, password: string, hash: string): Promise<boolean> {
    const running = this.#running.get(digest);
    if (running) return running;
    const started = this.#matches(password, hash).finally(() => this.#running.delete(digest));
    this.#running.set(digest, started);
    return started;
  }

  #remember(digest: string): void {
    const [oldest] = this.#remembered;
    if (oldest !== undefined && this.#remembered.size >= MOST_REMEMBERED) this.#remembered.delete(oldest);
    this.#remembered.add(digest);
  }

  /** A hash that no password has, at the cost that one of the users has: the same name gets the same each time. */
  #decoy(user: string, hashes: readonly string[]): string {
    const digest = this.#digest('decoy', user);
    const like = hashes[Number.parseInt(digest.slice(0, 8), 16) % hashes.length] ?? '';
    return `${like.slice(0, 7)}${digest.slice(0, 53)}`;
  }

  #digest(...parts: readonly string[]): string {
    return createHmac('sha256', this.#salt).update(JSON.stringify(parts)).digest('hex');
  }
}

/** The name and password of an Authorization header; undefined where it has none. */
export function credentialsOf(authorization: string | undefined): Credentials | undefined {
  const [, encoded] = /^Basic ([A-Za-z0-9+/]*={0,2})$/i.exec(authorization ?? '') ?? [];
  if (encoded === undefined) return undefined;
  const text = Buffer.from(encoded, 'base64').toString('utf8');
  const colon = text.indexOf(':');
  return colon < 0 ? undefined : { user: text.slice(0, colon), password: text.slice(colon + 1) };
}
