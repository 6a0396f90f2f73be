import type { Milliseconds } from '../../toolkit/lib/time.ts';
import type { WatchOptions } from '../source.ts';

export interface SlashingsOptions extends WatchOptions {
  readonly catchUpMs: Milliseconds;
  /** Whether to request who was slashed as a proposer. */
  readonly readsProposerNames: boolean;
  /** Whether to count the seats of watched validators in sync committees. */
  readonly countsSeats: boolean;
  /** Whether to read what the blocks of watched validators earned. */
  readonly readsOwnBlocks: boolean;
  /** The addresses that these blocks may pay, in lower case. Empty to allow any. */
  readonly feeRecipients: readonly string[];
}
