import type { z } from 'zod';
import { open, parseValue, VERSION } from '../state/envelope.ts';
import type { Standing } from './lease.ts';
import type { RedisLink, Reply } from './redis-link.ts';
import { BEAT, RELEASE, TOUCH, WRITE } from './redis-scripts.ts';

/** A document as it stands in Redis; a later one has a higher revision. */
export interface Stored {
  readonly name: string;
  readonly revision: number;
  readonly text: string;
}

export interface Question {
  /** Our lease, as long as it may stand there; '' without one. */
  readonly lease: string;
  /** Who we are in it. */
  readonly id: string;
  readonly ttlMs: number;
  /** Which lease is to be taken. */
  readonly taking: 'never' | 'released' | 'free';
  /** What is wanted, with the revision that is known. */
  readonly wanted: ReadonlyMap<string, number>;
}

export interface Beat {
  readonly standing: Standing;
  /** The lease as it is now. */
  readonly lease: string;
  /** The newest of all documents. */
  readonly revision: number;
  /** Unix ms by the clock of the server. */
  readonly now: number;
  /** Of those wanted, what is newer than known. */
  readonly changed: readonly Stored[];
}

/** The shared state: each method is one step that nothing comes between. All throw RedisAway. */
export class RedisState {
  readonly #link: RedisLink;
  readonly #keys: readonly string[];

  constructor(link: RedisLink, prefix: string) {
    this.#link = link;
    this.#keys = ['lease', 'meta', 'documents', 'revisions'].map((name) => `${prefix}:${name}`);
  }

  /** Another number after each loss of the connection. */
  get connection(): number {
    return this.#link.connection;
  }

  /** Whether this server can be written to: a standby can be read, and then nobody would ever poll. */
  async expectWritable(): Promise<void> {
    await this.#link.run(TOUCH, this.#keys.slice(1, 2), []);
  }

  async beat({ lease, id, ttlMs, taking, wanted }: Question): Promise<Beat> {
    const [token = ''] = lease.split(' ');
    const names = [...wanted].flatMap(([name, revision]) => [name, String(revision)]);
    const args = [lease, id, String(ttlMs), String(VERSION), taking, token || '0', ...names];
    const reply = await this.#link.run(BEAT, this.#keys, args);
    const [standing = '', value = '', revision = '', now = ''] = reply;
    return {
      standing: standing as Standing,
      lease: value,
      revision: Number(revision),
      now: Number(now),
      changed: storedIn(reply.slice(4)),
    };
  }

  async load(name: string): Promise<Stored | undefined> {
    const wanted = new Map([[name, 0]]);
    const { changed } = await this.beat({ lease: '', id: '', ttlMs: 0, taking: 'never', wanted });
    return changed[0];
  }

  /** Undefined: there is none that can be read. Does not throw. */
  async peek<S extends z.ZodType>(name: string, schema: S): Promise<z.output<S> | undefined> {
    const stored = await this.load(name).catch(() => undefined);
    const opened = stored && open(stored.text);
    const parsed = opened?.success ? parseValue(opened.value, schema) : undefined;
    return parsed?.success ? parsed.data : undefined;
  }

  /**
   * Writes under this lease. `newest` is the newest revision that the writer knows.
   * Undefined: the lease is another's. Else the revision that it has now, and the newest one before.
   */
  async write(
    lease: string,
    newest: number,
    name: string,
    text: string,
  ): Promise<{ revision: number; before: number } | undefined> {
    const args = [lease, String(VERSION), String(newest), name, text];
    const [revision = '', before = ''] = await this.#link.run(WRITE, this.#keys, args);
    return revision === '' ? undefined : { revision: Number(revision), before: Number(before) };
  }

  async release(lease: string): Promise<void> {
    await this.#link.run(RELEASE, this.#keys.slice(0, 1), [lease]);
  }

  close(): void {
    this.#link.close();
  }
}

function storedIn(reply: Reply): Stored[] {
  const documents: Stored[] = [];
  for (let i = 0; i + 2 < reply.length; i += 3) {
    const [name = '', revision = '', text = ''] = reply.slice(i, i + 3);
    documents.push({ name, revision: Number(revision), text });
  }
  return documents;
}
