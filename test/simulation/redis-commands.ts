import { type RedisData, RefusedByRedis, type Reply } from './redis-data.ts';

interface Command {
  /** A standby refuses it. */
  readonly writes?: true;
  /** A server that is out of memory refuses it. */
  readonly grows?: true;
  /** @param now The wall clock of the server in whole ms. */
  run(data: RedisData, now: number, args: readonly string[]): Reply;
}

const OK = { status: 'OK' };

/** The commands of our scripts, and some with which others meddle. */
const COMMANDS: Readonly<Record<string, Command>> = {
  TIME: { run: (_, now) => [String(Math.floor(now / 1000)), String((now % 1000) * 1000)] },
  TYPE: { run: (data, _, [key = '']) => ({ status: typeOf(data.get(key)?.value) }) },
  GET: { run: (data, _, [key = '']) => data.text(key) ?? null },
  SET: { writes: true, grows: true, run: set },
  DEL: { writes: true, run: (data, _, keys) => keys.filter((key) => data.delete(key)).length },
  PTTL: { run: pttl },
  PEXPIRE: { writes: true, run: pexpire },
  PERSIST: { writes: true, run: persist },
  HGET: { run: (data, _, [key = '', field = '']) => data.hash(key).get(field) ?? null },
  HMGET: {
    run: (data, _, [key = '', ...fields]) => {
      const hash = data.hash(key);
      return fields.map((field) => hash.get(field) ?? null);
    },
  },
  HGETALL: { run: (data, _, [key = '']) => [...data.hash(key)].flat() },
  HSET: { writes: true, grows: true, run: (data, _, [key = '', ...rest]) => data.setFields(key, pairs(rest)) },
  HDEL: { writes: true, run: (data, _, [key = '', ...fields]) => data.deleteFields(key, fields) },
};

/** @throws RefusedByRedis */
export function commandOf(name: string): Command {
  const command = COMMANDS[name.toUpperCase()];
  if (!command) throw new RefusedByRedis(`ERR unknown command '${name}'`);
  return command;
}

function typeOf(value: unknown): string {
  if (value === undefined) return 'none';
  return typeof value === 'string' ? 'string' : 'hash';
}

function set(data: RedisData, now: number, [key = '', value = '', option, time = '']: readonly string[]): Reply {
  if (option === undefined) data.set(key, { value });
  else if (option.toUpperCase() !== 'PX') throw new RefusedByRedis('ERR syntax error');
  else {
    const ms = wholeNumber(time);
    if (ms <= 0) throw new RefusedByRedis("ERR invalid expire time in 'set' command");
    data.set(key, { value, expiresAt: now + ms });
  }
  return OK;
}

function pttl(data: RedisData, now: number, [key = '']: readonly string[]): Reply {
  const stored = data.get(key);
  if (!stored) return -2;
  return stored.expiresAt === undefined ? -1 : stored.expiresAt - now;
}

function pexpire(data: RedisData, now: number, [key = '', time = '']: readonly string[]): Reply {
  const ms = wholeNumber(time);
  const stored = data.get(key);
  if (!stored) return 0;
  if (ms > 0) data.set(key, { ...stored, expiresAt: now + ms });
  else data.delete(key);
  return 1;
}

function persist(data: RedisData, _: number, [key = '']: readonly string[]): Reply {
  const stored = data.get(key);
  if (stored?.expiresAt === undefined) return 0;
  data.set(key, { value: stored.value });
  return 1;
}

function wholeNumber(text: string): number {
  if (!/^-?\d+$/.test(text)) throw new RefusedByRedis('ERR value is not an integer or out of range');
  return Number(text);
}

function pairs(fields: readonly string[]): [string, string][] {
  if (fields.length === 0 || fields.length % 2 !== 0) {
    throw new RefusedByRedis("ERR wrong number of arguments for 'hset' command");
  }
  return fields.flatMap((field, i) => (i % 2 === 0 ? [[field, fields[i + 1] ?? '']] : []));
}
