import { randomBytes } from 'node:crypto';
import { hostname } from 'node:os';
import type { z } from 'zod';
import type { Clock } from '../lib/clock.ts';
import type { Logger } from '../lib/log.ts';
import { open, parseValue, wrap } from '../state/envelope.ts';
import type { Documents } from '../state/file.ts';
import {
  afterSight,
  isValid,
  LEASE_TERMS,
  type Lease,
  LeaseLost,
  type LeaseTerms,
  mayTake,
  NO_LEASE,
} from './lease.ts';
import type { Member } from './member.ts';
import type { Beat, RedisState, Stored } from './redis.ts';
import { ServerClock } from './server-clock.ts';

/** After a failed write, so that a server that is full is not asked every half second. */
const REWRITE_AFTER_MS = 5_000;
const LOST_WRITES = 'redis has lost writes, writing everything again';

/** One of several processes on the state in one Redis: keeps or awaits the lease, and reads or writes the documents. */
export class Replica implements Documents {
  /** By the time of the server. */
  readonly clock: ServerClock;
  /** Who we are in the lease. */
  readonly id = `${hostname()}-${process.pid}-${randomBytes(4).toString('hex')}`;
  readonly #state: RedisState;
  readonly #log: Logger;
  readonly #terms: LeaseTerms;
  /** Of the documents that this process has read or written. */
  readonly #revisions = new Map<string, number>();
  readonly #stop = new AbortController();
  #newest = 0;
  #lease: Lease = NO_LEASE;
  #isLeader = false;
  #isAway = false;
  #rewriteAt = Number.POSITIVE_INFINITY;
  /** Of the last beat, so that each change is told once. */
  #seen = '';
  #heartbeatAt: number;
  #writeFailures = 0;
  #member: Member | undefined;
  #onRole: () => void = () => undefined;
  #beating: Promise<void> = Promise.resolve();

  constructor(state: RedisState, clock: Clock, log: Logger, terms: LeaseTerms = LEASE_TERMS) {
    this.clock = new ServerClock(clock);
    this.#state = state;
    this.#log = log;
    this.#terms = terms;
    this.#heartbeatAt = clock.monotonic();
  }

  /** Whether this one polls. Asked right before each request leaves: after a pause the lease may have run out unnoticed. */
  leads(): boolean {
    if (this.#isLeader && !isValid(this.#lease, this.clock.monotonic())) this.#lapse('lease not prolonged in time');
    return this.#isLeader;
  }

  /** Monotonic ms of the last time the loop was alive. */
  get heartbeatAt(): number {
    return this.#heartbeatAt;
  }

  get writeFailures(): number {
    return this.#writeFailures;
  }

  /** Runs on the state from now on; of the `missing` documents it has nothing yet. Returns how to leave. */
  join(member: Member, missing: readonly string[]): () => void {
    this.#member = member;
    for (const name of missing) this.#revisions.delete(name);
    return () => {
      if (this.#member === member) this.#member = undefined;
    };
  }

  /** Keeps or awaits the lease from now on; `onRole` is told whenever it came or went. */
  start(onRole: () => void): void {
    this.#onRole = onRole;
    this.#beating = this.#run();
  }

  /** Fetches what the member wants. @throws RedisAway */
  readonly look = (): Promise<void> => this.#beat('never');

  /** @throws RedisAway; Error where it is of a newer version, which is not to be overwritten. */
  async load<S extends z.ZodType>(name: string, schema: S): Promise<z.output<S> | undefined> {
    const stored = await this.#state.load(name);
    if (!stored) return undefined;
    this.#revisions.set(name, stored.revision);
    const opened = open(stored.text);
    const parsed = opened.success ? parseValue(opened.value, schema) : opened;
    if (parsed.success) return parsed.data;
    if (!opened.success && opened.isNewer) throw new Error(opened.why);
    const moved_to = `${name}.unreadable-${stored.revision}`;
    this.#log.warn({ document: name, moved_to, why: parsed.why }, 'state not readable, starting without it');
    await this.#write(moved_to, stored.text);
    return undefined;
  }

  /** @throws LeaseLost; RedisAway: then it may or may not have been written. */
  async save(name: string, value: unknown): Promise<void> {
    if (!this.leads()) throw new LeaseLost();
    try {
      this.#revisions.set(name, await this.#write(name, wrap(value)));
    } catch (error) {
      this.#writeFailures += 1;
      this.#rewriteAt = this.clock.monotonic() + REWRITE_AFTER_MS;
      throw error;
    }
  }

  /** Does without the lease, which runs out. */
  resign(): void {
    if (this.#isLeader) this.#lapse('not able to lead');
    this.#lease = NO_LEASE;
  }

  /** Gives the lease back, so that another replica need not wait for its end. */
  async close(): Promise<void> {
    this.#stop.abort();
    await this.#beating;
    const release = (): Promise<void> => this.#state.release(this.#lease.value);
    // Twice: the first may find out that the connection is dead.
    if (this.#isLeader && !this.#isAway)
      await release()
        .catch(release)
        .catch(() => undefined);
    this.#state.close();
  }

  async #run(): Promise<void> {
    const { signal } = this.#stop;
    while (!signal.aborted) {
      this.#heartbeatAt = this.clock.monotonic();
      const taking = mayTake(this.#lease, this.clock.monotonic(), this.#state.connection, this.#terms);
      await this.#beat(taking).catch(() => undefined);
      // Without an answer the lease may have run out.
      this.leads();
      await this.clock.sleep(this.#terms.beatMs, signal).catch(() => undefined);
    }
  }

  async #beat(taking: 'never' | 'released' | 'free'): Promise<void> {
    const sentAt = this.clock.monotonic();
    const newest = this.#newest;
    const member = this.#member;
    const wanted = this.#isLeader ? [] : (member?.wanted ?? []);
    const mayLead = wanted.length > 0 || this.#isLeader;
    let beat: Beat;
    try {
      beat = await this.#state.beat({
        // Also after it seemed to have run out: as long as it stands there, nobody else has had it.
        lease: this.#lease.value,
        id: this.id,
        ttlMs: this.#terms.ttlMs,
        taking: mayLead ? taking : 'never',
        wanted: new Map(wanted.map((name) => [name, this.#revisions.get(name) ?? 0])),
      });
    } catch (error) {
      if (!this.#isAway) this.#log.error({ err: String(error) }, 'redis is away');
      this.#isAway = true;
      throw error;
    }
    this.clock.observe(beat.now, this.clock.monotonic() - sentAt);
    this.#apply(member, beat.changed);
    this.#newest = Math.max(this.#newest, beat.revision);
    this.#settle(beat, { sentAt, newest, mayLead: mayLead && member === this.#member });
  }

  #settle(
    { standing, lease: value, revision }: Beat,
    { sentAt, newest, mayLead }: { sentAt: number; newest: number; mayLead: boolean },
  ): void {
    const wasAway = this.#isAway;
    this.#isAway = false;
    if (wasAway) this.#log.info('redis is back');
    this.#lease = afterSight(this.#lease, { standing, value, sentAt, connection: this.#state.connection }, this.#terms);
    const holds = isValid(this.#lease, this.clock.monotonic());
    // Taken anew, after others may have written what this process has not read.
    const isBehind = standing === 'taken' && revision > newest;
    if (this.#isLeader && (!holds || isBehind))
      this.#lapse(standing === 'other' ? 'another replica leads' : 'lease lost');
    else if (!this.#isLeader && holds && mayLead) this.#change(true);
    else if (this.#isLeader && revision < newest) this.#doubt(LOST_WRITES);
    else if (this.#isLeader && (wasAway || this.clock.monotonic() >= this.#rewriteAt))
      this.#doubt('writing what is not written');
    this.#tell(standing, value);
  }

  #tell(standing: Beat['standing'], value: string): void {
    const before = this.#seen;
    this.#seen = `${standing === 'newer'} ${value}`;
    if (this.#seen === before) return;
    const [, leader] = value.split(' ');
    if (standing === 'other' && leader) this.#log.info({ leader }, 'following');
    else if (standing === 'other') this.#log.warn('the lease in Redis is not of a replica, waiting until it expires');
    if (standing === 'newer') this.#log.warn('the state is of a newer version of the program, not leading');
  }

  #lapse(why: string): void {
    this.#lease = { ...this.#lease, validUntil: Number.NEGATIVE_INFINITY };
    this.#change(false, why);
  }

  #change(isLeader: boolean, why?: string): void {
    this.#isLeader = isLeader;
    if (isLeader) this.#log.info({ replica: this.id }, 'leading');
    else this.#log.warn({ why }, 'no longer leading');
    if (!isLeader) this.#member?.onLapse();
    this.#onRole();
  }

  #doubt(why: string): void {
    this.#rewriteAt = Number.POSITIVE_INFINITY;
    this.#log.warn(why);
    this.#member?.onDoubt();
  }

  /** @throws LeaseLost, RedisAway */
  async #write(name: string, text: string): Promise<number> {
    const newest = this.#newest;
    const written = await this.#state.write(this.#lease.value, newest, name, text);
    if (!written) {
      if (this.#isLeader) this.#lapse('another replica leads');
      throw new LeaseLost();
    }
    this.#newest = Math.max(this.#newest, written.revision);
    if (written.before < newest) this.#doubt(LOST_WRITES);
    return written.revision;
  }

  /** Hands what is newer to the member; what cannot be read leaves the last as it was. */
  #apply(member: Member | undefined, changed: readonly Stored[]): void {
    const values = new Map<string, unknown>();
    for (const { name, revision, text } of changed) {
      this.#revisions.set(name, revision);
      const opened = open(text);
      if (opened.success) values.set(name, opened.value);
      else this.#log.warn({ document: name, why: opened.why }, 'state not readable, the last is shown');
    }
    if (values.size > 0) member?.apply(values);
  }
}
