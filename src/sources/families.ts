import { type Chain, MS_PER_EPOCH } from '../facts/chain.ts';
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

/** One sample of a chain, or none if the value is not known. @param until When it has to be computed again */
export function sample(chain: Chain, value: number | null | undefined, labels: Labels = {}, until?: UnixMs): Sample[] {
  return value == null ? [] : [{ labels: { chain, ...labels }, value, ...(until !== undefined && { until }) }];
}

interface Dated {
  readonly readAt: UnixMs;
}

/** How long values are shown that are read once an interval: until two reads have failed, at least for so many epochs. */
export function maxAge(intervalMs: Milliseconds, epochs = 3): Milliseconds {
  return Math.max(epochs * MS_PER_EPOCH, 2 * intervalMs);
}

/**
 * The first time at which a value is too old. Undefined: the value is not shown at `now`. A value from far ahead of our clock
 * was read before the clock was set back, so its age is unknown.
 */
export function shownUntil({ readAt }: Dated, maxAgeMs: Milliseconds, now: UnixMs): UnixMs | undefined {
  return now - readAt <= maxAgeMs && readAt - now <= CLOCK_AHEAD_MS ? readAt + maxAgeMs + 1 : undefined;
}

/** The value, and until when it is shown. Undefined: the value is not shown at `now`. */
export function fresh<T extends Dated>(
  one: T | undefined,
  maxAgeMs: Milliseconds,
  now: UnixMs,
): (T & { readonly until: UnixMs }) | undefined {
  const until = one && shownUntil(one, maxAgeMs, now);
  return one && until !== undefined ? { ...one, until } : undefined;
}
