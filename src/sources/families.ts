import type { Chain } from '../facts/chain.ts';
import type { Family, Labels, Sample } from '../toolkit/exposition/family.ts';
import type { UnixMs } from '../toolkit/lib/time.ts';

/** For HELP of what only documents show. */
export const UNPROVEN = 'Unproven: no recorded response of the service shows it';

/** A counter if its name ends in `_total`, otherwise a gauge. */
export function family(name: string, help: string, samples: readonly Sample[]): Family {
  const type = name.endsWith('_total') ? 'counter' : 'gauge';
  return { name: `beaconchain_${name}`, type, help: `${help}.`, samples };
}

/** One sample of a chain, or none if the value is unknown. @param until When to compute the sample again */
export function sample(chain: Chain, value: number | null | undefined, labels: Labels = {}, until?: UnixMs): Sample[] {
  return value == null ? [] : [{ labels: { chain, ...labels }, value, ...(until !== undefined && { until }) }];
}
