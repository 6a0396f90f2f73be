import { hash } from 'node:crypto';
import { type LuaTable, type LuaValue, list, type Script, translate } from './lua.ts';
import { commandOf } from './redis-commands.ts';
import { RedisData, RefusedByRedis, type Reply } from './redis-data.ts';
import { type HeldLease, RedisRecord } from './redis-record.ts';
import type { RedisWatch } from './redis-watch.ts';

/** What a restart leaves of the data. */
interface Restart {
  readonly keeps: 'all' | 'nothing';
}

/** The work of a script, or a single command. */
interface Run {
  readonly now: number;
  /** The lease that the script was called with. */
  readonly lease: string;
}

const translated = new Map<string, Script>();

/** A Redis server without its network. Each command is one step, and takes no time. */
export class SimulatedRedis {
  readonly record = new RedisRecord();
  watch: RedisWatch | undefined;
  /** It is a standby: it answers, but takes no writes. */
  isReadOnly = false;
  /** It is out of memory: it takes nothing that needs more. */
  isFull = false;
  readonly #world: { now(): number };
  readonly #prefix: string;
  readonly #scripts = new Set<string>();
  readonly #connections = new Set<() => void>();
  #data = new RedisData();
  #copy = new RedisData();
  #clockOffset = 0;
  #isDown = false;
  #starts = 0;

  constructor(world: { now(): number }, prefix: string) {
    this.#world = world;
    this.#prefix = prefix;
  }

  /** It refuses connections. */
  get isDown(): boolean {
    return this.#isDown;
  }

  /** Counts the processes of the server. A connection is one with the process that accepted it. */
  get starts(): number {
    return this.#starts;
  }

  /** Its wall clock, Unix ms. */
  now(): number {
    return Math.floor(this.#world.now() + this.#clockOffset);
  }

  /** Sets its wall clock. A lease lasts until a time by this clock. */
  stepClock(ms: number): void {
    this.#expire();
    this.#clockOffset += ms;
    this.watch?.onClock(ms);
    this.#expire();
  }

  /** Calls `reset` when the server closes the connection. Returns how to close it from the other end. */
  accept(reset: () => void): () => void {
    this.#connections.add(reset);
    return () => this.#connections.delete(reset);
  }

  stop(): void {
    this.#isDown = true;
    this.watch?.onDown(true);
    this.#forgetConnections();
  }

  start({ keeps }: Restart): void {
    this.#isDown = false;
    this.watch?.onDown(false);
    this.#forgetConnections();
    if (keeps === 'nothing') this.#replaceData(new RedisData());
  }

  /** It runs, takes writes, and its clock is right. */
  calm(): void {
    this.stepClock(-this.#clockOffset);
    if (this.#isDown) this.start({ keeps: 'all' });
    this.isReadOnly = false;
    this.isFull = false;
  }

  restart(how: Restart): void {
    this.stop();
    this.start(how);
  }

  /** The standby behind the same address has everything up to now. */
  copy(): void {
    this.#copy = this.#data.copy();
  }

  /** The standby takes over with what it has: the writes since the last copy are lost. */
  failover(): void {
    this.#forgetConnections();
    this.#replaceData(this.#copy.copy());
  }

  /** The text of a document, as the server has it now. */
  document(name: string): string | undefined {
    return this.#data.hash(`${this.#prefix}:documents`).get(name);
  }

  /** Runs one command. @throws RefusedByRedis */
  execute([name = '', ...args]: readonly string[]): Reply {
    this.#expire();
    try {
      const isScript = name === 'EVAL' || name === 'EVALSHA';
      return isScript ? this.#evaluate(name, args) : this.#call(this.#begin(''), name, args);
    } finally {
      this.record.see(this.#world.now(), this.#lease(), 'lost');
    }
  }

  #begin(lease: string): Run {
    return { now: this.now(), lease };
  }

  #evaluate(name: string, [text = '', count = '0', ...rest]: readonly string[]): Reply {
    const sha = name === 'EVAL' ? hash('sha1', text) : text;
    if (name === 'EVAL') this.#scripts.add(sha);
    else if (!this.#scripts.has(sha)) throw new RefusedByRedis('NOSCRIPT No matching script. Please use EVAL.');
    const script = translated.get(sha) ?? translate(text);
    translated.set(sha, script);
    const [keys, args] = [rest.slice(0, Number(count)), rest.slice(Number(count))];
    const run = this.#begin(args[0] ?? '');
    const call = (command: LuaValue, ...values: LuaValue[]): LuaValue =>
      toLua(this.#call(run, argument(command), values.map(argument)));
    try {
      return fromLua(script({ keys: list(keys), args: list(args), call }));
    } catch (error) {
      throw error instanceof RefusedByRedis ? error : new RefusedByRedis(`ERR ${String(error)} script: ${sha}`);
    }
  }

  #call(run: Run, name: string, args: readonly string[]): Reply {
    const command = commandOf(name);
    if (command.writes && this.isReadOnly) {
      throw new RefusedByRedis("READONLY You can't write against a read only replica.");
    }
    if (command.grows && this.isFull) {
      throw new RefusedByRedis("OOM command not allowed when used memory > 'maxmemory'.");
    }
    const reply = command.run(this.#data, run.now, args);
    this.#note(run, name, args);
    return reply;
  }

  /** A document comes before its revision. */
  #note({ lease }: Run, name: string, [key, document = '', text = '']: readonly string[]): void {
    if (name !== 'HSET') return;
    const { writes } = this.record;
    const at = this.#world.now();
    if (key === `${this.#prefix}:documents`) {
      writes.push({ at, lease, held: this.#lease()?.value, name: document, revision: '' });
    }
    const last = writes.at(-1);
    if (key === `${this.#prefix}:revisions` && last?.name === document)
      writes[writes.length - 1] = { ...last, revision: text };
  }

  #lease(): HeldLease | undefined {
    const stored = this.#data.get(`${this.#prefix}:lease`);
    if (!stored) return undefined;
    return { value: typeof stored.value === 'string' ? stored.value : '', expiresAt: stored.expiresAt };
  }

  #expire(): void {
    const lease = this.#lease();
    this.#data.expire(this.now());
    // What has expired in the meantime did so at its time, even if nobody asked.
    const at = Math.min(this.#world.now(), (lease?.expiresAt ?? Number.POSITIVE_INFINITY) - this.#clockOffset);
    if (lease && !this.#lease()) this.record.see(at, undefined, 'expired');
  }

  #replaceData(data: RedisData): void {
    this.#expire();
    const before = [this.#revision(), this.#lease()?.value] as const;
    this.#data = data;
    this.record.losses += 1;
    this.record.lostAt = this.#world.now();
    this.#expire();
    this.watch?.onLoss([before[0], this.#revision()], before[1], this.#lease() !== undefined);
    this.record.see(this.#world.now(), this.#lease(), 'lost');
  }

  #revision(): number {
    return Number(this.#data.hash(`${this.#prefix}:meta`).get('revision') ?? 0);
  }

  /** Another process of the server knows neither connections nor scripts. */
  #forgetConnections(): void {
    this.#starts += 1;
    this.#scripts.clear();
    for (const reset of this.#connections) reset();
    this.#connections.clear();
  }
}

function argument(value: LuaValue): string {
  if (typeof value !== 'string')
    throw new RefusedByRedis('ERR Lua redis lib command arguments must be strings or integers');
  return value;
}

function toLua(reply: Reply): LuaValue {
  if (reply === null) return false;
  if (typeof reply !== 'object') return reply;
  return 'status' in reply ? new Map([['ok', reply.status]]) : list(reply.map(toLua));
}

function fromLua(value: LuaValue): Reply {
  if (value === undefined || value === false) return null;
  if (value === true) return 1;
  if (typeof value === 'number') return Math.trunc(value);
  return typeof value === 'string' ? value : listed(value);
}

/** A list ends at its first nil. */
function listed(table: LuaTable): Reply[] {
  const replies: Reply[] = [];
  for (let value = table.get(1); value !== undefined; value = table.get(replies.length + 1))
    replies.push(fromLua(value));
  return replies;
}
