import { createServer } from 'node:net';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { systemClock } from '../../../src/toolkit/lib/clock.ts';
import { RedisState } from '../../../src/toolkit/state/redis.ts';
import { judge, LEASE_TIMINGS, LeaseLost, type LeaseTimings, Replica } from '../../../src/toolkit/state/replica.ts';
import { logLines } from '../../support/log/log-lines.ts';
import { listen } from '../../support/network/listen.ts';
import { startNetwork } from '../../support/network/network.ts';
import { waitFor } from '../../support/programs/program.ts';
import { type RedisServer, startRedis } from '../../support/tools/redis.ts';
import { areMissing, REDIS } from '../../support/tools/tools.ts';
import { atTheEnd } from '../../support/vitest/cleanup.ts';

const PREFIX = 'test';
const VERSION = 3;
const NAMES = { prefix: PREFIX, section: 'state.redis', manual: 'a document' };
/** Heartbeats are fast, but a lease does not run out because the machine is busy. */
const LONG: LeaseTimings = { ttlMs: 60_000, marginMs: 10_000, heartbeatMs: 50, timeoutMs: 1_500 };
/** For tests that wait for the end of a lease. The times leave room for a busy machine. */
const SHORT: LeaseTimings = { ttlMs: 6_000, marginMs: 3_500, heartbeatMs: 50, timeoutMs: 1_500 };

const Doc = z.object({ count: z.number() });

function documentOf(value: z.infer<typeof Doc>): string {
  return JSON.stringify({ version: VERSION, value });
}

/** Starts a replica and keeps its events. The test can set its monotonic clock forward. */
async function startReplica(
  url: string,
  { id, timings = LONG, onLead }: { id?: string; timings?: LeaseTimings; onLead?: () => void } = {},
) {
  let ahead = 0;
  const clock = { ...systemClock, monotonic: () => systemClock.monotonic() + ahead };
  const { log, lines } = logLines();
  const replica = await Replica.open({ url, ...NAMES }, clock, log, { version: VERSION, id, timings });
  atTheEnd(() => replica.close());
  const told: string[] = [];
  const documents: [string, unknown][] = [];
  await replica.start({
    onLead() {
      told.push('lead');
      onLead?.();
    },
    onLapse: () => told.push('lapse'),
    onDocument: (name, value) => documents.push([name, value]),
  });
  return {
    replica,
    told,
    documents,
    lines,
    save: (count: number) => replica.save('doc', { count }),
    load: () => replica.load('doc', Doc),
    leads: () => waitFor(() => expect(replica.leads()).toBe(true)),
    setAhead: (ms: number) => {
      ahead = ms;
    },
    messages: (message: string) => lines.filter(({ msg }) => msg === message),
  };
}

/** A Redis that has lost its data after each stop, with a document that a replica has written and left. */
async function redisWithDocument(): Promise<RedisServer> {
  const redis = await startRedis(['--save', '']);
  const first = await startReplica(redis.url);
  await first.leads();
  await first.save(1);
  await first.replica.close();
  return redis;
}

function stored(redis: RedisServer): Promise<unknown> {
  return redis.command('HGET', `${PREFIX}:documents`, 'doc');
}

async function storedAndRevision(redis: RedisServer): Promise<readonly unknown[]> {
  return [await stored(redis), await redis.command('HGET', `${PREFIX}:revisions`, 'doc')];
}

function nextHeartbeat({ replica }: { replica: Replica }): Promise<void> {
  const before = replica.heartbeatAt;
  return waitFor(() => expect(replica.heartbeatAt).toBeGreaterThan(before));
}

const LOST_BUT_FOR_ANOTHER = "redis.call('DEL', KEYS[1]); return redis.call('HSET', KEYS[1], 'other', '')";

function holder(redis: RedisServer): Promise<unknown> {
  return redis.command('GET', `${PREFIX}:lease`);
}

/** Stores a document as another program would. */
async function put(redis: RedisServer, text: string, revision: string): Promise<void> {
  await redis.command('HSET', `${PREFIX}:documents`, 'doc', text);
  await redis.command('HSET', `${PREFIX}:revisions`, 'doc', revision);
}

it.each([
  ['renews its lease', { holder: 'a', term: '1' }, { holder: 'a', term: '1' }, 'renew'],
  ['takes the lease that Redis had lost', { holder: 'a', term: '1' }, { holder: 'a', term: '2' }, 'take'],
  ['takes the lease of another', { holder: 'b', term: '1' }, { holder: 'a', term: '2' }, 'take'],
  ['follows another', { holder: 'a', term: '1' }, { holder: 'b', term: '2' }, 'follow'],
  ['follows from the start', { holder: '', term: '' }, { holder: 'b', term: '1' }, 'follow'],
  ['stands by while the same one leads', { holder: 'b', term: '1' }, { holder: 'b', term: '1' }, 'stand by'],
  ['stands by while it leaves the lease to others', { holder: 'a', term: '1' }, { holder: '', term: '1' }, 'stand by'],
])('a replica %s', (_, before, lease, verdict) => {
  expect(judge('a', before, lease)).toBe(verdict);
});

describe.skipIf(areMissing(REDIS)).concurrent('state/replica', () => {
  describe('the lease', () => {
    it('is taken by exactly one of several, and only that one can write', async () => {
      const redis = await redisWithDocument();
      const replicas = await Promise.all(['a', 'b', 'c', 'd'].map((id) => startReplica(redis.url, { id })));
      await waitFor(() => expect(replicas.some(({ replica }) => replica.leads())).toBe(true));
      const results = await Promise.allSettled(replicas.map(({ save }, i) => save(i)));
      const leader = replicas.findIndex(({ replica }) => replica.leads());
      expect(replicas.map(({ told }) => told)).toEqual(replicas.map((_, i) => (i === leader ? ['lead'] : [])));
      expect(results.map(({ status }) => status)).toEqual(
        replicas.map((_, i) => (i === leader ? 'fulfilled' : 'rejected')),
      );
      expect(results.find(({ status }) => status === 'rejected')).toMatchObject({ reason: expect.any(LeaseLost) });
      expect(await stored(redis)).toBe(documentOf({ count: leader }));
      const id = ['a', 'b', 'c', 'd'][leader];
      expect(await holder(redis)).toBe(id);
      for (const [i, { messages }] of replicas.entries()) {
        if (i === leader) expect(messages('leading')).toEqual([{ level: 'info', msg: 'leading', replica: id }]);
        else await waitFor(() => expect(messages('following')).toMatchObject([{ level: 'info', leader: id }]));
      }
    });

    it('is over for a leader that is cut off, before another one leads; what it sent is refused', async () => {
      const redis = await redisWithDocument();
      const network = await startNetwork(redis.port);
      const a = await startReplica(network.url, { timings: SHORT });
      let didTwoLead = false;
      const b = await startReplica(redis.url, {
        timings: SHORT,
        onLead: () => {
          didTwoLead = a.replica.leads();
        },
      });
      network.cut();
      const stale = a.save(666).catch((error: unknown) => error);
      await b.leads();
      expect(didTwoLead).toBe(false);
      expect(a.told).toEqual(['lead', 'lapse']);
      await b.save(2);
      network.heal();
      await waitFor(() => expect(a.documents.at(-1)).toEqual(['doc', { count: 2 }]));
      expect(await stale).toBeInstanceOf(Error);
      expect(await stored(redis)).toBe(documentOf({ count: 2 }));
    });

    it('is over while Redis hangs, which is logged once, and begins again after that', async () => {
      const redis = await redisWithDocument();
      const a = await startReplica(redis.url, { timings: SHORT });
      expect(a.replica.leads()).toBe(true);
      redis.pause();
      await waitFor(() => expect(a.told).toEqual(['lead', 'lapse']));
      await expect(a.save(2)).rejects.toThrow(LeaseLost);
      redis.resume();
      await waitFor(() => expect(a.told).toEqual(['lead', 'lapse', 'lead']));
      await a.save(3);
      const unreachable = { level: 'error', msg: 'redis is unreachable', err: 'no answer in time' };
      expect(a.messages(unreachable.msg)).toEqual([unreachable]);
      expect(a.messages('redis is reachable again')).toHaveLength(1);
    });

    it('gives up a server that does not answer the login, and leaves no connection', async () => {
      await using server = createServer((socket) => socket.resume());
      const url = `redis://:secret@127.0.0.1:${await listen(server)}`;
      await expect(startReplica(url, { timings: { ...SHORT, timeoutMs: 100 } })).rejects.toThrow('no answer in time');
    });

    it('counts from the request, not from the answer', async () => {
      const redis = await redisWithDocument();
      const a = await startReplica(redis.url);
      redis.pause();
      await nextHeartbeat(a);
      a.setAhead(LONG.ttlMs);
      redis.resume();
      await waitFor(() => expect(a.told).toEqual(['lead', 'lapse', 'lead']));
    });

    it('ends early for a replica that cannot renew it', async () => {
      const redis = await redisWithDocument();
      const a = await startReplica(redis.url);
      redis.pause();
      await nextHeartbeat(a);
      a.setAhead(LONG.ttlMs - LONG.marginMs);
      expect(a.replica.leads()).toBe(false);
      redis.resume();
    });

    it('has a higher term than any before, even if the clock of Redis was set back', async () => {
      const redis = await startRedis(['--save', '']);
      const before = Date.now() + 3_600_000;
      await redis.command('SET', `${PREFIX}:term`, String(before));
      const state = new RedisState({ url: redis.url, ...NAMES }, systemClock, LONG.timeoutMs);
      expect((await state.lease('a', LONG.ttlMs)).term).toBe(String(before + 1));
      state.close();
    });

    it('with an older term allows no write, and the replica stops leading', async () => {
      const redis = await redisWithDocument();
      // It makes no second heartbeat in this test.
      const a = await startReplica(redis.url, { timings: { ...LONG, heartbeatMs: 60_000 } });
      await redis.command('SET', `${PREFIX}:lease`, 'other');
      await redis.command('INCR', `${PREFIX}:term`);
      expect(a.replica.leads()).toBe(true);
      await expect(a.save(2)).rejects.toThrow(LeaseLost);
      expect(a.told).toEqual(['lead', 'lapse']);
      expect(await stored(redis)).toBe(documentOf({ count: 1 }));
    });

    it('allows a heartbeat without an answer, and a takeover within 30 s', () => {
      const { ttlMs, marginMs, heartbeatMs, timeoutMs } = LEASE_TIMINGS;
      expect(marginMs).toBeGreaterThan(heartbeatMs + timeoutMs);
      expect(ttlMs + heartbeatMs + timeoutMs).toBeLessThan(30_000);
    });
  });

  describe('the documents', () => {
    it('reach every other replica, at its start and when the leader writes, but not the leader itself', async () => {
      const redis = await redisWithDocument();
      const [a, b] = [await startReplica(redis.url), await startReplica(redis.url)];
      await a.save(2);
      await waitFor(() => expect(b.documents.at(-1)).toEqual(['doc', { count: 2 }]));
      await a.replica.save('second', 'text');
      await waitFor(() => expect(b.documents.at(-1)).toEqual(['second', 'text']));
      expect(b.documents[0]).toEqual(['doc', { count: 1 }]);
      // A write that seemed to fail does not reach the leader either.
      await put(redis, documentOf({ count: 2 }), `${await redis.command('GET', `${PREFIX}:term`)}.9999999999`);
      await nextHeartbeat(a);
      await nextHeartbeat(a);
      expect(a.documents).toEqual([['doc', { count: 1 }]]);
      expect(await b.load()).toEqual({ count: 2 });
      expect(await b.replica.load('none', Doc)).toBeUndefined();
    });

    it('are not overwritten by an abandoned write that arrives late', async () => {
      const redis = await startRedis(['--save', '']);
      const state = new RedisState({ url: redis.url, ...NAMES }, systemClock, 5_000);
      atTheEnd(() => state.close());
      const { term } = await state.lease('a', 60_000);
      expect(await state.write(term, 'doc', `${term}.0000000002`, 'new')).toBe(true);
      expect(await state.write(term, 'doc', `${term}.0000000001`, 'late')).toBe(false);
      expect(await stored(redis)).toBe('new');
      expect(await state.write(term, 'other', `${term}.0000000001`, 'late')).toBe(true);
    });

    it.each([
      ['a newer', VERSION + 1],
      ['an older', VERSION - 1],
    ])('of %s version prevent the start and stay unchanged', async (age, version) => {
      const redis = await startRedis(['--save', '']);
      const text = JSON.stringify({ version, value: { count: 1 } });
      await put(redis, text, '1700000000000.0000000001');
      await expect(startReplica(redis.url)).rejects.toThrow(
        new RegExp(`written by ${age} version of the exporter.*: set another state.redis.prefix$`),
      );
      expect(await stored(redis)).toBe(text);
      expect(await redis.command('EXISTS', `${PREFIX}:lease`, `${PREFIX}:unreadable`)).toBe(0);
    });
  });

  describe('after Redis has lost data', () => {
    it('the leader writes back what is missing or older, and leads on', async () => {
      const redis = await redisWithDocument();
      const a = await startReplica(redis.url);
      const [text, revision] = await storedAndRevision(redis);
      await a.save(2);
      await put(redis, String(text), String(revision));
      await waitFor(async () => expect(await stored(redis)).toBe(documentOf({ count: 2 })));
      const inFull = await storedAndRevision(redis);
      const [documents, revisions] = [`${PREFIX}:documents`, `${PREFIX}:revisions`];
      // Redis evicts single keys, and another document may be written right after it.
      const losses = [[documents, revisions], [documents], [revisions]].map((keys) => ['DEL', ...keys]);
      for (const loss of [...losses, ['EVAL', LOST_BUT_FOR_ANOTHER, '1', documents]]) {
        await redis.command(...loss);
        await waitFor(async () => expect(await storedAndRevision(redis)).toEqual(inFull));
      }
      await a.save(3);
      expect(a.told).toEqual(['lead']);
      expect(a.messages('wrote back data that redis had lost')).toMatchObject(Array(5).fill({ document: 'doc' }));
    });

    it('a replica leads only when it has written everything back', async () => {
      const redis = await redisWithDocument();
      const storedAtLead: Promise<unknown>[] = [];
      const onLead = (): unknown => storedAtLead.push(stored(redis));
      const options = { onLead, timings: SHORT };
      const [a, b] = [await startReplica(redis.url, options), await startReplica(redis.url, options)];
      await a.save(2);
      await waitFor(() => expect(b.documents.at(-1)).toEqual(['doc', { count: 2 }]));
      await redis.kill();
      await waitFor(() => expect(a.told).toEqual(['lead', 'lapse']));
      await redis.start();
      await waitFor(() => expect(storedAtLead).toHaveLength(2));
      expect(await storedAtLead[1]).toBe(documentOf({ count: 2 }));
    });

    /**
     * The first replica alone knows the newest document when Redis loses it. The other one takes the lease first, with an
     * older document or none. It may lead only with the newest one.
     */
    async function expectNewest(
      other: 'away' | 'new',
      lose: (redis: RedisServer, older: readonly unknown[]) => Promise<unknown>,
    ): Promise<void> {
      const redis = await redisWithDocument();
      const [network, otherNetwork] = [await startNetwork(redis.port), await startNetwork(redis.port)];
      const a = await startReplica(network.url);
      const startOther = () => startReplica(otherNetwork.url, { id: 'other', timings: { ...LONG, heartbeatMs: 700 } });
      const running = other === 'new' ? undefined : await startOther();
      const older = await storedAndRevision(redis);
      if (running) otherNetwork.cut();
      await a.save(2);
      network.cut();
      await lose(redis, older);
      if (running) otherNetwork.heal();
      const b = running ?? (await startOther());
      await waitFor(async () => expect(await holder(redis)).toBe('other'));
      expect(b.replica.leads()).toBe(false);
      network.heal();
      await b.leads();
      expect(await b.load()).toEqual({ count: 2 });
      expect(await stored(redis)).toBe(documentOf({ count: 2 }));
      expect(a.told).toEqual(['lead', 'lapse']);
    }

    it('a replica whose connection hangs is waited for', async () => {
      const redis = await redisWithDocument();
      const network = await startNetwork(redis.port);
      const timings = { ...LONG, heartbeatMs: 400, timeoutMs: 1_200 };
      const a = await startReplica(network.url, { timings });
      await a.save(2);
      await nextHeartbeat(a);
      network.strand();
      await redis.command('FLUSHALL');
      const b = await startReplica(redis.url, { timings });
      await b.leads();
      expect(await b.load()).toEqual({ count: 2 });
    });

    it('the newest document wins, although a new replica takes the lease first', () =>
      expectNewest('new', (redis) => redis.command('FLUSHALL')));

    it('the newest document wins, although a disconnected replica takes the lease first', () =>
      expectNewest('away', async (redis, [text, revision]) => {
        await put(redis, String(text), String(revision));
        await redis.command('DEL', `${PREFIX}:lease`);
      }));
  });
});
