import { MINUTE } from '../../support/timing.ts';
import { type Scrape, seriesNamed, unescaped, valueIn } from '../scrape.ts';
import { ARRAYS, type ArrayName, fieldsOf, type Push } from '../service/machines.ts';
import type { World } from '../world.ts';
import type { Check } from './check.ts';
import { Successes } from './circumstances.ts';
import { Losses } from './losses.ts';
import { Restlessness } from './restlessness.ts';

const LAST_SEEN = 'beaconchain_machine_last_seen_timestamp_seconds';
/** Reading every value takes long. */
const EACH = 10;

type Field = readonly [metric: string, field: string];

/** Each metric, and the field of the push that it shows. */
const FIELDS: Readonly<Record<ArrayName, readonly Field[]>> = {
  system: [
    ['cpu_cores', 'cpu_cores'],
    ['cpu_seconds_total', 'cpu_node_system_seconds_total'],
    ['cpu_user_seconds_total', 'cpu_node_user_seconds_total'],
    ['disk_total_bytes', 'disk_node_bytes_total'],
    ['disk_free_bytes', 'disk_node_bytes_free'],
  ],
  validator: [['validators', 'validator_total']],
  node: [
    ['peers', 'network_peers_connected'],
    ['synced', 'sync_eth2_synced'],
  ],
};
const OF_PROCESS: readonly Field[] = [
  ['process_cpu_seconds_total', 'cpu_process_seconds_total'],
  ['process_memory_bytes', 'memory_process_bytes'],
];

/** One series of last_seen. */
export interface Seen {
  /** Labels without the process, as they are written. */
  readonly labels: string;
  readonly name: string;
  readonly array: ArrayName;
  readonly at: number;
}

export function* seenIn(scrape: Scrape): Generator<Seen> {
  for (const [text, at] of seriesNamed(scrape, LAST_SEEN)) {
    const [, labels = '', name = '', array = ''] = /^(.*,machine="(.*)"),process="(\w+)"$/.exec(text) ?? [];
    yield { labels, name: unescaped(name), array: array as ArrayName, at };
  }
}

/** The push that a time of last_seen is from. */
function pushAt(world: World, { name, array, at }: Seen, now: number): Push | undefined {
  const { machines } = world.service;
  const [machine] = machines.selected([name]);
  if (!machine) return undefined;
  // A service that gives seconds leaves out the rest.
  const start = Math.round(at * 1_000);
  const end = world.service.setting.timestamps === 'seconds' ? start + 999 : start;
  for (const push of machines.pushes(machine, array, { start, end }, now)) if (!machines.isSpoilt(push)) return push;
  return undefined;
}

/** What is shown of a process: each series and the value that its push has. */
function* valuesOf({ labels, array }: Seen, push: Push): Generator<readonly [series: string, expected: number]> {
  const fields = fieldsOf(push);
  for (const [metric, field] of FIELDS[array])
    yield [`beaconchain_machine_${metric}{${labels}}`, Number(fields[field])];
  if (array === 'system') return;
  for (const [metric, field] of OF_PROCESS)
    yield [`beaconchain_machine_${metric}{${labels},process="${array}"}`, Number(fields[field])];
}

/** Every value is that of the newest known push, and is withdrawn when it is too old and no sooner. The time of the push stays. */
export function machinesShown(): Check {
  const before = new Map<string, Map<string, number>>();
  const restlessness = new Restlessness();
  const successes = new Successes();
  const losses = new Losses();
  const excluded = new Set<string>();
  let scrapes = 0;
  return {
    name: 'machines: values are those of real pushes, and fresh',
    onMoment(world) {
      restlessness.see(world);
      if (excluded.size === 0) for (const name of world.story.setting.exporter.exclude) excluded.add(name);
      for (const name of excluded) if (!world.exporter.exclude.includes(name)) excluded.delete(name);
      return undefined;
    },
    onScrape(scrape, world) {
      scrapes += 1;
      const { host } = scrape;
      const last = losses.mayStepBack(host, world) ? undefined : before.get(host);
      const seen = new Map<string, number>();
      restlessness.see(world);
      successes.see(scrape, world);
      const maxAge = restlessness.staleAfter(scrape, world);
      for (const one of seenIn(scrape)) {
        const key = `${one.name} ${one.array}`;
        seen.set(key, one.at);
        if (world.story.setting.exporter.exclude.includes(one.name) && excluded.has(one.name))
          return `${host}: ${one.name} is excluded, and shown`;
        const previous = last?.get(key) ?? 0;
        if (one.at < previous) return `${host}: last_seen of ${key} was ${previous}, is ${one.at}`;
        if (one.at === 0) continue;
        if (scrapes % EACH !== 0 && one.at === previous && maxAge === undefined) continue;
        const push = pushAt(world, one, scrape.at);
        if (!push) return `${host}: ${key} never pushed at ${one.at}`;
        const now = nowOf(scrape, world);
        const mustShow = maxAge !== undefined && restlessness.mustShow(scrape, one.at * 1_000, world);
        const wrong = shownWrong(scrape, one, push, { age: now - one.at * 1_000, maxAge, mustShow });
        if (wrong) return `${host}: ${key}: ${wrong}`;
      }
      // A reload can exclude a machine, or expect it no more.
      const isAsBefore = world.exporter === world.story.setting.exporter;
      // The 0 of an expected machine goes when one of its other processes is seen.
      for (const [key, at] of last ?? [])
        if (isAsBefore && at > 0 && !seen.has(key)) return `${host}: last_seen of ${key} has gone`;
      before.set(host, seen);
      return undefined;
    },
    atEnd(world, scrapes) {
      for (const scrape of scrapes) {
        const wrong = successes.areDue(scrape, 'source="machines"') ? endsWrong(scrape, world) : undefined;
        if (wrong) return `${scrape.host}: ${wrong}`;
      }
      return undefined;
    },
  };
}

/** The clock by which the process judges ages. A replica that is cut off cannot know that the clock of Redis was set. */
function nowOf({ host, at, ownAt }: Scrape, world: World): number {
  if (!world.redis) return ownAt;
  const isCutOff = world.host(host).redisTroubleAt > at - HEARD_WITHIN_MS;
  return isCutOff ? Math.min(ownAt, world.redis.now()) : world.redis.now();
}

const HEARD_WITHIN_MS = 15_000;

/** `maxAge`: ms; undefined: nothing can be said of the age. `mustShow`: the push is too young to be withdrawn. */
function shownWrong(
  scrape: Scrape,
  seen: Seen,
  push: Push,
  { age, maxAge, mustShow }: { readonly age: number; readonly maxAge: number | undefined; readonly mustShow: boolean },
): string | undefined {
  for (const [series, expected] of valuesOf(seen, push)) {
    const value = scrape.series.get(series);
    if (value === undefined && mustShow) return `${series} is not shown, but its push is only ${age} ms old`;
    if (value === undefined) continue;
    if (value !== expected) return `${series} is ${value}, but the push of ${seen.at} has ${expected}`;
    if (maxAge !== undefined && age > maxAge) return `${series} is ${age} ms old, more than ${maxAge}`;
  }
  return undefined;
}

/** A machine that pushes is shown with its newest record but one sweep, and a silent one is withdrawn. */
function endsWrong(scrape: Scrape, world: World): string | undefined {
  const { machines } = world.service;
  const told = valueIn(scrape, 'beaconchain_source_interval_seconds', 'source="machines"') ?? 0;
  const interval = 1_000 * Math.max(told, world.exporter.intervals.machines);
  const shown = new Map<string, Seen>();
  for (const one of seenIn(scrape)) shown.set(`${one.name} ${one.array}`, one);
  const { missing } = world.story.setting.service;
  // A machine whose minute is missing is asked by name when its record is half as old as it may be.
  const { staleAfter = Math.max(600, (2 * interval) / 1_000 + 180) } = world.exporter;
  const untilAsked = missing.machine + missing.array > 0 ? 500 * staleAfter : 0;
  const swept = scrape.at - untilAsked - 1.1 * interval - MINUTE;
  for (const name of machines.names) {
    if (world.exporter.exclude.includes(name)) continue;
    const silentFrom = machines.spansOf(name).at(-1)?.until ?? 0;
    if (silentFrom <= scrape.at) {
      if (scrape.at - silentFrom < 30 * MINUTE || !isUndisturbed(world, silentFrom + 30 * MINUTE)) continue;
      const wrong = ARRAYS.find((array) => {
        const newest = machines.newest(name, array, scrape.at);
        return newest && Math.floor(newest.time / 1_000) !== Math.floor(shown.get(`${name} ${array}`)?.at ?? 0);
      });
      if (wrong) return `${name} is silent, and was not last seen when it last pushed (${wrong})`;
      continue;
    }
    const shownAt = (array: ArrayName): number => shown.get(`${name} ${array}`)?.at ?? 0;
    // A machine that was silent is seen at the next sweep, a new one within two.
    const mustBeAt = (array: ArrayName, before: number): number => {
      const newest = machines.newest(name, array, before);
      const isYoung = !newest || newest.time < (machines.spansOf(name).at(-1)?.from ?? 0) + interval;
      return isYoung ? 0 : Math.floor(newest.time / 1_000);
    };
    // It is not asked by name where it is found with another process, even if a minute of this one is missing again.
    const isFound = ARRAYS.some((array) => {
      const newest = mustBeAt(array, swept + untilAsked);
      return newest > 0 && shownAt(array) >= newest;
    });
    const before = missing.array > 0 && isFound ? swept - interval : swept;
    for (const array of ARRAYS) {
      const expected = mustBeAt(array, before);
      if (shownAt(array) < expected) return `${name} ${array} was last seen at ${shownAt(array)}, not at ${expected}`;
    }
  }
  return undefined;
}

/** What does no harm to the reading of records. */
const HARMLESS = ['silence', 'clients restart', 'disk fills', 'machine appears', 'slashings', 'reorganisation'];

/** Whether nothing has disturbed a sweep each minute up to this time. */
function isUndisturbed({ story, exporter }: World, until: number): boolean {
  const { service, network } = story.setting;
  const isOften = exporter.intervals.machines <= 60 && service.plan.perMonth === undefined;
  const hasFaults = Object.values(network.faults).some((share) => share > 0);
  if (!isOften || hasFaults || service.lag.of !== 'none') return false;
  return story.events.every(({ at, kind }) => story.start + at > until || HARMLESS.includes(kind));
}
