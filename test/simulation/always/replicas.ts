import { LEASE_TIMINGS } from '../../../src/replica/lease.ts';
import { ownerOf, type Term } from '../redis-record.ts';
import type { Scrape } from '../scrape.ts';
import type { World } from '../world.ts';
import type { Check } from './check.ts';
import { storeTroubleAt } from './circumstances.ts';
import { following } from './following.ts';

const { ttlMs, marginMs, graceMs, heartbeatMs } = LEASE_TIMINGS;

/** Redis takes no write from a lease that is not current. */
export function writesFenced(): Check {
  return {
    name: 'replicas: only the holder of the lease writes',
    onMoment({ redis }) {
      for (const { lease, held, name } of redis?.record.writes.splice(0) ?? []) {
        if (lease !== held) return `${name} was written with "${lease}" while "${held}" was held`;
      }
      return undefined;
    },
  };
}

/** Whether this process had the lease then. */
export function isOf(term: Term, sender: { readonly host: string; readonly process: number }): boolean {
  return ownerOf(term.value) === `${sender.host}-${sender.process}`;
}

/** Requests are looked at when the term of the next one is known. */
const SLACK_MS = 2;

/**
 * A process sends only while Redis cannot have given the lease to another one. This is promised by its own clock: not
 * after a suspension, in which the clock stands still.
 */
export function onlyTheLeaderSends(): Check {
  let newest = 0;
  return following('replicas: only the leader sends requests', (event, world) => {
    if (event.kind !== 'sent' || !world.redis) return undefined;
    const { terms } = world.redis.record;
    const { host, process, at: leftAt, calledAt: at } = event.sent;
    const running = world.host(host).process;
    if (running?.number === process && running.clock.lostMs > 0) return undefined;
    const index = terms.findLastIndex((one) => isOf(one, event.sent) && one.from <= at + SLACK_MS);
    const term = terms[index];
    if (!term) return `${host}-${process} sent a request and never led`;
    if (at > term.renewedAt + ttlMs - marginMs + SLACK_MS)
      return `${host}-${process} sent a request ${at - term.renewedAt} ms after it had renewed its lease`;
    // What was called before a pause leaves after it.
    if (leftAt > at) return undefined;
    if (index < newest && !wasUnseen(terms[index + 1], world))
      return `${host}-${process} sent a request after one of ${terms[newest]?.value}`;
    newest = Math.max(newest, index);
    return undefined;
  });
}

/** Whether the lease before was lost while the next holder did not look: it had just started, or could not reach Redis. */
function wasUnseen(next: Term | undefined, world: World): boolean {
  const [host = '', process] = ownerOf(next?.value).split('-');
  const { redisTroubleAt, process: running, pausedAt } = world.host(host);
  if (!next || running?.number !== Number(process)) return true;
  return next.from - Math.max(redisTroubleAt, running.startedAt, pausedAt) < 2 * ttlMs;
}

/** Another replica sends its first request within 15 s. */
const TAKEOVER_MS = 15_000;
/** Where the clock of Redis was set back, a lease lasts longer by up to this. */
const LONGEST_LEASE_MS = 10 * ttlMs;

/** Where Redis and one replica have been well for long enough, one leads. */
export function takenOver(): Check {
  return {
    name: 'replicas: another leads within 15 s',
    onMoment(world) {
      const { redis, hosts, clock } = world;
      const now = clock.now();
      if (!redis || now - world.redisTroubleAt < TAKEOVER_MS + LONGEST_LEASE_MS) return undefined;
      const isWell = hosts.some((host) => {
        const { process, name, pausedAt } = host;
        if (!process?.exporter || process.isStopping || process.clock.isPaused) return false;
        return now - Math.max(storeTroubleAt(world, name), pausedAt, process.startedAt) > TAKEOVER_MS + 1_000;
      });
      const last = redis.record.terms.at(-1);
      const led = Math.max(last?.renewedAt ?? 0, last?.until ?? 0);
      return isWell && now - led > TAKEOVER_MS ? `nobody has led for ${now - led} ms` : undefined;
    },
  };
}

/**
 * A lease that was not given back is taken by a process that never had it only after the grace; and where Redis lost it, only
 * when its holder cannot believe any more that it leads.
 */
export function notTakenEarly(): Check {
  let next = 0;
  return {
    name: 'replicas: a lost lease is not taken too early',
    onMoment(world) {
      const { terms } = world.redis?.record ?? { terms: [] };
      for (; next < terms.length; next += 1) {
        const [before, term] = [terms[next - 1], terms[next]];
        const wrong = before && term && takenEarly(before, term, terms.slice(0, next), world);
        if (wrong !== undefined) return wrong;
      }
      return undefined;
    },
  };
}

function takenEarly(before: Term, term: Term, earlier: readonly Term[], world: World): string | undefined {
  const { from, until, end } = before;
  const owner = ownerOf(term.value);
  if (until === undefined || (end !== 'expired' && end !== 'lost')) return undefined;
  // A replica may not have seen it at all: it looks twice a second, and Redis can have been down for most of the time.
  if (until - from < 6 * heartbeatMs) return undefined;
  // One that is no process of ours does as it likes.
  if (!world.hosts.some(({ name }) => owner.startsWith(`${name}-`))) return undefined;
  if (ownerOf(before.value) === '' || earlier.some(({ value }) => ownerOf(value) === owner)) return undefined;
  const isBelieved = end === 'lost' && !wasUnseen(term, world);
  const earliest = Math.max(until + graceMs, isBelieved ? before.renewedAt + ttlMs - marginMs : until);
  if (term.from >= earliest - SLACK_MS) return undefined;
  return `${owner} has taken a lease that was ${end} ${term.from - until} ms before, ${earliest - term.from} ms too early`;
}

const LEADER = 'beaconchain_exporter_leader';
/** Counters of what is known, which all replicas show alike. Requests and waits are written a second later. */
const SHARED = /^beaconchain_(?!exporter_|api_|budget_|machine_)\w+_total/;

/** When all is calm, exactly one replica leads, and all of them show the same. */
export function agree(): Check {
  return {
    name: 'replicas: one leads, and all show the same',
    atEnd({ redis, traffic, clock }, scrapes) {
      if (!redis) return undefined;
      const leaders = scrapes.filter(({ series }) => series.get(LEADER) === 1);
      if (leaders.length !== 1) return `${leaders.length} lead`;
      // What the leader has just written is not yet read by the others.
      if (traffic.since(clock.now() - READ_MS).length > 0) return undefined;
      const [first, ...others] = scrapes;
      for (const other of others) {
        const key = first && differing(first, other);
        if (key !== undefined)
          return `${key} is ${first?.series.get(key)} on ${first?.host}, ${other.series.get(key)} on ${other.host}`;
      }
      return undefined;
    },
  };
}

/** The followers ask twice a second, and once more if an answer is lost. */
const READ_MS = 1_200;

function differing(one: Scrape, other: Scrape): string | undefined {
  const keys = [...one.series.keys(), ...other.series.keys()].filter((key) => SHARED.test(key));
  return keys.find((key) => one.series.get(key) !== other.series.get(key));
}
