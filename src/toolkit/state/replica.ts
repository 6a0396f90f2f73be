import { randomBytes } from 'node:crypto';
import { hostname } from 'node:os';
import * as z from 'zod';
import type { Clock } from '../lib/clock.ts';
import type { Logger } from '../lib/log.ts';
import type { Milliseconds, MonotonicMs } from '../lib/time.ts';
import { parseDocument, unwrap, wrap } from './envelope.ts';
import { type LeaseReply, RedisAway, type RedisSettings, RedisState } from './redis.ts';
import type { StateStore } from './store.ts';

export interface LeaseTimings {
  /** How long Redis keeps a lease that is not renewed. */
  readonly ttlMs: Milliseconds;
  /**
   * The leader stops this long before the end of its lease. More than `timeoutMs` and `heartbeatMs` together, so that
   * `onLapse` is called before the end even if Redis does not answer.
   */
  readonly marginMs: Milliseconds;
  /** How often the lease is renewed, and documents of others are looked for. */
  readonly heartbeatMs: Milliseconds;
  /** How long a command may take. */
  readonly timeoutMs: Milliseconds;
}

export const LEASE_TIMINGS: LeaseTimings = { ttlMs: 10_000, marginMs: 2_500, heartbeatMs: 500, timeoutMs: 1_500 };

/**
 * After Redis may have lost data, a replica leads only after this many heartbeats plus the time limit of a command, because a connection
 * may hang. By then every replica that can reach Redis has written its documents back.
 */
const HEARTBEATS_TO_WRITE_BACK = 3;

/** A host that is still starting may be slow. */
const TRIES_AT_START = 3;

export interface ReplicaEvents {
  /** This replica holds the lease from now on; documents can be loaded and saved. */
  onLead(): void;
  /**
   * The lease is lost or cannot be renewed in time: from now on nothing may be sent or saved. Called before another replica
   * can lead, unless the process was paused: see `leads`.
   */
  onLapse(): void;
  /** A document that another replica wrote, or that exists at the start. The value is not yet parsed by a schema. */
  onDocument(name: string, value: unknown): void;
}

/** Another replica may lead now. Nothing was written. */
export class LeaseLost extends Error {
  override readonly name = 'LeaseLost';

  constructor() {
    super('another replica may lead now');
  }
}

interface ReplicaOptions {
  /** The version in which documents are written. No other is read. */
  readonly version: number;
  /** Names the replica in Redis and in logs. No other process may have the same. */
  readonly id?: string | undefined;
  readonly timings?: LeaseTimings | undefined;
}

type Lease = Omit<LeaseReply, 'revisions'>;

/** Pure. What replica `id` does when Redis names the holder and the term of the lease. `before`: what Redis named last. */
export function judge(id: string, before: Lease, { holder, term }: Lease): 'renew' | 'take' | 'follow' | 'stand by' {
  if (holder === id) return term === before.term ? 'renew' : 'take';
  return holder === '' || holder === before.holder ? 'stand by' : 'follow';
}

/**
 * One of several processes that share the state in one Redis. One of them leads: it holds the lease and writes. The
 * others read its documents. Each one keeps all documents in memory: if Redis loses data, they are written back.
 */
export class Replica implements StateStore {
  heartbeatAt: MonotonicMs;
  readonly #id: string;
  readonly #redis: RedisState;
  readonly #version: number;
  readonly #clock: Clock;
  readonly #log: Logger;
  readonly #timings: LeaseTimings;
  readonly #stop = new AbortController();
  /** The newest revision of each document that this process has read or written. */
  readonly #documents = new Map<string, { readonly revision: string; readonly text: string }>();
  #events: ReplicaEvents = { onLead() {}, onLapse() {}, onDocument() {} };
  #loop: Promise<void> = Promise.resolve();
  #isAway = false;
  #isLeader = false;
  /** As last read. */
  #lease: Lease = { holder: '', term: '' };
  #writes = 0;
  /** No other replica can hold the lease before this time. */
  #validUntil: MonotonicMs = Number.NEGATIVE_INFINITY;
  /** Until then other replicas may write documents back. */
  #leadsFrom: MonotonicMs = Number.NEGATIVE_INFINITY;
  /** Until then the lease is left to other replicas. */
  #restsUntil: MonotonicMs = Number.NEGATIVE_INFINITY;

  private constructor(redis: RedisState, clock: Clock, log: Logger, { version, id, timings }: ReplicaOptions) {
    this.#id = id ?? `${hostname()}-${process.pid}-${randomBytes(4).toString('hex')}`;
    this.#redis = redis;
    this.#version = version;
    this.#clock = clock;
    this.#log = log;
    this.#timings = timings ?? LEASE_TIMINGS;
    this.heartbeatAt = clock.monotonic();
  }

  /**
   * Reads all documents. Later Redis may fail and recover.
   * @throws RedisAway, with one line for the operator, if Redis cannot be reached or does not accept writes; StateOfOtherVersion
   */
  static async open(settings: RedisSettings, clock: Clock, log: Logger, options: ReplicaOptions): Promise<Replica> {
    const redis = new RedisState(settings, clock, (options.timings ?? LEASE_TIMINGS).timeoutMs);
    const replica = new Replica(redis, clock, log, options);
    for (let tries = 1; ; tries += 1) {
      try {
        await redis.expectWritable();
        await replica.#fetch((await redis.lease(replica.#id, 0)).revisions);
        for (const name of replica.#documents.keys()) await replica.peek(name, z.unknown());
        return replica;
      } catch (error) {
        if (error instanceof RedisAway && tries < TRIES_AT_START) continue;
        redis.close();
        if (!(error instanceof RedisAway)) throw error;
        throw new RedisAway(`the state in Redis cannot be used: ${error.message}`);
      }
    }
  }

  /** Passes on the documents, makes the first heartbeat, and then keeps or awaits the lease. */
  async start(events: ReplicaEvents): Promise<void> {
    this.#events = events;
    for (const name of this.#documents.keys()) this.#passOn(name);
    const first = this.#beat();
    this.#loop = first.then(() => this.#run());
    await first;
  }

  /** Whether this replica holds the lease, by the monotonic clock. */
  leads(): boolean {
    return this.#isLeader && this.#clock.monotonic() < this.#validUntil;
  }

  /**
   * Stops leading if the lease has run out. Called right before each request is sent, because the process may have been
   * paused. Returns whether this replica still leads.
   */
  checkLead(): boolean {
    if (!this.leads()) this.#lapse('the lease was not renewed in time');
    return this.#isLeader;
  }

  /** @throws StateOfOtherVersion; RedisAway: the document cannot be read, and could not be moved aside */
  async load<S extends z.ZodType>(name: string, schema: S): Promise<z.output<S> | undefined> {
    const known = this.#documents.get(name);
    if (!known) return undefined;
    const parsed = parseDocument(this.#redis.inWords(name), this.#version, known.text, schema);
    if (parsed.success) return parsed.data;
    const aside = `${name} ${known.revision}`;
    await this.#redis.setAside(aside, known.text);
    this.#log.warn({ document: name, moved_to: aside, why: parsed.why }, 'state not readable, starting without it');
    return undefined;
  }

  /** As `load`, but moves nothing aside. @throws StateOfOtherVersion */
  async peek<S extends z.ZodType>(name: string, schema: S): Promise<z.output<S> | undefined> {
    const known = this.#documents.get(name);
    const parsed = known && parseDocument(this.#redis.inWords(name), this.#version, known.text, schema);
    return parsed?.success ? parsed.data : undefined;
  }

  /** @throws LeaseLost: nothing was written; RedisAway: it may or may not have been written */
  async save(name: string, value: unknown): Promise<void> {
    if (!this.checkLead()) throw new LeaseLost();
    this.#writes += 1;
    const revision = `${this.#lease.term}.${String(this.#writes).padStart(10, '0')}`;
    const text = [...wrap(this.#version, value)].join('');
    if (await this.#redis.write(this.#lease.term, name, revision, text)) {
      this.#documents.set(name, { revision, text });
      return;
    }
    this.#rest('another replica has led since');
    throw new LeaseLost();
  }

  /** Stops leading, and leaves the lease to other replicas for the length of a lease. */
  resign(): void {
    this.#rest('the state cannot be read');
  }

  /** Gives the lease back, so that another replica need not wait for its end. */
  async close(): Promise<void> {
    this.#stop.abort();
    await this.#loop;
    this.#isLeader = false;
    if (!this.#isAway) await this.#redis.lease(this.#id, 0).catch(() => undefined);
    this.#redis.close();
  }

  async #run(): Promise<void> {
    const { signal } = this.#stop;
    for (;;) {
      await this.#clock.sleep(this.#timings.heartbeatMs, signal).catch(() => undefined);
      if (signal.aborted) return;
      await this.#beat();
    }
  }

  async #beat(): Promise<void> {
    this.heartbeatAt = this.#clock.monotonic();
    try {
      await this.#heartbeat(this.heartbeatAt);
      if (this.#isAway) this.#log.info('redis is reachable again');
      this.#isAway = false;
    } catch (error) {
      if (!(error instanceof RedisAway)) throw error;
      if (!this.#isAway) this.#log.error({ err: error.message }, 'redis is unreachable');
      this.#isAway = true;
    }
    this.checkLead();
  }

  async #heartbeat(sentAt: MonotonicMs): Promise<void> {
    const { ttlMs, marginMs, heartbeatMs, timeoutMs } = this.#timings;
    const { revisions, ...lease } = await this.#redis.lease(this.#id, sentAt < this.#restsUntil ? 0 : ttlMs);
    const verdict = judge(this.#id, this.#lease, lease);
    if (verdict !== 'renew') this.#lapse(verdict === 'take' ? 'the lease was lost' : 'another replica leads');
    if (verdict === 'follow') this.#log.info({ leader: lease.holder }, 'following');
    // Redis was restarted, another server took its place, or it lost everything.
    const mayHaveLostData = this.#isAway || (lease.term !== this.#lease.term && revisions.size === 0);
    this.#lease = lease;
    // Redis counts from when it received the request, which was no earlier.
    this.#validUntil = lease.holder === this.#id ? sentAt + ttlMs - marginMs : Number.NEGATIVE_INFINITY;
    await this.#writeBack(revisions);
    if (!this.#isLeader) for (const name of await this.#fetch(revisions)) this.#passOn(name);
    const now = this.#clock.monotonic();
    if (mayHaveLostData) this.#leadsFrom = now + timeoutMs + HEARTBEATS_TO_WRITE_BACK * heartbeatMs;
    const mayLead = now < this.#validUntil && now >= Math.max(this.#leadsFrom, this.#restsUntil);
    if (this.#isLeader || !mayLead || this.#stop.signal.aborted) return;
    this.#isLeader = true;
    this.#log.info({ replica: this.#id }, 'leading');
    this.#events.onLead();
  }

  /** Writes the documents that Redis lacks or has in an older revision. */
  async #writeBack(revisions: ReadonlyMap<string, string>): Promise<void> {
    for (const [name, { revision, text }] of this.#documents) {
      if (revision <= (revisions.get(name) ?? '')) continue;
      // Under the newest term, whoever has it: the revision is that of the document.
      const isWritten = await this.#redis.write(this.#lease.term, name, revision, text);
      if (isWritten) this.#log.warn({ document: name }, 'wrote back data that redis had lost');
    }
  }

  /**
   * Reads the documents that Redis has in a newer revision. Returns their names. A text may be newer than the revision
   * that was read before: the next heartbeat reads it again.
   */
  async #fetch(revisions: ReadonlyMap<string, string>): Promise<string[]> {
    const newer = [...revisions].filter(([name, revision]) => revision > (this.#documents.get(name)?.revision ?? ''));
    const texts = newer.length === 0 ? [] : await this.#redis.read(newer.map(([name]) => name));
    const read: string[] = [];
    for (const [i, [name, revision]] of newer.entries()) {
      const text = texts[i];
      // Redis has lost it since.
      if (text === undefined) continue;
      this.#documents.set(name, { revision, text });
      read.push(name);
    }
    return read;
  }

  #passOn(name: string): void {
    const opened = unwrap(this.#version, this.#documents.get(name)?.text ?? '');
    if (opened.success) this.#events.onDocument(name, opened.data);
    else this.#log.warn({ document: name, why: opened.why }, 'state not readable, still serving the previous state');
  }

  #rest(why: string): void {
    this.#lapse(why);
    this.#restsUntil = this.#clock.monotonic() + this.#timings.ttlMs;
  }

  #lapse(why: string): void {
    if (!this.#isLeader) return;
    this.#isLeader = false;
    this.#log.warn({ why }, 'no longer leading');
    this.#events.onLapse();
  }
}
