import { randomBytes } from 'node:crypto';
import { hostname } from 'node:os';
import type * as z from 'zod';
import type { Clock } from '../lib/clock.ts';
import type { Logger } from '../lib/log.ts';
import type { MonotonicMs } from '../lib/time.ts';
import { wrap } from '../state/envelope.ts';
import type { StateStore } from '../state/store.ts';
import { type Decision, decide, type Known, LOST_WRITES } from './decide.ts';
import { SharedDocuments } from './documents.ts';
import {
  afterReply,
  isValid,
  LEASE_TIMINGS,
  type Lease,
  LeaseLost,
  type LeaseTimings,
  NO_LEASE,
  type Takeable,
  takeable,
} from './lease.ts';
import { LeaseLog } from './lease-log.ts';
import type { HeartbeatReply, HeartbeatRequest, RedisState } from './redis.ts';
import { ServerClock } from './server-clock.ts';
import type { Subscriber } from './subscriber.ts';

/** The wait after a failed write: a server that is full is not asked twice a second. */
const REWRITE_AFTER_MS = 5_000;

export interface ReplicaOptions {
  readonly timings?: LeaseTimings | undefined;
  /** Names the replica in the lease; no other process may have the same. */
  readonly id?: string | undefined;
}

/** One of several processes that share the state in one Redis. One of them leads and writes it; the others read it. */
export class Replica implements StateStore {
  /** Provides the time of the server. */
  readonly clock: ServerClock;
  /** Names this replica in the lease. */
  readonly id: string;
  readonly #redis: RedisState;
  readonly #documents: SharedDocuments;
  readonly #log: Logger;
  readonly #leaseLog: LeaseLog;
  readonly #timings: LeaseTimings;
  readonly #stop = new AbortController();
  #lease: Lease = NO_LEASE;
  #isLeader = false;
  #isAway = false;
  /** When everything is written again after a failed write. */
  #rewriteAt: MonotonicMs = Number.POSITIVE_INFINITY;
  #writeFailures = 0;
  #heartbeatAt: MonotonicMs;
  #subscriber: Subscriber | undefined;
  #onRoleChange: () => void = () => undefined;
  #loop: Promise<void> = Promise.resolve();

  constructor(redis: RedisState, clock: Clock, log: Logger, options: ReplicaOptions = {}) {
    const { timings = LEASE_TIMINGS, id = uniqueId() } = options;
    this.clock = new ServerClock(clock);
    this.id = id;
    this.#redis = redis;
    this.#documents = new SharedDocuments(redis, log);
    this.#log = log;
    this.#leaseLog = new LeaseLog(log);
    this.#timings = timings;
    this.#heartbeatAt = clock.monotonic();
  }

  /**
   * Whether this replica may poll. Asked again right before each request is sent: while the process was paused, the lease
   * may have run out.
   */
  leads(): boolean {
    if (this.#isLeader && !isValid(this.#lease, this.clock.monotonic())) this.#lapse('lease not renewed in time');
    return this.#isLeader;
  }

  /** When the last heartbeat began. */
  get heartbeatAt(): MonotonicMs {
    return this.#heartbeatAt;
  }

  get writeFailures(): number {
    return this.#writeFailures;
  }

  /** Replaces the subscriber. `missing` are wanted documents of which it has nothing yet. Returns how to unsubscribe. */
  subscribe(subscriber: Subscriber, missing: readonly string[]): () => void {
    this.#subscriber = subscriber;
    this.#documents.forget(missing);
    return () => {
      if (this.#subscriber === subscriber) this.#subscriber = undefined;
    };
  }

  /** Keeps or awaits the lease from now on. `onRoleChange` is called whenever this replica begins or ceases to lead. */
  start(onRoleChange: () => void): void {
    this.#onRoleChange = onRoleChange;
    this.#loop = this.#run();
  }

  /** Fetches what the subscriber wants. @throws RedisAway */
  refresh(): Promise<void> {
    return this.#heartbeat('never');
  }

  /** @throws RedisAway; StateOfOtherVersion */
  async load<S extends z.ZodType>(name: string, schema: S): Promise<z.output<S> | undefined> {
    const loaded = await this.#documents.load(name, schema);
    if (!loaded || loaded.success) return loaded?.data;
    const moved_to = `${name}.unreadable-${loaded.revision}`;
    this.#log.warn({ document: name, moved_to, why: loaded.why }, 'state not readable, starting without it');
    await this.#write(moved_to, loaded.text);
    return undefined;
  }

  /** @throws LeaseLost; RedisAway: then it may or may not have been written. */
  async save(name: string, value: unknown): Promise<void> {
    if (!this.leads()) throw new LeaseLost();
    try {
      await this.#write(name, wrap(value));
    } catch (error) {
      this.#writeFailures += 1;
      this.#rewriteAt = this.clock.monotonic() + REWRITE_AFTER_MS;
      throw error;
    }
  }

  /** Stops leading, and lets the lease run out. */
  resign(): void {
    if (this.#isLeader) this.#lapse('cannot lead');
    this.#lease = NO_LEASE;
  }

  /** Gives the lease back, so that another replica need not wait for its end. */
  async close(): Promise<void> {
    this.#stop.abort();
    await this.#loop;
    const release = (): Promise<void> => this.#redis.release(this.#lease.value);
    // Twice: the first may find out that the connection is dead.
    if (this.#isLeader && !this.#isAway)
      await release()
        .catch(release)
        .catch(() => undefined);
    this.#redis.close();
  }

  async #run(): Promise<void> {
    const { signal } = this.#stop;
    while (!signal.aborted) {
      this.#heartbeatAt = this.clock.monotonic();
      const take = takeable(this.#lease, this.#heartbeatAt, this.#redis.connection, this.#timings);
      await this.#heartbeat(take).catch(() => undefined);
      // Stops leading if the lease has run out without an answer.
      this.leads();
      await this.clock.sleep(this.#timings.heartbeatMs, signal).catch(() => undefined);
    }
  }

  async #heartbeat(take: Takeable): Promise<void> {
    const subscriber = this.#subscriber;
    const wanted = this.#isLeader ? [] : (subscriber?.wanted ?? []);
    const canLead = this.#isLeader || wanted.length > 0;
    const newestRevision = this.#documents.newest;
    const sentAt = this.clock.monotonic();
    const reply = await this.#send({
      // This also holds after it seemed to have expired: as long as Redis still has it, no other replica has held it.
      lease: this.#lease.value,
      id: this.id,
      ttlMs: this.#timings.ttlMs,
      take: canLead ? take : 'never',
      wanted: this.#documents.revisionsOf(wanted),
    });
    this.clock.observe(reply.now, this.clock.monotonic() - sentAt);
    const values = this.#documents.receive(reply);
    if (values.size > 0) subscriber?.apply(values);
    this.#onReply(reply, { sentAt, newestRevision, canLead: canLead && subscriber === this.#subscriber });
  }

  #onReply(reply: HeartbeatReply, sent: Pick<Known, 'newestRevision' | 'canLead'> & { sentAt: MonotonicMs }): void {
    const wasAway = this.#isAway;
    this.#isAway = false;
    if (wasAway) this.#log.info('redis is reachable again');
    const { status, lease: value, leftMs } = reply;
    const { sentAt, newestRevision, canLead } = sent;
    const now = this.clock.monotonic();
    const seen = { status, value, leftMs, sentAt, receivedAt: now, connection: this.#redis.connection };
    this.#lease = afterReply(this.#lease, seen, this.#timings);
    const isUnwritten = wasAway || now >= this.#rewriteAt;
    this.#act(decide(this.#lease, reply, { isLeader: this.#isLeader, canLead, newestRevision, isUnwritten, now }));
    this.#leaseLog.tell(status, value);
  }

  async #send(request: HeartbeatRequest): Promise<HeartbeatReply> {
    try {
      return await this.#redis.heartbeat(request);
    } catch (error) {
      if (!this.#isAway) this.#log.error({ err: String(error) }, 'redis is unreachable');
      this.#isAway = true;
      throw error;
    }
  }

  #act(decision: Decision): void {
    if (decision.action === 'lead') this.#lead();
    if (decision.action === 'lapse') this.#lapse(decision.why);
    if (decision.action === 'rewrite') this.#rewrite(decision.why);
  }

  #lead(): void {
    this.#isLeader = true;
    this.#log.info({ replica: this.id }, 'leading');
    this.#onRoleChange();
  }

  #lapse(why: string): void {
    this.#lease = { ...this.#lease, validUntil: Number.NEGATIVE_INFINITY };
    this.#isLeader = false;
    this.#log.warn({ why }, 'no longer leading');
    this.#subscriber?.onLapse();
    this.#onRoleChange();
  }

  #rewrite(why: string): void {
    this.#rewriteAt = Number.POSITIVE_INFINITY;
    this.#log.warn(why);
    this.#subscriber?.rewrite();
  }

  /** @throws LeaseLost, RedisAway */
  async #write(name: string, text: string): Promise<void> {
    try {
      const hasLostWrites = await this.#documents.write(this.#lease.value, name, text);
      if (hasLostWrites) this.#rewrite(LOST_WRITES);
    } catch (error) {
      if (error instanceof LeaseLost && this.#isLeader) this.#lapse('another replica leads');
      throw error;
    }
  }
}

/** Tells where it runs, for the log. */
function uniqueId(): string {
  return `${hostname()}-${process.pid}-${randomBytes(4).toString('hex')}`;
}
