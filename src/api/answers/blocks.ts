import * as z from 'zod';
import { Address } from '../../facts/fields.ts';
import { Index, Wei } from './fields.ts';

const Payment = z
  .object({ amount: Wei.nullish(), recipient: z.object({ address: Address.nullish() }).nullish() })
  .nullish();

/** What a block paid on the execution layer (api-facts 11.4), as recorded. */
export const BlockRewardsAnswer = z.object({
  data: z.object({
    total_reward: Payment,
    /** If a builder made the block, the builder gets these. */
    priority_fees: Payment,
    /** Null if the proposer built the block. */
    mev: Payment,
    consensus_reference: z.object({ slot: Index.nullish() }).nullish(),
  }),
});
export type BlockRewardsAnswer = z.infer<typeof BlockRewardsAnswer>;
