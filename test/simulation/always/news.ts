import type { Chain } from '../../../src/lib/chain.ts';
import { MINUTE, SECOND } from '../../support/timing.ts';
import { type Scrape, seriesNamed, valueIn } from '../scrape.ts';
import type { World } from '../world.ts';
import type { Check } from './check.ts';
import { following, when } from './following.ts';
import { isDisturbance, isFailure } from './spells.ts';
import { isKnown } from './steady.ts';

/** What is due once a day or once a period: its source, the series that shows the newest one, and the truth. */
interface News {
  readonly source: string;
  readonly series: string;
  /** The newest one that the service had. */
  readonly newest: (world: World, chain: Chain, at: number) => number;
  /** The program may wait longer for the next one by this, because the last one was that much later. */
  readonly learnedMs: (world: World) => number;
}

const NEWS: readonly News[] = [
  {
    source: 'daily_returns',
    series: 'beaconchain_daily_return_day',
    newest: ({ service }, chain, at) => service.periods.newestDay(chain, at),
    learnedMs: ({ service }) => service.setting.dayDelayMs,
  },
  {
    source: 'sync_committee',
    series: 'beaconchain_sync_committee_period',
    newest: ({ service }, chain, at) => service.periods.period(chain, at),
    learnedMs: () => 5 * MINUTE,
  },
];

/** A poll that finds nothing new is followed by another one, and the first one may have been just before. */
const POLLS = 3;
const SLACK_MS = 15 * MINUTE;
/** While nothing is sent for so many of the shortest interval told, a wait is under way. */
const SILENT = 2;
/** After these the service answers another way than it usually does, or the program does not ask as usual. */
const IRREGULAR = [
  'day late',
  'older day',
  'period late',
  'other path',
  'views refused',
  'forbidden',
  'extra forbidden',
];

/**
 * In a time in which nothing disturbs its source, a new day, and a new sync committee, is shown a few polls after the
 * service has it (behaviour 17). At the end of a story that is seldom seen, because most stories are shorter than a day.
 */
export function newsShown(): Check {
  let disturbedAt = Number.NEGATIVE_INFINITY;
  let sentAt = Number.NEGATIVE_INFINITY;
  /** When a request last failed, by source. */
  const failedAt = new Map<string, number>();
  const follower = following('daily returns and sync committee: the next one is shown in time', (event) => {
    if (event.kind === 'sent') sentAt = event.at;
    // After a 429 all sources wait.
    if (isFailure(event) && event.sent.head?.status !== 429) failedAt.set(event.sent.source, event.at);
    else if (isDisturbance(event)) disturbedAt = event.at;
    return undefined;
  });
  return {
    ...follower,
    onScrape(scrape, world) {
      follower.onMoment(world);
      const { process, clockOffsetMs } = world.host(scrape.host);
      if (clockOffsetMs !== 0 || isWaiting(scrape, sentAt)) disturbedAt = scrape.at;
      if (world.exporter.replicas > 0 || !isKnown(world)) return undefined;
      if (world.story.events.some(({ kind }) => IRREGULAR.includes(kind))) return undefined;
      const calmAt = Math.max(disturbedAt, process?.clock.resumesAt ?? disturbedAt);
      for (const news of NEWS) {
        for (const chain of world.exporter.chains) {
          const since = Math.max(calmAt, failedAt.get(`${news.source}-${chain}`) ?? calmAt);
          const wrong = lateIn(news, chain, scrape, since, world);
          if (wrong !== undefined) return `${scrape.host}: ${chain}: ${wrong}`;
        }
      }
      return undefined;
    },
  };
}

function isWaiting(scrape: Scrape, sentAt: number): boolean {
  if (valueIn(scrape, 'beaconchain_api_access_revoked') === 1) return true;
  const told = seriesNamed(scrape, 'beaconchain_source_interval_seconds').map(([, seconds]) => seconds);
  return scrape.at - sentAt > SILENT * SECOND * Math.min(...told) + SLACK_MS;
}

function lateIn(news: News, chain: Chain, scrape: Scrape, since: number, world: World): string | undefined {
  const labels = `source="${news.source}",chain="${chain}"`;
  const told = (name: string): number => valueIn(scrape, `beaconchain_source_${name}`, labels) ?? 0;
  if (told('up') !== 1 || told('quota_wait_end_timestamp_seconds') > 0) return undefined;
  const { intervals, refreshMs } = world.exporter;
  const interval = SECOND * Math.max(told('interval_seconds'), intervals.daily);
  const known = scrape.at - POLLS * interval - news.learnedMs(world) - SLACK_MS - refreshMs;
  if (since > known) return undefined;
  const expected = news.newest(world, chain, known);
  const shown = valueIn(scrape, news.series, `chain="${chain}"`) ?? 0;
  return shown < expected ? `${news.series} is ${shown}, and was ${expected} at ${when(known, world)}` : undefined;
}
