import type { SlashingsOptions } from '../../src/sources/slashings/options.ts';
import { DAY, MINUTE } from './timing.ts';

/** The default configuration on mainnet, but each minute, without watched validators and without listeners. */
export function slashingsOptions(overrides: Partial<SlashingsOptions> = {}): SlashingsOptions {
  return {
    chain: 'mainnet',
    intervalMs: MINUTE,
    weight: 1,
    catchUpMs: 7 * DAY,
    watch: [],
    readsProposerNames: false,
    operatorAt: 0,
    onSlashing: () => undefined,
    onMissedProposal: () => undefined,
    slashedByStatus: () => [],
    onUnnamed: () => undefined,
    onNoCommittee: () => undefined,
    onSkipped: () => undefined,
    onTied: () => undefined,
    onFinalityBack: () => undefined,
    ...overrides,
  };
}
