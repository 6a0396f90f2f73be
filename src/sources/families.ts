import { type Chain, MS_PER_EPOCH } from '../facts/chain.ts';
import type { Family, Labels, Sample } from '../toolkit/exposition/family.ts';
import { CLOCK_AHEAD_MS } from '../toolkit/lib/clock.ts';
import type { Milliseconds, UnixMs } from '../toolkit/lib/time.ts';
import type { Timing } from './source.ts';

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

interface Read {
  readonly readAt: UnixMs;
}

/** How long values are shown that are read once an interval: until two polls have failed, at least for three epochs. */
export function maxAge({ intervalMs }: Pick<Timing, 'intervalMs'>): Milliseconds {
  return Math.max(3 * MS_PER_EPOCH, 2 * intervalMs);
}

/** Whether a value is shown. One from far ahead of our clock was read before the clock was set back: its age is unknown. */
export function isShown({ readAt }: Read, maxAgeMs: Milliseconds, now: UnixMs): boolean {
  return now - readAt <= maxAgeMs && readAt - now <= CLOCK_AHEAD_MS;
}

/** The value; undefined if it is not shown. */
export function fresh<T extends Read>(one: T | undefined, maxAgeMs: Milliseconds, now: UnixMs): T | undefined {
  return one && isShown(one, maxAgeMs, now) ? one : undefined;
}

/** When, after `now`, the next of these values is withdrawn or shown again. Infinity: never. */
export function nextShownChange(
  values: readonly (readonly [one: Read | undefined, maxAge: Milliseconds])[],
  now: UnixMs,
): UnixMs {
  const changes = values.flatMap(([one, maxAgeMs]) =>
    one ? [one.readAt - CLOCK_AHEAD_MS, one.readAt + maxAgeMs + 1] : [],
  );
  return changes.reduce((next, at) => (at > now ? Math.min(next, at) : next), Number.POSITIVE_INFINITY);
}
