import {
  type Chain,
  EPOCHS_PER_SYNC_COMMITTEE_PERIOD as EPOCHS_PER_PERIOD,
  epochAt,
} from '../../../src/facts/chain.ts';
import { datapoint, newestDay } from '../../../src/sandbox/daily-returns.ts';
import { DAY, MINUTE, SECOND } from '../../support/time/timing.ts';
import { type Scrape, valueIn } from '../scrape.ts';
import type { World } from '../world.ts';
import type { Check } from './check.ts';

/** What is due once a day or once a period. */
interface News {
  readonly source: string;
  readonly series: string;
  /** The newest one that the service had at a time. */
  newest(world: World, chain: Chain, at: number): number;
  /** What is wrong with one that is shown. `latest`: the latest time that the clock of the process has shown, Unix ms. */
  wrong(shown: number, scrape: Scrape, chain: Chain, world: World, latest: number): string | undefined;
  /** When the calm is over the one of this much earlier is there. */
  learnedMs(world: World): number;
}

const NEWS: readonly News[] = [
  {
    source: 'daily_returns',
    series: 'beaconchain_daily_return_day',
    newest: ({ service }, chain, at) => newestDay(service.sandbox, chain, at),
    wrong(day, scrape, chain, { service }) {
      const newest = newestDay(service.sandbox, chain, scrape.at);
      if (day > newest) return `the newest is ${newest}`;
      const shown = valueIn(scrape, 'beaconchain_daily_return_total_rewards_ether', `chain="${chain}"`);
      // The nearest double: the parser of JavaScript rounds a decimal correctly, whatever its exponent.
      const expected = Number(`${datapoint(service.sandbox, chain, day).rewards.total}e-18`);
      return shown === expected ? undefined : `its rewards are ${shown}, not ${expected}`;
    },
    // The program may have learned how late days are.
    learnedMs: ({ service, story }) =>
      story.events.some(({ kind }) => kind === 'older day') ? DAY : 1.5 * service.setting.dayDelayMs,
  },
  {
    source: 'sync_committee',
    series: 'beaconchain_sync_committee_period',
    newest: (_, chain, at) => Math.floor(epochAt(chain, at) / EPOCHS_PER_PERIOD),
    wrong(period, scrape, chain, _, latest) {
      // Where `latest` is refused, a clock that is ahead asks for a period ahead, which is known to the service.
      const current = Math.floor(epochAt(chain, latest) / EPOCHS_PER_PERIOD);
      if (period > current) return `${current} is the latest`;
      const first = valueIn(scrape, 'beaconchain_sync_committee_start_epoch', `chain="${chain}"`);
      return first === period * EPOCHS_PER_PERIOD ? undefined : `it begins with ${first}`;
    },
    learnedMs: () => 5 * MINUTE,
  },
];

/** The shortest calm in which every source with such an interval is polled. */
const SHORT_MS = 30 * MINUTE;

/** A day and a period are true, never followed by an earlier one, and by the next one in time (behaviour 17). */
export function newsShown(): Check {
  const before = new Map<string, number>();
  let latest = Number.NEGATIVE_INFINITY;
  return {
    name: 'daily returns and sync committee: the newest one',
    onScrape(scrape, world) {
      latest = Math.max(latest, scrape.at, scrape.ownAt);
      for (const { series, wrong } of NEWS) {
        for (const chain of world.lastRead.chains) {
          const key = `${series}{chain="${chain}"}`;
          const shown = scrape.series.get(key);
          if (shown === undefined) continue;
          const last = before.get(key) ?? shown;
          before.set(key, shown);
          const why = shown < last ? `${last} was shown before` : wrong(shown, scrape, chain, world, latest);
          if (why !== undefined) return `${key} is ${shown}: ${why}`;
        }
      }
      return undefined;
    },
    atEnd(world, scrape) {
      for (const { source, series, newest, learnedMs } of NEWS) {
        for (const chain of world.exporter.chains) {
          const labels = `source="${source}",chain="${chain}"`;
          const interval = SECOND * (valueIn(scrape, 'beaconchain_source_interval_seconds', labels) ?? 0);
          const shown = valueIn(scrape, series, `chain="${chain}"`) ?? 0;
          const expected = newest(world, chain, world.calmSince - learnedMs(world));
          if (interval <= SHORT_MS && shown < expected) return `${series} of ${chain} is ${shown}, not ${expected}`;
        }
      }
      return undefined;
    },
  };
}
