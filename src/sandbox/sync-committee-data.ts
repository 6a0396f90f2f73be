import { type Chain, EPOCHS_PER_SYNC_COMMITTEE_PERIOD } from '../lib/chain.ts';

/** Epochs of the Altair fork, both at the start of a period (api-facts 9). */
const ALTAIR_EPOCH: Record<Chain, number> = { mainnet: 74_240, hoodi: 0 };

export interface Period {
  readonly period: number;
  readonly firstEpoch: number;
  /** Inclusive. */
  readonly lastEpoch: number;
}

export function periodAt(epoch: number): number {
  return Math.floor(epoch / EPOCHS_PER_SYNC_COMMITTEE_PERIOD);
}

/** Undefined for a period before the first sync committee. */
export function periodOf(chain: Chain, period: number): Period | undefined {
  const firstEpoch = period * EPOCHS_PER_SYNC_COMMITTEE_PERIOD;
  if (firstEpoch < ALTAIR_EPOCH[chain]) return undefined;
  return { period, firstEpoch, lastEpoch: firstEpoch + EPOCHS_PER_SYNC_COMMITTEE_PERIOD - 1 };
}
