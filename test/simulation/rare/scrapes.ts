import { SECONDS_PER_EPOCH } from '../../../src/lib/chain.ts';
import type { Check } from '../always/check.ts';
import { type Scrape, seriesNamed, unescaped, valueIn } from '../scrape.ts';
import type { World } from '../world.ts';

const LATE_MS = 120_000;
/** Seconds: at an interval of a minute. */
const AUTO_STALE_AFTER = 600;
const LAST_SEEN = 'beaconchain_machine_last_seen_timestamp_seconds';

/** What of a scrape is compared with the next one. */
interface Figures {
  readonly at: number;
  readonly process: number;
  readonly isLeader: boolean;
  readonly attempts: number;
  readonly writeFailures: number;
  readonly invalidRecords: number;
  /** last_seen of each system record, by its labels. */
  readonly seen: ReadonlyMap<string, number>;
  /** The machines whose values are shown. */
  readonly shown: ReadonlySet<string>;
}

/** Notices rare states in what is scraped. Nothing is wrong with any of them. */
export function rareScrapes(): Check {
  const before = new Map<string, Figures>();
  return {
    name: 'rare states',
    onScrape(scrape, world) {
      const now = figuresOf(scrape);
      const last = before.get(scrape.host);
      seePaces(scrape, world);
      if (last) seeChange(scrape, last, now, world);
      for (const other of before.values())
        if (other.at === now.at && other.attempts !== now.attempts) world.reach('a follower behind its leader');
      before.set(scrape.host, now);
      return undefined;
    },
  };
}

function figuresOf(scrape: Scrape): Figures {
  const sum = (name: string): number => [...seriesNamed(scrape, name)].reduce((total, [, value]) => total + value, 0);
  const { at, process } = scrape;
  const seen = new Map<string, number>();
  for (const [labels, time] of seriesNamed(scrape, LAST_SEEN))
    if (labels.endsWith(',process="system"')) seen.set(labels.slice(0, -',process="system"'.length), time);
  return {
    at,
    process,
    isLeader: valueIn(scrape, 'beaconchain_exporter_leader') === 1,
    attempts: sum('beaconchain_source_attempts_total'),
    writeFailures: sum('beaconchain_exporter_state_write_failures_total'),
    invalidRecords: valueIn(scrape, 'beaconchain_api_invalid_records_total', 'endpoint="machine_metrics"') ?? 0,
    seen,
    shown: new Set([...seriesNamed(scrape, 'beaconchain_machine_cpu_cores')].map(([labels]) => labels)),
  };
}

function seePaces(scrape: Scrape, world: World): void {
  const { intervals } = world.exporter;
  for (const [labels, seconds] of seriesNamed(scrape, 'beaconchain_source_interval_seconds')) {
    const configured = labels.includes('"machines"') ? intervals.machines : intervals.slashings;
    const isFast = labels.includes('"machines"') || labels.includes('"slashings"');
    if (isFast && seconds > 1.05 * configured) world.reach('a stretched interval');
    if (labels.includes('"slashings"') && seconds > SECONDS_PER_EPOCH) world.reach('no head passes');
  }
  for (const [, end] of seriesNamed(scrape, 'beaconchain_source_quota_wait_end_timestamp_seconds'))
    if (end > 0) world.reach('a wait for the quota');
}

function seeChange(scrape: Scrape, last: Figures, now: Figures, world: World): void {
  if (now.process === last.process && now.isLeader && !last.isLeader)
    world.reach('a scrape of both roles of one process');
  if (now.writeFailures > last.writeFailures && now.attempts === last.attempts)
    world.reach('a scrape while the state cannot be written');
  if (now.invalidRecords > last.invalidRecords && now.shown.size > 0) world.reach('a bad record among good ones');
  const isUp = valueIn(scrape, 'beaconchain_source_up', 'source="machines"') === 1;
  for (const labels of last.shown)
    if (!isUp && now.seen.has(labels) && !now.shown.has(labels)) world.reach('values withdrawn during an outage');
  for (const labels of now.shown) if (labels.includes('\\')) world.reach('a name with a quote or a line break');
  for (const [labels, time] of now.seen) {
    const known = last.seen.get(labels) ?? 0;
    if (known > 0 && time > known) seePush(labels, known, time, world);
  }
}

/** A newer record of a machine. */
function seePush(labels: string, known: number, time: number, world: World): void {
  const { machines } = world.service;
  const name = unescaped(/machine="(.*)"$/.exec(labels)?.[1] ?? '');
  const [machine] = machines.selected([name]);
  if (!machine) return;
  if (machines.lagOf(machine.id, time * 1_000) > LATE_MS) world.reach('a record that came late');
  const isBack = machine.spans.some(({ from }) => from > known * 1_000 && from <= time * 1_000);
  const { staleAfter = AUTO_STALE_AFTER } = world.exporter;
  if (isBack && time - known > staleAfter) world.reach('a machine back after its silence');
}
