import { describe, expect, it } from 'vitest';
import { systemClock } from '../../src/lib/clock.ts';
import { RedisState } from '../../src/replica/redis.ts';
import { RedisLink } from '../../src/replica/redis-link.ts';
import { WRITE } from '../../src/replica/redis-scripts.ts';
import { atTheEnd } from '../support/cleanup.ts';
import { startRedis } from '../support/redis.ts';
import { areMissing, REDIS } from '../support/tools.ts';

const KEYS = ['test:lease', 'test:meta', 'test:documents', 'test:revisions'];
const HEARTBEAT = { lease: '', id: 'a', ttlMs: 60_000, take: 'free', wanted: new Map() } as const;

describe.skipIf(areMissing(REDIS))('replica: a write that was given up', () => {
  it('changes nothing when it arrives after a later one', async () => {
    const redis = await startRedis();
    const state = new RedisState(new RedisLink({ url: redis.url, prefix: 'test' }, systemClock), 'test');
    atTheEnd(async () => state.close());
    const { lease } = await state.heartbeat(HEARTBEAT);
    // The first write of this process, which waits in a lost connection.
    const late = (name: string) =>
      redis.command('EVAL', WRITE, String(KEYS.length), ...KEYS, lease, '1', '0', name, '{"old":true}', '1');
    await state.write(lease, 0, 'other', '{}');
    await state.write(lease, 0, 'doc', '{"new":true}');
    expect(await late('doc')).toEqual(['', '0']);
    expect(await redis.command('HGET', 'test:documents', 'doc')).toBe('{"new":true}');
    // It is as new as any of its own document.
    expect(await late('other')).not.toEqual(['', '0']);
  });

  it('says nothing about the writes of the next holder of the lease', async () => {
    const redis = await startRedis();
    const states = ['a', 'b'].map(
      () => new RedisState(new RedisLink({ url: redis.url, prefix: 'test' }, systemClock), 'test'),
    );
    const [a, b] = states as [RedisState, RedisState];
    atTheEnd(async () => {
      for (const state of states) state.close();
    });
    const first = await a.heartbeat(HEARTBEAT);
    for (const text of ['1', '2', '3']) await a.write(first.lease, 0, 'doc', text);
    await a.release(first.lease);
    const second = await b.heartbeat({ ...HEARTBEAT, id: 'b' });
    expect(await b.write(second.lease, 0, 'doc', '4')).toBeDefined();
    expect(await redis.command('HGET', 'test:documents', 'doc')).toBe('4');
  });
});
