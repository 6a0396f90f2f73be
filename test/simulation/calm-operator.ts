import { type Scrape, seriesNamed, valueIn } from './scrape.ts';
import type { World } from './world.ts';

/** A source that may not ask for longer than this waits for a quota or for a long refusal. */
const LONG_WAIT_SECONDS = 3_700;

/** What an operator does after a look at /metrics in the calm: only what the program cannot do by itself. */
export function operate(world: World, scrapes: readonly Scrape[]): void {
  const isBroken = scrapes.some((one) => valueIn(one, 'beaconchain_exporter_config_last_reload_successful') === 0);
  const isRevoked = scrapes.some((one) => valueIn(one, 'beaconchain_api_access_revoked') === 1);
  if (scrapes.some((one) => waitsLong(one) || hasNothingLeft(one))) world.giveAnotherKey('key of the calm');
  else if (isBroken || isRevoked) world.reload();
}

function waitsLong(scrape: Scrape): boolean {
  const now = scrape.ownAt / 1_000;
  for (const [, until] of seriesNamed(scrape, 'beaconchain_source_quota_wait_end_timestamp_seconds')) {
    if (until > now + LONG_WAIT_SECONDS) return true;
  }
  for (const [labels, next] of seriesNamed(scrape, 'beaconchain_source_next_attempt_timestamp_seconds')) {
    const isPaced = labels.includes('machines') || labels.includes('slashings');
    if (isPaced && next > now + LONG_WAIT_SECONDS && next < Number.POSITIVE_INFINITY) return true;
  }
  return false;
}

/** A source can need two buckets. While one of them is used up, it is polled, but fails. */
function hasNothingLeft(scrape: Scrape): boolean {
  const resets = seriesNamed(scrape, 'beaconchain_ratelimit_reset_timestamp_seconds');
  return resets.some(([labels, at]) => {
    const left = valueIn(scrape, 'beaconchain_ratelimit_remaining', `${labels},window="month"`);
    return left === 0 && at > scrape.ownAt / 1_000 + LONG_WAIT_SECONDS;
  });
}
