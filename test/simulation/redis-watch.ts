import { LEASE_TIMINGS } from '../../src/replica/lease.ts';
import type { SimulatedRedis } from './redis.ts';
import { ownerOf, type Term } from './redis-record.ts';
import type { RareState } from './sometimes.ts';
import type { World } from './world.ts';

const { ttlMs, graceMs, heartbeatMs } = LEASE_TIMINGS;

/** A command as the scripts of the program send it: EVALSHA, digest, keys, then arguments. */
function argumentsOf(command: readonly string[]): readonly string[] {
  return command.slice(3 + Number(command[2] ?? 0));
}

/** A write has the lease, the version, the known revision, a name, a text and its number. */
function isWrite(args: readonly string[]): boolean {
  return args.length === 6 && (args[4] ?? '').startsWith('{');
}

/** Notices the rare states of Redis and of those who use it. */
export class RedisWatch {
  readonly #redis: SimulatedRedis;
  readonly #world: World;
  readonly #reach: (state: RareState) => void;
  #downSince = Number.POSITIVE_INFINITY;
  /** Who lost documents that it had written. */
  #loser = '';
  #isReplaced = false;
  #asked = { by: '', at: Number.NEGATIVE_INFINITY };

  #beforeWrite: (() => void) | undefined;
  #afterWrite: (() => void) | undefined;

  constructor(redis: SimulatedRedis, world: World) {
    this.#redis = redis;
    this.#world = world;
    this.#reach = (state) => world.reach(state);
    redis.record.onTerm = (before, now) => this.#onTerm(before, now);
  }

  /** A command leaves a process. Returns what is told of its way. */
  onCommand(command: readonly string[]): { arrived(): void; executed(reply: unknown): void; unanswered(): void } {
    const { record } = this.#redis;
    const args = argumentsOf(command);
    const [lease, by = ''] = args;
    const [term, losses] = [record.term, record.losses];
    const wasValid = isWrite(args) && term !== undefined && term.value === lease;
    if (!isWrite(args) && args.length > 5) this.#onHeartbeat(by, args[4]);
    let isTaken = false;
    return {
      arrived: () => {
        if (!isWrite(args)) return;
        const act = this.#beforeWrite;
        this.#beforeWrite = undefined;
        act?.();
      },
      executed: (reply) => {
        if (reply === 'NOSCRIPT' && this.#isReplaced) this.#reach('a script unknown after a failover');
        if (!isWrite(args) || !Array.isArray(reply)) return;
        this.#afterWrite?.();
        this.#afterWrite = undefined;
        isTaken = reply[0] !== '';
        if (isTaken && lease === this.#loser) this.#reach('lost writes made good');
        if (isTaken) this.#loser = '';
        if (!wasValid || isTaken) return;
        this.#reach('a lease lost in the middle of a write');
        if (term?.end === 'expired') this.#reach('a write under way at the end of its lease');
      },
      unanswered: () => {
        if (isTaken) this.#reach('a write whose answer was lost');
        if (isWrite(args) && record.losses > losses) this.#reach('a failover while a write is under way');
      },
    };
  }

  /** Calls `act` when the next write arrives, before it has its effect. */
  onceWriting(act: () => void): void {
    this.#beforeWrite = act;
  }

  /** Calls `act` when the next write has had its effect, before its answer. */
  onceWritten(act: () => void): void {
    this.#afterWrite = act;
  }

  /** Its wall clock is set. Those who use it follow its clock. */
  onClock(byMs: number): void {
    const { hosts, traffic, clock } = this.#world;
    if (byMs !== 0) for (const { name } of hosts) traffic.note({ kind: 'step', at: clock.now(), host: name, byMs });
  }

  /** It stops, or starts again. */
  onDown(isDown: boolean): void {
    const now = this.#world.clock.now();
    if (isDown) this.#downSince = now;
    else if (now - this.#downSince > ttlMs) this.#reach('redis away for everyone');
  }

  /** Another copy takes over, or a restart has lost the data. */
  onLoss(revisions: readonly [before: number, after: number], hadLease: string | undefined, hasLease: boolean): void {
    this.#isReplaced = true;
    if (hadLease !== undefined && !hasLease && this.#ownerRuns(hadLease)) this.#reach('a failover that lost the lease');
    if (revisions[1] >= revisions[0]) return;
    this.#reach('a failover to older documents');
    this.#loser = hadLease ?? '';
  }

  #onHeartbeat(by: string, take: string | undefined): void {
    if (take !== 'free') return;
    const at = this.#world.clock.now();
    if (by !== this.#asked.by && at - this.#asked.at <= heartbeatMs) this.#reach('two processes after one lease');
    this.#asked = { by, at };
  }

  #onTerm(before: Term | undefined, term: Term): void {
    const [last, next] = [ownerOf(before?.value), ownerOf(term.value)];
    if (before?.until === undefined || next === '') return;
    const isOther = last !== next;
    if (before.end === 'released' && isOther) this.#reach('a lease given back');
    if (before.end !== 'expired') return;
    if (!isOther) this.#reach('a lease taken again by its last holder');
    if (isOther && term.from - before.until >= graceMs) this.#reach('a lease taken after the grace');
    if (isOther && this.#ownerRuns(before.value) && this.#world.host(last.split('-')[0] ?? '').redisNetwork.isCut)
      this.#reach('a leader cut off');
  }

  #ownerRuns(lease: string): boolean {
    const [host = '', number] = ownerOf(lease).split('-');
    const { process } = this.#world.host(host);
    return process?.number === Number(number);
  }
}
