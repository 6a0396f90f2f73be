import { MINUTE, SECOND } from '../../support/timing.ts';
import { type Scrape, seriesNamed, unescaped, valueIn } from '../scrape.ts';
import { ARRAYS, type ArrayName, fieldsOf, type Push } from '../service/machines.ts';
import type { World } from '../world.ts';
import { Ages } from './ages.ts';
import type { Check } from './check.ts';

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
interface Seen {
  /** Labels without the process, as they are written. */
  readonly labels: string;
  readonly name: string;
  readonly array: ArrayName;
  /** Seconds. */
  readonly at: number;
}

function* seenIn(scrape: Scrape): Generator<Seen> {
  for (const [text, at] of seriesNamed(scrape, LAST_SEEN)) {
    const [, labels = '', name = '', array = ''] = /^(.*,machine="(.*)"),process="(\w+)"$/.exec(text) ?? [];
    yield { labels, name: unescaped(name), array: array as ArrayName, at };
  }
}

/** When each process of each machine was last seen, as a scrape shows it. */
export function lastSeen(scrape: Scrape): Map<string, number> {
  return new Map([...seenIn(scrape)].map(({ name, array, at }) => [`${name} ${array}`, at]));
}

/** The push that a time of last_seen is from. */
function pushOf({ service }: World, { name, array, at }: Seen, now: number): Push | undefined {
  const { machines } = service;
  const [machine] = machines.selected([name]);
  if (!machine) return undefined;
  // A service that gives seconds leaves out the rest.
  const start = Math.round(at * SECOND);
  const end = service.setting.timestamps === 'seconds' ? start + 999 : start;
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
  let before = new Map<string, number>();
  const ages = new Ages();
  let scrapes = 0;
  return {
    name: 'machines: values are those of real pushes, and fresh',
    onEvent: (event) => ages.note(event),
    onScrape(scrape, world) {
      scrapes += 1;
      const seen = new Map<string, number>();
      const maxAge = ages.longest(scrape, world);
      for (const one of seenIn(scrape)) {
        const key = `${one.name} ${one.array}`;
        seen.set(key, one.at);
        const previous = before.get(key) ?? 0;
        if (one.at < previous) return `last_seen of ${key} was ${previous}, is ${one.at}`;
        if (one.at === 0 || (scrapes % EACH !== 0 && one.at === previous && maxAge === undefined)) continue;
        const push = pushOf(world, one, scrape.at);
        if (!push) return `${key} never pushed at ${one.at}`;
        const age = scrape.ownAt - one.at * SECOND;
        const mustShow = ages.mustShow(scrape, one.at * SECOND, world);
        for (const [series, expected] of valuesOf(one, push)) {
          const value = scrape.series.get(series);
          if (value === undefined && mustShow) return `${series} is not shown, but its push is only ${age} ms old`;
          if (value === undefined) continue;
          if (value !== expected) return `${series} is ${value}, but the push of ${one.at} has ${expected}`;
          if (maxAge !== undefined && age > maxAge) return `${series} is ${age} ms old, more than ${maxAge}`;
        }
      }
      // The 0 of an expected machine goes when one of its other processes is seen.
      for (const [key, at] of before) if (at > 0 && !seen.has(key)) return `last_seen of ${key} has gone`;
      before = seen;
      return undefined;
    },
    atEnd: (world, scrape) => machineLate(scrape, world),
  };
}

/** A machine that pushes is shown with its newest record but one sweep. */
function machineLate(scrape: Scrape, world: World): string | undefined {
  const { machines } = world.service;
  const told = valueIn(scrape, 'beaconchain_source_interval_seconds', 'source="machines"') ?? 0;
  const interval = SECOND * Math.max(told, world.exporter.intervals.machines);
  // A machine whose minute is missing is asked by name when its record is half as old as it may be.
  const staleAfter = world.exporter.staleAfter * SECOND || Math.max(10 * MINUTE, 2 * interval + 3 * MINUTE);
  const untilAsked = world.story.setting.service.missing > 0 ? staleAfter / 2 : 0;
  const swept = scrape.at - untilAsked - 1.1 * interval - MINUTE;
  const shown = lastSeen(scrape);
  for (const name of machines.names) {
    const { from, until } = machines.lastSpan(name);
    if (until <= scrape.at) continue;
    for (const array of ARRAYS) {
      const newest = machines.newest(name, array, swept);
      const at = shown.get(`${name} ${array}`) ?? 0;
      // A machine that was silent is seen at the next sweep, a new one within two.
      if (newest && newest.time >= from + interval && at < Math.floor(newest.time / SECOND))
        return `${name} ${array} was last seen at ${at}, not at ${newest.time / SECOND}`;
    }
  }
  return undefined;
}
