import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { systemClock } from '../../src/lib/clock.ts';
import type { LeaseTimings } from '../../src/replica/lease.ts';
import { LeaseLost } from '../../src/replica/lease.ts';
import { RedisState } from '../../src/replica/redis.ts';
import { RedisLink } from '../../src/replica/redis-link.ts';
import { Replica } from '../../src/replica/replica.ts';
import { STATE_VERSION } from '../../src/state/envelope.ts';
import { atTheEnd } from '../support/cleanup.ts';
import { logLines } from '../support/log-lines.ts';
import { startNetwork } from '../support/network.ts';
import { waitFor } from '../support/program.ts';
import { type RedisServer, startRedis } from '../support/redis.ts';
import { areMissing, REDIS } from '../support/tools.ts';

const PREFIX = 'test';
/** Ten times as fast as real ones, but a lease does not run out only because the machine is busy. */
const TIMINGS: LeaseTimings = { ttlMs: 60_000, marginMs: 100, graceMs: 200, heartbeatMs: 50 };
const SHORT: LeaseTimings = { ...TIMINGS, ttlMs: 900 };

/** A replica that wants one document, and everything it was told. */
function replicaOf(url: string, { skewMs = 0, timings = TIMINGS }: { skewMs?: number; timings?: LeaseTimings } = {}) {
  const clock = { ...systemClock, now: () => systemClock.now() + skewMs };
  const { log, lines } = logLines();
  const state = new RedisState(new RedisLink({ url, prefix: PREFIX }, clock), PREFIX);
  const replica = new Replica(state, clock, log, { timings });
  const seen: unknown[] = [];
  const told = { rewrites: 0, lapses: 0 };
  const follow = (): unknown =>
    replica.subscribe(
      {
        wanted: ['doc'],
        apply: (values) => seen.push(values.get('doc')),
        rewrite: () => {
          told.rewrites += 1;
        },
        onLapse: () => {
          told.lapses += 1;
        },
      },
      [],
    );
  follow();
  const start = async (): Promise<void> => {
    replica.start(() => undefined);
  };
  const leads = (): Promise<void> => waitFor(() => expect(replica.leads()).toBe(true));
  atTheEnd(() => replica.close());
  return { replica, lines, seen, told, start, leads };
}

async function raw(redis: RedisServer, name: string): Promise<unknown> {
  return JSON.parse(String(await redis.command('HGET', `${PREFIX}:documents`, name)));
}

const Doc = z.object({ count: z.number() });

describe.skipIf(areMissing(REDIS))('replica/replica', () => {
  it('one of two leads; what it writes the other reads', async () => {
    const redis = await startRedis();
    const [a, b] = [replicaOf(redis.url), replicaOf(redis.url)];
    await a.start();
    await a.leads();
    await b.start();
    await a.replica.save('doc', { count: 1 });
    await waitFor(() => expect(b.seen).toEqual([{ count: 1 }]));
    await a.replica.save('doc', { count: 2 });
    await waitFor(() => expect(b.seen).toEqual([{ count: 1 }, { count: 2 }]));
    expect(b.replica.leads()).toBe(false);
    await expect(b.replica.save('doc', { count: 9 })).rejects.toThrow(LeaseLost);
    expect(await b.replica.load('doc', Doc)).toEqual({ count: 2 });
    expect(await b.replica.load('none', Doc)).toBeUndefined();
  });

  it('who was cut off stops by its own clock before another leads, and is refused when it writes later', async () => {
    const redis = await startRedis();
    const network = await startNetwork(redis.port);
    const [a, b] = [replicaOf(network.url, { timings: SHORT }), replicaOf(redis.url, { timings: SHORT })];
    await a.start();
    await a.leads();
    await b.start();
    network.cut();
    const stale = a.replica.save('doc', { count: 666 }).catch((error: unknown) => error);
    while (!b.replica.leads()) {
      await systemClock.sleep(1);
      if (b.replica.leads()) expect(a.replica.leads()).toBe(false);
    }
    expect(a.told.lapses).toBe(1);
    await b.replica.save('doc', { count: 1 });
    network.heal();
    await waitFor(() => expect(a.seen.at(-1)).toEqual({ count: 1 }));
    await stale;
    expect(await raw(redis, 'doc')).toEqual({ version: STATE_VERSION, value: { count: 1 } });
    expect(a.replica.leads()).toBe(false);
  });

  describe('a lease that would never run out', () => {
    const LEASE = `${PREFIX}:lease`;
    /** Here it runs out, which is waited for. */
    const ENDING: LeaseTimings = { ...TIMINGS, ttlMs: 3_000 };

    it('of another type, is taken over: nothing of it stops the replicas for good', async () => {
      const redis = await startRedis();
      await redis.command('HSET', LEASE, 'gar', 'bage');
      const began = performance.now();
      const [a, b] = [replicaOf(redis.url, { timings: ENDING }), replicaOf(redis.url, { timings: ENDING })];
      await a.start();
      await b.start();
      await waitFor(() => expect(a.replica.leads() || b.replica.leads()).toBe(true));
      expect(performance.now() - began).toBeGreaterThan(ENDING.ttlMs);
      expect(a.replica.leads() && b.replica.leads()).toBe(false);
      expect(await redis.command('PTTL', LEASE)).toBeGreaterThan(0);
    });

    it('is taken over at once where it was given back', async () => {
      const redis = await startRedis();
      await redis.command('SET', LEASE, 'released');
      const a = replicaOf(redis.url, { timings: { ...TIMINGS, ttlMs: 60_000, graceMs: 60_000 } });
      await a.start();
      await a.leads();
    });

    it('is told of, where no replica is named in it', async () => {
      const redis = await startRedis();
      await redis.command('SET', LEASE, 'garbage');
      const a = replicaOf(redis.url, { timings: ENDING });
      await a.start();
      await a.leads();
      expect(a.lines.map(({ level, msg }) => `${level}: ${msg}`)).toEqual([
        'warn: the lease in Redis was not written by a replica: waiting until it expires',
        'info: leading',
      ]);
    });
  });

  it('numbers that are none do not stop a replica', async () => {
    const redis = await startRedis();
    const garbage = ['token', 'nan', 'revision', '-inf', 'version', 'x'];
    await redis.command('HSET', `${PREFIX}:meta`, ...garbage);
    await redis.command('HSET', `${PREFIX}:documents`, 'doc', '{"version":2,"value":{"count":3}}');
    await redis.command('HSET', `${PREFIX}:revisions`, 'doc', 'garbage');
    const a = replicaOf(redis.url);
    await a.start();
    await a.leads();
    await a.replica.save('doc', { count: 4 });
    expect(await a.replica.load('doc', Doc)).toEqual({ count: 4 });
    expect(a.lines.filter(({ level }) => level === 'error')).toEqual([]);
  });

  it('all go by the clock of the server, however wrong their own are', async () => {
    const redis = await startRedis();
    const [a, b] = [replicaOf(redis.url, { skewMs: 30_000 }), replicaOf(redis.url, { skewMs: -30_000 })];
    await a.start();
    await b.start();
    await waitFor(() => expect(a.replica.leads() || b.replica.leads()).toBe(true));
    // A part of the 30 s: answers may take their time.
    expect(Math.abs(a.replica.clock.now() - Date.now())).toBeLessThan(5_000);
    expect(Math.abs(a.replica.clock.now() - b.replica.clock.now())).toBeLessThan(5_000);
  });

  it('what cannot be read is set aside by the one who leads, and left alone by others', async () => {
    const redis = await startRedis();
    await redis.command('HSET', `${PREFIX}:documents`, 'doc', '{"version":2,"value":{"count":"many"}}');
    await redis.command('HSET', `${PREFIX}:revisions`, 'doc', '5');
    const a = replicaOf(redis.url);
    await a.start();
    await a.leads();
    expect(await a.replica.load('doc', Doc)).toBeUndefined();
    expect(await raw(redis, 'doc.unreadable-5')).toEqual({ version: STATE_VERSION, value: { count: 'many' } });
    expect(a.lines).toContainEqual(
      expect.objectContaining({ document: 'doc', moved_to: 'doc.unreadable-5', why: 'unexpected count' }),
    );
  });

  it('beside the next version it never leads, writes or moves anything aside, and says so', async () => {
    const redis = await startRedis();
    const document = { version: STATE_VERSION + 1, value: { counts: [3] } };
    await redis.command('HSET', `${PREFIX}:documents`, 'doc', JSON.stringify(document));
    await redis.command('HSET', `${PREFIX}:revisions`, 'doc', '5');
    await redis.command('HSET', `${PREFIX}:meta`, 'version', `${document.version}`, 'revision', '5', 'token', '3');
    const a = replicaOf(redis.url);
    await a.start();
    await waitFor(() => expect(a.lines.some(({ msg }) => String(msg).includes('newer version'))).toBe(true));
    // Longer than it would wait for a lease that is free.
    await systemClock.sleep(3 * TIMINGS.graceMs);
    expect(a.replica.leads()).toBe(false);
    expect(await raw(redis, 'doc')).toEqual(document);
    expect(await redis.command('HLEN', `${PREFIX}:documents`)).toBe(1);
    const why = `written by a newer version of the exporter (format ${document.version}, this version has ${STATE_VERSION})`;
    await expect(a.replica.load('doc', Doc)).rejects.toThrow(
      `the document doc in Redis was ${why}. It was not changed. Start the version that wrote it, ` +
        'or begin without this state: set another state.redis.prefix',
    );
    expect(a.seen).toEqual([]);
    expect(a.lines).toContainEqual(expect.objectContaining({ document: 'doc', why }));
  });
});
