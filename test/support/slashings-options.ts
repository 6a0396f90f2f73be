import type { SlashingsOptions } from '../../src/sources/slashings/poll.ts';
import { DAY, MINUTE } from './timing.ts';

/** The default configuration on mainnet, but each minute, without watched validators and without listeners. */
export function slashingsOptions(overrides: Partial<SlashingsOptions> = {}): SlashingsOptions {
  return {
    chain: 'mainnet',
    intervalMs: MINUTE,
    weight: 1,
    catchUpMs: 7 * DAY,
    watch: [],
    onSlashing: () => undefined,
    onSkipped: () => undefined,
    ...overrides,
  };
}
