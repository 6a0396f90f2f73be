import { parseExposition } from '../../support/exposition-parser.ts';
import { namesIn, type Scrape, seriesNamed } from '../scrape.ts';
import type { World } from '../world.ts';
import type { Check } from './check.ts';

/** Reading with care takes as long as everything else, so it is done now and then. */
const EACH = 10;

/** /metrics is well formed, and no series is there twice. */
export function wellFormed(): Check {
  /** By host, because with two replicas each tenth scrape is always one of the same replica. */
  const scrapes = new Map<string, number>();
  return {
    name: 'exposition: well formed',
    onScrape({ host, text }) {
      const before = scrapes.get(host) ?? 0;
      scrapes.set(host, before + 1);
      if (before % EACH !== 0) return undefined;
      try {
        const seen = new Set<string>();
        for (const { name, labels } of parseExposition(text).flatMap(({ samples }) => samples)) {
          const key = name + JSON.stringify(Object.entries(labels).sort());
          if (seen.has(key)) return `${key} is there twice`;
          seen.add(key);
        }
      } catch (error) {
        return String(error);
      }
      return undefined;
    },
  };
}

const WRITE_FAILURES = 'beaconchain_exporter_state_write_failures_total';
/** After a loss of data the leader has written everything again, and every replica has read it. */
const REPAIRED_MS = 30_000;

/**
 * Redis lost data, and nobody could put that right at once: the replica had just started, or the leader died or was cut off
 * at the same time (docs/high-availability.md).
 */
function mayGoBack(last: Scrape, { process, at }: Scrape, { redis, hosts, ends }: World): boolean {
  const lostAt = redis?.record.lostAt ?? Number.NEGATIVE_INFINITY;
  // Nobody can repair anything before one of them reaches the server.
  const reachedAt = Math.max(lostAt, Math.min(...hosts.map((one) => one.redisTroubleAt)));
  if (reachedAt < last.at - REPAIRED_MS) return false;
  const hasDied = ends.some((end) => Math.abs(end.at - lostAt) < REPAIRED_MS);
  const isCutOff = hosts.some((one) => Math.max(one.redisTroubleAt, one.pausedAt) > lostAt - REPAIRED_MS);
  return process !== last.process || hasDied || isCutOff || at - lostAt > 10 * REPAIRED_MS;
}

const COUNTER = /^(?!beaconchain_machine_)\w+_(total|bucket|sum|count)$/;

function countersIn(scrape: Scrape): ReturnType<typeof seriesNamed> {
  return [...namesIn(scrape)].filter((name) => COUNTER.test(name)).flatMap((name) => seriesNamed(scrape, name));
}

/** Whether nobody wants the requests of this counter any more. A follower knows of one only where the leader has counted. */
function isOfExtraOff(key: string, { exporter }: World): boolean {
  const { members, proposerNames } = exporter;
  const off = [...(members ? [] : ['sync_committee_members']), ...(proposerNames ? [] : ['proposer_slashings'])];
  return off.some((endpoint) => key.includes(`endpoint="${endpoint}"`));
}

/**
 * No counter of a host steps back or disappears, whatever becomes of its process. Those of machines may be reset, and
 * those of a chain go while it is not configured. If Redis loses its data in that time, the next leader counts from 0: a
 * follower that still remembers them shows them until then.
 */
export function countersGrow(): Check {
  const before = new Map<string, Scrape & { readonly losses: number; readonly redisLosses: number }>();
  /** The counters of chains that are not configured, by host. */
  const off = new Map<string, Map<string, number>>();
  /** The counters of chains that were not configured when Redis lost its data. They may step back once. */
  const forgotten = new Set<string>();
  return {
    name: 'exposition: counters grow',
    onScrape(scrape, world) {
      const { host, process, series } = scrape;
      const last = before.get(host);
      const { losses } = world.host(host);
      const redisLosses = world.redis?.record.losses ?? 0;
      before.set(host, { ...scrape, losses, redisLosses });
      const gone = off.get(host) ?? new Map<string, number>();
      off.set(host, gone);
      const mayGo = (key: string): boolean => world.hasChangedChains && !series.has(key) && key.includes('chain="');
      const isExcused = last && (last.losses !== losses || mayGoBack(last, scrape, world));
      if (isExcused || (last && last.redisLosses !== redisLosses)) {
        const left = countersIn(last).flatMap(([, , key]) => (mayGo(key) ? [key] : []));
        for (const key of [...gone.keys(), ...left]) forgotten.add(`${host} ${key}`);
        gone.clear();
      }
      if (isExcused) return undefined;
      for (const [key, value] of gone) {
        const now = series.get(key);
        if (now === undefined) continue;
        if (now < value) return `${key} was ${value}, is ${now} again`;
        gone.delete(key);
      }
      for (const [, value, key] of last ? countersIn(last) : []) {
        // Those that could not be written because writes failed, are forgotten with the process.
        if (key === WRITE_FAILURES && process !== last?.process) continue;
        const now = series.get(key);
        if (now === undefined && value === 0 && isOfExtraOff(key, world)) continue;
        if (mayGo(key)) {
          if (!forgotten.has(`${host} ${key}`)) gone.set(key, value);
        } else if (now === undefined || (now < value && !forgotten.delete(`${host} ${key}`)))
          return `${key} was ${value}, is ${now}`;
      }
      return undefined;
    },
  };
}
