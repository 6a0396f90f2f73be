import { seriesNamed, valueIn } from '../scrape.ts';
import type { World } from '../world.ts';
import type { Check } from './check.ts';

/** A source that is polled as seldom as this may still wait for its next poll. */
const SELDOM_SECONDS = 1_500;

/** When the trouble is over, the exporter works again by itself: it is up, and each source has just succeeded. */
export function recovers(): Check {
  return {
    name: 'recovery: every source succeeds again',
    atEnd(world, scrapes) {
      for (const host of world.hosts) {
        if (!scrapes.some((scrape) => scrape.host === host.name)) return `${host.name} does not run: ${host.lastEnd}`;
      }
      for (const scrape of scrapes) {
        for (const [labels, value] of seriesNamed(scrape, 'beaconchain_source_up')) {
          const told = (name: string): number => valueIn(scrape, `beaconchain_source_${name}`, labels) ?? 0;
          const waits = told('next_attempt_timestamp_seconds') > scrape.ownAt / 1_000;
          if (waits && told('interval_seconds') > SELDOM_SECONDS) continue;
          if (value !== 1 && !(labels.includes('daily_returns') && mayHaveTriedInVain(world)))
            return `${scrape.host}: ${labels} is not up`;
        }
        if (valueIn(scrape, 'beaconchain_exporter_config_last_reload_successful') === 0)
          return `${scrape.host}: not reloaded`;
      }
      return undefined;
    },
  };
}

/** The other path is tried once a day. Where its body was spoilt then, the source is not up before the next day. */
function mayHaveTriedInVain({ story: { events } }: World): boolean {
  return events.some(({ kind }) => kind === 'other path') && events.some(({ kind }) => kind === 'bodies');
}
