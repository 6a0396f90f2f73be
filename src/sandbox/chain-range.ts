import { type Chain, SECONDS_PER_SLOT, SLOTS_PER_EPOCH, slotTime } from '../facts/chain.ts';
import type { Bounds } from './body.ts';

/** The range object of api-facts 3.1 for epochs, both inclusive; its last second is the end of the time span. */
export function epochsRange(
  chain: Chain,
  first: number,
  last: number,
): { slot: Bounds; epoch: Bounds; timestamp: Bounds } {
  const slot = { start: first * SLOTS_PER_EPOCH, end: (last + 1) * SLOTS_PER_EPOCH - 1 };
  return {
    slot,
    epoch: { start: first, end: last },
    timestamp: { start: slotTime(chain, slot.start), end: slotTime(chain, slot.end) + SECONDS_PER_SLOT - 1 },
  };
}
