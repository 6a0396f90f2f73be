import { seriesNamed, valueIn } from '../scrape.ts';
import type { Check } from './check.ts';

/** A source that is polled as seldom as this may still wait for its next poll. */
const SELDOM_SECONDS = 1_500;

/** When the trouble is over, each source has just succeeded, at its configured interval, and nothing waits. */
export function recovers(): Check {
  return {
    name: 'recovery: everything is right again',
    atEnd({ service }, scrape) {
      const now = scrape.ownAt / 1_000;
      for (const [labels, value] of seriesNamed(scrape, 'beaconchain_source_up')) {
        const told = (name: string): number => valueIn(scrape, `beaconchain_source_${name}`, labels) ?? 0;
        const waits = told('next_attempt_timestamp_seconds') > now;
        if (value !== 1 && !(waits && told('interval_seconds') > SELDOM_SECONDS)) return `${labels} is not up`;
        if (told('quota_wait_end_timestamp_seconds') > now) return `${labels} waits for the quota`;
      }
      // Without headers the program stays at one request a second, which may be too little.
      const isTold = !['none', 'fallback'].includes(service.account.headers.sent);
      for (const [labels, ratio] of seriesNamed(scrape, 'beaconchain_budget_stretch_ratio'))
        if (isTold && ratio > 1.001) return `${labels} is stretched by ${ratio}`;
      const expected = { exporter_config_last_reload_successful: 1, api_access_revoked: 0, api_key_valid: 1 };
      for (const [name, value] of Object.entries(expected)) {
        const shown = valueIn(scrape, `beaconchain_${name}`);
        if (shown !== value) return `${name} is ${shown}`;
      }
      return undefined;
    },
  };
}
