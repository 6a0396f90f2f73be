import { percent } from '../../toolkit/lib/words.ts';
import { NOT_KNOWN, type Summary } from '../content.ts';
import type { Timing } from '../source.ts';
import { shownNetwork } from './metrics.ts';
import type { Network } from './schema.ts';

/** How the network does its duties. */
export function networkSummary(value: Network, timing: Timing): Summary {
  const { assigned, done } = shownNetwork(value, timing).performance?.sums.duties.attestation ?? {
    assigned: 0,
    done: 0,
  };
  const rate = assigned > 0 ? `${percent(done / assigned, 1)} of the attestations of the last 24 hours` : NOT_KNOWN;
  return { facts: [['Network', rate]] };
}
