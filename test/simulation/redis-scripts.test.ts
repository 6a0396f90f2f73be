import { hash } from 'node:crypto';
import { createClient } from '@redis/client';
import { describe, expect, it } from 'vitest';
import { CHECK_WRITABLE, HEARTBEAT, RELEASE, WRITE } from '../../src/replica/redis-scripts.ts';
import { atTheEnd } from '../support/cleanup.ts';
import { startRedis } from '../support/redis.ts';
import { areMissing, REDIS } from '../support/tools.ts';
import { Random } from './random.ts';
import { SimulatedRedis } from './redis.ts';

const KEYS = ['p:lease', 'p:meta', 'p:documents', 'p:revisions'] as const;
const [LEASE, META, DOCUMENTS, REVISIONS] = KEYS;
const SEQUENCES = 300;
const STEPS = 20;
/** No lease of the real server ends during the test: the time that passes there is not that of the model. */
const TTLS = ['100000', '9000000'] as const;
const ODD = ['', 'x', 'nan', 'inf', '-inf', '-5', '0x1F', ' 7 ', '1e3', '2.5', '3.5', '99999999999999999'] as const;

type Send = (...args: string[]) => Promise<unknown>;

/** What a command returns, or the first word of the refusal. */
async function outcome(run: () => unknown): Promise<unknown> {
  try {
    return JSON.stringify(await run());
  } catch (error) {
    return `refused: ${error instanceof Error ? error.message.split(' ')[0] : error}`;
  }
}

/** The text of a script that reads this time, as Redis itself cannot be given one. */
function at(now: number, script: string): string {
  const time = `{'${Math.floor(now / 1000)}', '${(now % 1000) * 1000}'}`;
  return `local server = redis
local redis = {call = function(name, ...) if name == 'TIME' then return ${time} end return server.call(name, ...) end}
${script}`;
}

/** The time to live of another's lease goes by the clock of each server; that there is one must be the same. */
function withoutLeft(reply: unknown): string {
  return String(reply).replace(/^(\["other","[^"]*",")[1-9]\d*"/, '$1above 0"');
}

class Comparison {
  readonly #real: Send;
  readonly #random: Random;
  readonly #world = { now: () => this.#now };
  readonly #model = new SimulatedRedis(this.#world, 'p');
  readonly told: string[] = [];
  #now = Date.now();

  constructor(real: Send, random: Random) {
    this.#real = real;
    this.#random = random;
  }

  async step(): Promise<void> {
    this.#now += this.#random.between(0, 20);
    const random = this.#random;
    const script = (): Promise<void> => this.#script();
    const step = random.pick([
      script,
      script,
      script,
      script,
      script,
      script,
      () => this.#both(this.#meddling()),
      () => this.#both(this.#meddling()),
      () => this.#expire(),
      () => this.#setFull(random.happens(0.4)),
      () => this.#setReadOnly(random.happens(0.4)),
    ]);
    await step();
    await this.#compareData();
  }

  async clear(): Promise<void> {
    await this.#setFull(false);
    await this.#setReadOnly(false);
    await this.#real('FLUSHALL');
  }

  async #script(): Promise<void> {
    const [script, args] = this.#call();
    const keys = script === CHECK_WRITABLE ? [META] : script === RELEASE ? [LEASE] : KEYS;
    const rest = [String(keys.length), ...keys, ...args];
    this.told.push(`${script === HEARTBEAT ? 'heartbeat' : script === WRITE ? 'write' : 'other'} ${args.join(',')}`);
    const expected = await outcome(() => this.#real('EVAL', at(this.#now, script), ...rest));
    const load = await outcome(() => this.#model.execute(['EVAL', script, ...rest]));
    expect(withoutLeft(load), this.told.join('\n')).toBe(withoutLeft(expected));
  }

  #call(): [string, string[]] {
    const random = this.#random;
    const held = String(this.#model.record.term?.value ?? '');
    const lease = random.pick([held, held, held, held, held, held, held, held, '', '17 gone', 'released', 'garbage']);
    const number = random.pick(['0', String(this.#now), String(this.#now + 10_000), random.pick(ODD)]);
    const names = random.some(['a', 'b', 'c']).flatMap((name) => [name, random.pick(['0', number])]);
    const take = random.pick(['never', 'released', 'own', 'free', 'free']);
    const version = random.pick(['1', '1', '2']);
    const name = random.pick(['a', 'b', 'c']);
    return random.pick<[string, string[]]>([
      [HEARTBEAT, [lease, random.pick(['one', 'two']), random.pick(TTLS), version, take, number, ...names]],
      [WRITE, [lease, version, number, name, `{"version":1,"value":${number || 0}}`, random.pick(['1', '2', '3'])]],
      [random.pick([RELEASE, RELEASE, RELEASE, WRITE]), [lease]],
      [CHECK_WRITABLE, []],
    ]);
  }

  #meddling(): string[] {
    const random = this.#random;
    const text = random.pick(['', 'garbage', '17 gone', 'released']);
    return random.pick([
      ['SET', LEASE, text],
      ['SET', LEASE, text, 'PX', random.pick(['9000000', '9000000000', '0', 'x'])],
      ['SET', random.pick(KEYS), text],
      ['HSET', random.pick(KEYS), 'gar', 'bage'],
      ['HSET', META, random.pick(['token', 'revision', 'version', 'write of a', 'lease of b']), random.pick(ODD)],
      ['HSET', REVISIONS, random.pick(['a', 'b']), random.pick(ODD)],
      ['HDEL', DOCUMENTS, random.pick(['a', 'b'])],
      ['DEL', random.pick(KEYS)],
      ['PERSIST', LEASE],
      ['PEXPIRE', LEASE, random.pick(['9000000', '-1', 'x'])],
    ]);
  }

  async #both(args: readonly string[]): Promise<void> {
    this.told.push(args.join(' '));
    const [expected, model] = [
      await outcome(() => this.#real(...args)),
      await outcome(() => this.#model.execute(args)).then((reply) => (reply === '{"status":"OK"}' ? '"OK"' : reply)),
    ];
    expect(model, this.told.join('\n')).toBe(expected);
  }

  async #expire(): Promise<void> {
    const left = Number(this.#model.execute(['PTTL', LEASE]));
    if (left < 0 || this.#model.isReadOnly) return;
    this.told.push('the lease expires');
    this.#now += left + 1;
    await this.#real('DEL', LEASE);
  }

  async #setFull(isFull: boolean): Promise<void> {
    this.told.push(`full: ${isFull}`);
    await this.#real('CONFIG', 'SET', 'maxmemory', isFull ? '1' : '0');
    this.#model.isFull = isFull;
  }

  async #setReadOnly(isReadOnly: boolean): Promise<void> {
    this.told.push(`read-only: ${isReadOnly}`);
    await this.#real('REPLICAOF', ...(isReadOnly ? ['127.0.0.1', '1'] : ['NO', 'ONE']));
    this.#model.isReadOnly = isReadOnly;
  }

  async #compareData(): Promise<void> {
    const model = (...args: string[]): unknown => this.#model.execute(args);
    const [expected, found] = await Promise.all([contents(this.#real), contents(async (...args) => model(...args))]);
    expect(found, this.told.join('\n')).toEqual(expected);
  }
}

/** All keys. Times to live are alike within a minute. */
async function contents(send: Send): Promise<unknown> {
  const all = KEYS.map(async (key) => {
    const reply = await send('TYPE', key);
    const type = String(Object(reply).status ?? reply);
    if (type === 'string') return [key, await send('GET', key), Math.ceil(Number(await send('PTTL', key)) / 60_000)];
    const fields = type === 'hash' ? Object(await send('HGETALL', key)).map(String) : [];
    const pairs = fields.flatMap((field: string, i: number) => (i % 2 === 0 ? [`${field}=${fields[i + 1]}`] : []));
    return [key, type, pairs.toSorted()];
  });
  return Promise.all(all);
}

async function realServer(): Promise<Send> {
  const redis = await startRedis(['--save', '']);
  const client = createClient({ url: redis.url, RESP: 2, socket: { reconnectStrategy: false } });
  client.on('error', () => undefined);
  await client.connect();
  atTheEnd(() => client.destroy());
  return (...args) => client.sendCommand(args);
}

describe.skipIf(areMissing(REDIS))('the simulated Redis', () => {
  it('answers as the real one, and has the same data, whatever the scripts find', async () => {
    const real = await realServer();
    for (let i = 0; i < SEQUENCES; i += 1) {
      const comparison = new Comparison(real, new Random(i, 'scripts'));
      for (let step = 0; step < STEPS; step += 1) await comparison.step();
      await comparison.clear();
    }
  }, 60_000);

  it('asks for the text of a script that it does not know, as the real one does', async () => {
    const real = await realServer();
    const model = new SimulatedRedis({ now: () => Date.now() }, 'p');
    const servers: Send[] = [real, async (...args) => model.execute(args)];
    const sha = hash('sha1', CHECK_WRITABLE);
    for (const send of servers) {
      expect(await outcome(() => send('EVALSHA', sha, '1', META))).toBe('refused: NOSCRIPT');
      expect(await outcome(() => send('EVAL', CHECK_WRITABLE, '1', META))).toBe('0');
      expect(await outcome(() => send('EVALSHA', sha, '1', META))).toBe('0');
    }
    model.restart({ keeps: 'all' });
    expect(await outcome(() => model.execute(['EVALSHA', sha, '1', META]))).toBe('refused: NOSCRIPT');
  });

  it('tells the time as the real one, and lets a lease expire', async () => {
    const real = await realServer();
    const model = new SimulatedRedis({ now: () => Date.now() }, 'p');
    const servers: Send[] = [real, async (...args) => model.execute(args)];
    for (const send of servers) {
      const heartbeat = async (take: string) =>
        Object(await send('EVAL', HEARTBEAT, '4', ...KEYS, '', 'one', '30', '1', take, '0'));
      const [status, lease, left, revision, now] = await heartbeat('free');
      expect([status, left, revision]).toEqual(['taken', '0', '0']);
      expect(lease).toMatch(/^\d+ one$/);
      expect(Math.abs(Number(now) - Date.now())).toBeLessThan(5_000);
      while ((await send('PTTL', LEASE)) !== -2) await new Promise(setImmediate);
      expect((await heartbeat('never'))[0]).toBe('free');
    }
  });
});
