import type { Breakage } from './breakage.ts';

/** Faults of processes that share their state in Redis. */
export const REPLICA_BREAKAGES: readonly Breakage[] = [
  {
    name: 'lease not checked after the turn',
    file: 'exporter/client.ts',
    find: `      const permit = await budget.acquire(request, signal);
      if (replica.leads()) return permit;
      permit.release(undefined);
      throw new LeaseLost();`,
    replace: `      if (!replica.leads()) throw new LeaseLost();
      return budget.acquire(request, signal);`,
    why: 'A process that is suspended while it waits for its turn sends its request when another one leads.',
  },
  {
    name: 'write without the lease',
    file: 'replica/redis-scripts.ts',
    find: `if not isOurs then return {'', '0'} end
`,
    replace: '',
    why: 'A write that was delayed on its way overwrites what the next leader has written.',
  },
  {
    name: 'lease margin with the wrong sign',
    file: 'replica/lease.ts',
    find: 'sentAt + ttlMs - marginMs',
    replace: 'sentAt + ttlMs + marginMs',
    why: 'The leader still sends when Redis has already given the lease to another one.',
  },
  {
    name: 'free lease taken without grace',
    file: 'replica/lease.ts',
    find: 'now - freeSince.at >= graceMs && now >= believedUntil',
    replace: 'now >= believedUntil',
    why: 'After a failover to an older copy another replica leads with older values before the leader can write its own.',
  },
  {
    name: 'lost lease taken while its holder believes in it',
    file: 'replica/lease.ts',
    find: ' && now >= believedUntil) return',
    replace: ') return',
    why: 'After a loss of data in Redis a leader that is cut off and the next one both send requests.',
  },
  {
    name: 'lost writes not repeated',
    file: 'exporter/poller.ts',
    find: `      this.#scheduler.saveAgain(abort.signal);
`,
    replace: '',
    why: 'After a failover to an older copy the replicas show older values than before.',
  },
  {
    name: 'follower shows nothing new',
    file: 'exporter/follower.ts',
    find: `    touch(...ALL_PARTS);
`,
    replace: '',
    why: 'What the leader writes is not rendered by the other replicas.',
  },
];
