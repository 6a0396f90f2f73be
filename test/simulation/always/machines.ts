import { PROCESSES, type Process } from '../../../src/sandbox/machines-records.ts';
import { DAY, HOUR, MINUTE, SECOND } from '../../support/time/timing.ts';
import { type Scrape, seriesNamed, unescaped, valueIn } from '../scrape.ts';
import { hasRecord, newestOf } from '../service/fleet.ts';
import type { Sent } from '../traffic.ts';
import type { World } from '../world.ts';
import type { Check } from './check.ts';

const LAST_SEEN = 'beaconchain_machine_last_seen_timestamp_seconds';
/** Values are withdrawn a moment after their time. */
const SLACK_MS = 5_000;
/** `stale_after: auto` is at least this. */
const SHORTEST_SECONDS = 600;

/** One series of last_seen. */
interface Seen {
  readonly name: string;
  readonly array: Process;
  /** Seconds. */
  readonly at: number;
  /** The series that shows the second of the newest push. */
  readonly shows: string;
}

function* seenIn(scrape: Scrape): Generator<Seen> {
  for (const [text, at] of seriesNamed(scrape, LAST_SEEN)) {
    const [, labels = '', name = '', array = ''] = /^(.*,machine="(.*)"),process="(\w+)"$/.exec(text) ?? [];
    const shows =
      array === 'system'
        ? `beaconchain_machine_cpu_user_seconds_total{${labels}}`
        : `beaconchain_machine_process_cpu_seconds_total{${labels},process="${array}"}`;
    yield { name: unescaped(name), array: array as Process, at, shows };
  }
}

/**
 * Each machine is shown with the values of its newest known push. They are withdrawn when they are too old, and no
 * sooner. The time of the push stays (behaviour 12 to 15).
 */
export function machinesShown(): Check {
  let before = new Map<string, number>();
  /** When the clock was last set, the process last ran again after a pause, or `stale_after` was last changed. */
  let restlessAt = Number.NEGATIVE_INFINITY;
  let staleAfter: number | undefined;
  /** Up to this time a record may count with the time of its reading: our clock was more than a day behind (behaviour 16f, 39a). */
  let readBehindUntil = Number.NEGATIVE_INFINITY;

  /** What is wrong with the values of a push. */
  function problemOf({ at: seconds, name, array, shows }: Seen, scrape: Scrape, world: World): string | undefined {
    const { exporter, service } = world;
    if (SECOND * seconds <= readBehindUntil) return undefined;
    const value = scrape.series.get(shows);
    if (value !== undefined && value !== Math.floor(seconds)) return `${shows} is ${value}, last seen at ${seconds}`;
    if (!hasRecord(service.machines, name, array, Math.floor(seconds), scrape.at)) return `${shows} was never pushed`;
    const pushedAt = SECOND * seconds;
    const age = scrape.ownAt - pushedAt;
    // No configuration allows to withdraw values so soon.
    const youngest = SECOND * (exporter.staleAfter || SHORTEST_SECONDS) - exporter.refreshMs - SLACK_MS;
    const mustShow = age < youngest && scrape.at - pushedAt < youngest && age >= 0 && pushedAt > restlessAt;
    if (value === undefined && mustShow) return `${shows} is not shown, but its push is only ${age} ms old`;
    const oldest = SECOND * exporter.staleAfter + exporter.refreshMs + SLACK_MS;
    const isSettled = scrape.at > restlessAt + 2 * exporter.refreshMs + SLACK_MS;
    // If our clock is wrong, the age is that by the clock of the service (behaviour 39).
    const isTooOld = exporter.staleAfter > 0 && isSettled && Math.min(age, scrape.at - pushedAt) > oldest;
    return value !== undefined && isTooOld ? `${shows} is shown, but its push is ${age} ms old` : undefined;
  }

  return {
    name: 'machines: values are those of real pushes, and fresh',
    onEvent(event) {
      if (event.kind === 'step') restlessAt = event.at;
      return undefined;
    },
    onScrape(scrape, world) {
      if (world.exporter.staleAfter !== staleAfter) restlessAt = scrape.at;
      staleAfter = world.exporter.staleAfter;
      if (scrape.at - scrape.ownAt > DAY) readBehindUntil = Math.max(readBehindUntil, scrape.ownAt);
      restlessAt = Math.max(restlessAt, world.host.pausedAt);
      const seen = new Map<string, number>();
      for (const one of seenIn(scrape)) {
        const key = `${one.name} ${one.array}`;
        seen.set(key, one.at);
        const previous = before.get(key) ?? 0;
        if (one.at < previous) return `last_seen of ${key} was ${previous}, is ${one.at}`;
        const wrong = one.at === 0 ? undefined : problemOf(one, scrape, world);
        if (wrong) return wrong;
      }
      // The 0 of an expected machine goes when one of its other processes is seen.
      for (const [key, at] of before) if (at > 0 && !seen.has(key)) return `last_seen of ${key} has gone`;
      before = seen;
      return undefined;
    },
    atEnd: (world, scrape) => machineLate(scrape, world),
  };
}

/** Late records are looked for on no more pages. */
const PAGES_WITH_LATE = 30;

/** A machine that pushes is shown with its newest record but one sweep. */
function machineLate(scrape: Scrape, world: World): string | undefined {
  const { machines, setting } = world.service;
  const told = valueIn(scrape, 'beaconchain_source_interval_seconds', 'source="machines"') ?? 0;
  const interval = SECOND * Math.max(told, world.exporter.intervals.machines);
  // The exporter requests a missing machine by name when its record has half of the allowed age.
  const staleAfter = world.exporter.staleAfter * SECOND || Math.max(10 * MINUTE, 2 * interval + 3 * MINUTE);
  const untilAsked = setting.missing > 0 || setting.lag.ms > 0 ? staleAfter / 2 : 0;
  const swept = scrape.at - untilAsked - 1.1 * interval - MINUTE;
  const shown = new Map([...seenIn(scrape)].map(({ name, array, at }) => [`${name} ${array}`, at]));
  // A sweep finds no late record. A machine that has become silent is found once an hour, within a few pages.
  const staysKnown = setting.lag.ms + 2 * MINUTE + 2.2 * interval < staleAfter;
  const isOnPages = 6 * PROCESSES.length * machines.machines.size <= PAGES_WITH_LATE * setting.longestPage;
  for (const [i, { name, spans }] of [...machines.machines.values()].entries()) {
    const isLate = setting.lag.of === 'all' || (setting.lag.of === 'one' && i === 0);
    if (isLate && !(staysKnown && isOnPages)) continue;
    const pushing = spans.at(-1);
    if (!pushing || pushing.until <= scrape.at) continue;
    for (const array of PROCESSES) {
      const newest = newestOf(machines, name, array, swept);
      const at = shown.get(`${name} ${array}`) ?? 0;
      // A machine that was silent is seen at the next sweep, a new one within two.
      if (newest && newest >= pushing.from + interval && at < Math.floor(newest / SECOND))
        return `${name} ${array} was last seen at ${at}, not at ${newest / SECOND}`;
    }
  }
  return undefined;
}

/**
 * A record that an answer had is shown when the next sweep has begun, also where the sweep that read it failed on a later
 * page (behaviour 14). Not judged: what was read before a step of a clock, a reload or another process.
 */
export function readIsShown(): Check {
  const newest = new Map<string, { readonly by: Sent; readonly time: number }>();
  /** The start of a sweep, by our clock before it was set back. */
  let aheadOfClock = 0;
  return {
    name: 'machines: what was read is shown',
    onEvent(event) {
      const { kind } = event;
      if (kind === 'step' || kind === 'reload' || kind === 'ended') newest.clear();
      if (kind !== 'end' || event.sent.failure !== undefined) return undefined;
      const { sent } = event;
      // With our clock that far behind we ask for that day, whose records are older than those that we hold.
      if (sent.at - sent.ownAt > DAY) return undefined;
      for (const { machine, array, time } of sent.counted?.pushes ?? []) {
        const id = `${machine} ${array}`;
        // One from the future is not taken.
        if (time <= sent.ownAt && time > (newest.get(id)?.time ?? 0)) newest.set(id, { by: sent, time });
      }
      return undefined;
    },
    onScrape(scrape, { host }) {
      // A value is shown when it is written, which may fail for a while.
      if (newest.size === 0 || scrape.at - host.writeTroubleAt <= HOUR) return undefined;
      const last = valueIn(scrape, 'beaconchain_source_last_attempt_timestamp_seconds', 'source="machines"') ?? 0;
      const begunAt = SECOND * last;
      // Its requests may still be under way, also when the clock has passed that time.
      if (begunAt > scrape.ownAt) aheadOfClock = begunAt;
      if (begunAt === aheadOfClock) return undefined;
      const shown = new Map([...seenIn(scrape)].map(({ name, array, at }) => [`${name} ${array}`, at]));
      for (const [id, { by, time }] of newest) {
        if (by.process !== scrape.process || by.ownAt >= begunAt) continue;
        const at = shown.get(id) ?? 0;
        if (at < Math.floor(time / SECOND)) return `${id} was read with ${time / SECOND}, and is shown with ${at}`;
      }
      return undefined;
    },
  };
}
