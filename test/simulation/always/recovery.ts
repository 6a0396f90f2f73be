import { seriesNamed, valueIn } from '../scrape.ts';
import type { Check } from './check.ts';

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
          if (value !== 1) return `${scrape.host}: ${labels} is not up`;
        }
        if (valueIn(scrape, 'beaconchain_exporter_config_last_reload_successful') === 0)
          return `${scrape.host}: not reloaded`;
      }
      return undefined;
    },
  };
}
