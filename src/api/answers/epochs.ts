import * as z from 'zod';
import { Amount, Count, Index, identity, List, Paging, ValidatorIndex, Wei } from './fields.ts';

/** A page of what validators did in one epoch (api-facts 11.5). The rows are read one by one. */
export const EpochPage = z.object({
  data: List,
  range: z.object({ epoch: z.object({ start: Index.nullish(), end: Index }) }),
  paging: Paging,
});

/** `finality`: any other value than `finalized`, or none, means that the epoch is not final yet. */
const Row = z.object({ validator: z.object({ index: identity(ValidatorIndex) }), finality: z.string().nullish() });

export const EpochDutiesRow = Row.extend({
  duties: z
    .object({
      /** Null if the validator had no duty. */
      attestation: z
        .object({
          assigned: Count.nullish(),
          included: Count.nullish(),
          missed: Count.nullish(),
          correct_head: Count.nullish(),
          correct_source: Count.nullish(),
          correct_target: Count.nullish(),
        })
        .nullish(),
    })
    .nullish(),
});
export type EpochDutiesRow = z.infer<typeof EpochDutiesRow>;

const Earned = z
  .object({ reward: Amount.nullish(), penalty: Amount.nullish(), missed_reward: Wei.nullish() })
  .nullish();

/** An absent part or amount is unknown, not 0. Missed rewards are estimates, which can be negative. */
export const EpochRewardsRow = Row.extend({
  total_reward: Amount.nullish(),
  total_penalty: Amount.nullish(),
  attestation: z
    .object({ head: Earned, source: Earned, target: Earned, inactivity_leak_penalty: Amount.nullish() })
    .nullish(),
  sync_committee: Earned,
  proposal: z
    .object({
      execution_layer_reward: Amount.nullish(),
      attestation_inclusion_reward: Amount.nullish(),
      sync_inclusion_reward: Amount.nullish(),
      slashing_inclusion_reward: Amount.nullish(),
      missed_cl_reward: Wei.nullish(),
      missed_el_reward: Wei.nullish(),
    })
    .nullish(),
});
export type EpochRewardsRow = z.infer<typeof EpochRewardsRow>;
