import type { Chain } from '../facts/chain.ts';
import type { Family, Labels, Sample } from '../toolkit/exposition/family.ts';
import { CLOCK_AHEAD_MS } from '../toolkit/lib/clock.ts';
import type { Milliseconds, UnixMs } from '../toolkit/lib/time.ts';

/** In HELP of what is known from documents alone. */
export const UNPROVEN = 'Unproven: no recorded answer of the service shows it';

/** A counter if its name ends in `_total`, otherwise a gauge. */
export function family(name: string, help: string, samples: readonly Sample[]): Family {
  const type = name.endsWith('_total') ? 'counter' : 'gauge';
  return { name: `beaconchain_${name}`, type, help: `${help}.`, samples };
}

/** One sample of a chain; none if the value is not known. */
export function sample(chain: Chain, value: number | null | undefined, labels: Labels = {}): Sample[] {
  return value == null ? [] : [{ labels: { chain, ...labels }, value }];
}

/**
 * Whether a value that was read at `readAt` is shown. A value from far ahead of our clock was read before the clock was
 * set back, so its age is unknown.
 */
export function isShown(readAt: UnixMs, maxAgeMs: Milliseconds, now: UnixMs): boolean {
  return now - readAt <= maxAgeMs && readAt - now <= CLOCK_AHEAD_MS;
}

/** When, after `now`, the next of these values is withdrawn or shown again. Infinity: never. */
export function nextShownChange(values: readonly (readonly [UnixMs, Milliseconds])[], now: UnixMs): UnixMs {
  const changes = values.flatMap(([readAt, maxAgeMs]) => [readAt - CLOCK_AHEAD_MS, readAt + maxAgeMs + 1]);
  return changes.reduce((next, at) => (at > now ? Math.min(next, at) : next), Number.POSITIVE_INFINITY);
}
