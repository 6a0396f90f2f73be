import { CLOCK_AHEAD_MS } from '../toolkit/lib/clock.ts';
import { MS_PER_MINUTE, SECONDS_PER_DAY } from '../toolkit/lib/duration.ts';
import type { Milliseconds, UnixMs, UnixSeconds } from '../toolkit/lib/time.ts';

/** Chain constants. Source: the published configs of eth-clients/mainnet and eth-clients/hoodi. */
export const CHAINS = {
  mainnet: { genesis: 1606824023, v1BaseUrl: 'https://beaconcha.in' },
  // The actual genesis of hoodi was 600 s after its MIN_GENESIS_TIME.
  hoodi: { genesis: 1742213400, v1BaseUrl: 'https://hoodi.beaconcha.in' },
} as const;

export type Chain = keyof typeof CHAINS;

export const CHAIN_NAMES = Object.keys(CHAINS) as [Chain, ...Chain[]];

export const SECONDS_PER_SLOT = 12;
export const SLOTS_PER_EPOCH = 32;
export const SECONDS_PER_EPOCH = SECONDS_PER_SLOT * SLOTS_PER_EPOCH;
export const MS_PER_EPOCH = SECONDS_PER_EPOCH * 1000;
export const EPOCHS_PER_DAY = SECONDS_PER_DAY / SECONDS_PER_EPOCH;
/** How old the data in a response usually are, at most. */
export const USUAL_AGE = {
  head: 10 * MS_PER_MINUTE,
  status: 3 * MS_PER_EPOCH,
  /** Over 24 hours of finalized epochs. */
  sums: 6 * MS_PER_EPOCH,
} as const satisfies Record<string, Milliseconds>;
/** Data about an epoch in progress have the date of its end. */
export const DATED_AHEAD_MS: Milliseconds = CLOCK_AHEAD_MS + MS_PER_EPOCH;
/** The same on both chains. */
export const EPOCHS_PER_SYNC_COMMITTEE_PERIOD = 256;
export const MS_PER_PERIOD = EPOCHS_PER_SYNC_COMMITTEE_PERIOD * MS_PER_EPOCH;

/** A page of the public explorer. Each chain has its own host. */
export function explorerUrl(chain: Chain, kind: 'slot' | 'validator', number: number): string {
  return `${CHAINS[chain].v1BaseUrl}/${kind}/${number}`;
}

export function periodOf(epoch: number): number {
  return Math.floor(epoch / EPOCHS_PER_SYNC_COMMITTEE_PERIOD);
}

export function slotTime(chain: Chain, slot: number): UnixSeconds {
  return CHAINS[chain].genesis + slot * SECONDS_PER_SLOT;
}

export function epochTime(chain: Chain, epoch: number): UnixSeconds {
  return slotTime(chain, epoch * SLOTS_PER_EPOCH);
}

/** The first ms after an epoch. */
export function epochEnd(chain: Chain, epoch: number): UnixMs {
  return epochTime(chain, epoch + 1) * 1000;
}

export function periodTime(chain: Chain, period: number): UnixSeconds {
  return epochTime(chain, period * EPOCHS_PER_SYNC_COMMITTEE_PERIOD);
}

/**
 * The exporter ignores answers about a time further ahead of its clock than this: days and periods never move back, so no
 * correct answer would ever replace them. The limit is wide, because a test chain may run ahead.
 */
export const NONSENSE_AHEAD_SECONDS = 365 * SECONDS_PER_DAY;

export function epochAt(chain: Chain, now: UnixMs): number {
  return Math.floor((now / 1000 - CHAINS[chain].genesis) / SECONDS_PER_EPOCH);
}
