import { watchedGroups } from '../../../src/facts/groups.ts';
import type { SlashingsOptions } from '../../../src/sources/slashings/options.ts';
import { DAY, MINUTE } from '../time/timing.ts';

/** The default configuration on mainnet, but each minute, and without watched validators. */
export function slashingsOptions(overrides: Partial<SlashingsOptions> = {}): SlashingsOptions {
  return {
    chain: 'mainnet',
    intervalMs: MINUTE,
    chains: 1,
    catchUpMs: 7 * DAY,
    watch: [],
    groups: watchedGroups(overrides.watch ?? [], []),
    readsProposerNames: false,
    countsSeats: false,
    readsOwnBlocks: false,
    feeRecipients: [],
    ...overrides,
  };
}
