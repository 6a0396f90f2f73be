import type * as z from 'zod';
import type { Logger } from '../lib/log.ts';
import { parseDocument, unwrap } from '../state/envelope.ts';
import { LeaseLost } from './lease.ts';
import { type HeartbeatReply, inRedis, type RedisState } from './redis.ts';

type Loaded<T> =
  | { readonly success: true; readonly data: T }
  | { readonly success: false; readonly why: string; readonly text: string; readonly revision: number };

/** The documents in Redis, and which revision of each this process has read or written. */
export class SharedDocuments {
  readonly #redis: RedisState;
  readonly #log: Logger;
  readonly #revisions = new Map<string, number>();
  #newest = 0;

  constructor(redis: RedisState, log: Logger) {
    this.#redis = redis;
    this.#log = log;
  }

  /** The newest revision of any document that this process knows of. */
  get newest(): number {
    return this.#newest;
  }

  /** The revisions that this process has of these documents; 0: none. */
  revisionsOf(names: readonly string[]): ReadonlyMap<string, number> {
    return new Map(names.map((name) => [name, this.#revisions.get(name) ?? 0]));
  }

  /** Requests these documents again with the next heartbeat, even if they have not changed. */
  forget(names: readonly string[]): void {
    for (const name of names) this.#revisions.delete(name);
  }

  /** Takes note of what a heartbeat has brought. Returns the values of the documents that can be read. */
  receive({ revision: newest, changed }: HeartbeatReply): ReadonlyMap<string, unknown> {
    this.#newest = Math.max(this.#newest, newest);
    const values = new Map<string, unknown>();
    for (const { name, revision, text } of changed) {
      this.#revisions.set(name, revision);
      const opened = unwrap(text);
      if (opened.success) values.set(name, opened.value);
      else this.#log.warn({ document: name, why: opened.why }, 'state not readable, still serving the previous state');
    }
    return values;
  }

  /** Undefined: there is none. @throws RedisAway; StateOfOtherVersion */
  async load<S extends z.ZodType>(name: string, schema: S): Promise<Loaded<z.output<S>> | undefined> {
    const stored = await this.#redis.load(name);
    if (!stored) return undefined;
    const { text, revision } = stored;
    this.#revisions.set(name, revision);
    const parsed = parseDocument(inRedis(name), text, schema);
    return parsed.success ? parsed : { success: false, why: parsed.why, text, revision };
  }

  /**
   * Writes under this lease. Returns whether Redis has lost what was written before.
   * @throws LeaseLost; RedisAway: then it may or may not have been written.
   */
  async write(lease: string, name: string, text: string): Promise<boolean> {
    const known = this.#newest;
    const written = await this.#redis.write(lease, known, name, text);
    if (!written) throw new LeaseLost();
    this.#newest = Math.max(this.#newest, written.revision);
    this.#revisions.set(name, written.revision);
    return written.before < known;
  }
}
