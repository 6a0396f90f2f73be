import type * as z from 'zod';
import type { Milliseconds, UnixMs } from '../lib/time.ts';
import { parseDocument, STATE_VERSION } from '../state/envelope.ts';
import type { LeaseStatus, Takeable } from './lease.ts';
import type { RedisLink, Reply } from './redis-link.ts';
import { CHECK_WRITABLE, HEARTBEAT, RELEASE, WRITE } from './redis-scripts.ts';

/** A document as Redis keeps it. A later one has a higher revision. */
export interface StoredDocument {
  readonly name: string;
  readonly revision: number;
  readonly text: string;
}

export interface HeartbeatRequest {
  /** The value of our last lease; '' without one. */
  readonly lease: string;
  /** The id of this replica. */
  readonly id: string;
  readonly ttlMs: Milliseconds;
  /** Which leases to take. */
  readonly take: Takeable;
  /** The documents that are wanted, with the revision that is known. */
  readonly wanted: ReadonlyMap<string, number>;
}

export interface HeartbeatReply {
  readonly status: LeaseStatus;
  /** The value of the lease as it is now. */
  readonly lease: string;
  /** How long the lease of another replica has to live; Infinity: it has no end. */
  readonly leftMs: Milliseconds;
  /** The newest revision of any document. */
  readonly revision: number;
  /** By the clock of the server. */
  readonly now: UnixMs;
  /** The wanted documents that are newer than known. */
  readonly changed: readonly StoredDocument[];
}

/** What the operator is told that a document is, and how to begin without it. */
export function inRedis(name: string): { document: string; anew: string } {
  return { document: `the document ${name} in Redis`, anew: 'set another state.redis.prefix' };
}

/** The state in Redis. Each method is one atomic step, and throws RedisAway. */
export class RedisState {
  readonly #link: RedisLink;
  readonly #keys: readonly string[];
  #writes = 0;

  constructor(link: RedisLink, prefix: string) {
    this.#link = link;
    this.#keys = ['lease', 'meta', 'documents', 'revisions'].map((name) => `${prefix}:${name}`);
  }

  /** Another number after each loss of the connection. */
  get connection(): number {
    return this.#link.connection;
  }

  /** Fails on a server that cannot be written to. A standby accepts reads, but no replica could ever lead. */
  async expectWritable(): Promise<void> {
    await this.#link.run(CHECK_WRITABLE, this.#keys.slice(1, 2), []);
  }

  async heartbeat({ lease, id, ttlMs, take, wanted }: HeartbeatRequest): Promise<HeartbeatReply> {
    const [token = ''] = lease.split(' ');
    const names = [...wanted].flatMap(([name, revision]) => [name, String(revision)]);
    const args = [lease, id, String(ttlMs), String(STATE_VERSION), take, token || '0', ...names];
    const reply = await this.#link.run(HEARTBEAT, this.#keys, args);
    const [status = '', value = '', left = '', revision = '', now = ''] = reply;
    return {
      status: status as LeaseStatus,
      lease: value,
      leftMs: Number(left) < 0 ? Number.POSITIVE_INFINITY : Number(left),
      revision: Number(revision),
      now: Number(now),
      changed: documentsIn(reply.slice(5)),
    };
  }

  async load(name: string): Promise<StoredDocument | undefined> {
    const wanted = new Map([[name, 0]]);
    const { changed } = await this.heartbeat({ lease: '', id: '', ttlMs: 0, take: 'never', wanted });
    return changed[0];
  }

  /** Undefined: there is none, or it cannot be read. @throws StateOfOtherVersion */
  async peek<S extends z.ZodType>(name: string, schema: S): Promise<z.output<S> | undefined> {
    const stored = await this.load(name).catch(() => undefined);
    const parsed = stored && parseDocument(inRedis(name), stored.text, schema);
    return parsed?.success ? parsed.data : undefined;
  }

  /**
   * Writes under this lease. `newest` is the newest revision that the writer knows. Returns the new revision and the newest
   * one before it; undefined: the lease is no longer ours, and nothing was written.
   */
  async write(
    lease: string,
    newest: number,
    name: string,
    text: string,
  ): Promise<{ revision: number; before: number } | undefined> {
    this.#writes += 1;
    const args = [lease, String(STATE_VERSION), String(newest), name, text, String(this.#writes)];
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

function documentsIn(reply: Reply): StoredDocument[] {
  const documents: StoredDocument[] = [];
  for (let i = 0; i + 2 < reply.length; i += 3) {
    const [name = '', revision = '', text = ''] = reply.slice(i, i + 3);
    documents.push({ name, revision: Number(revision), text });
  }
  return documents;
}
