import * as z from 'zod';

const Index = z.number().int().nonnegative();
const Count = z.number().nonnegative();
/** Wei as a decimal string. */
export const Wei = z.string().regex(/^\d{1,30}$/);

/** Wei that a penalty can make negative. */
const SignedWei = z.string().regex(/^-?\d{1,30}$/);

/** As the service names them (api-facts 10.1). */
const SERVICE_STATUSES = [
  'pending_initialized',
  'pending_queued',
  'active_ongoing',
  'active_exiting',
  'active_slashed',
  'exited_unslashed',
  'exited_slashed',
  'withdrawal_possible',
  'withdrawal_done',
] as const;
/** `unknown`: any other name. `not_found`: the service does not know the validator. */
export const STATUSES = [...SERVICE_STATUSES, 'unknown', 'not_found'] as const;
export const Status = z.enum(STATUSES);
export type Status = z.infer<typeof Status>;

/** The epoch at which an answer was computed. */
export const Range = z.object({ epoch: z.union([Index, z.object({ end: Index }).transform(({ end }) => end)]) });

/** api-facts 10.1. The rows are read one by one. */
export const ValidatorsAnswer = z.object({
  data: z.array(z.unknown()),
  range: Range,
  paging: z.object({ next_cursor: z.string().nullish() }).nullish(),
});

export const ValidatorRow = z.object({
  validator: z.object({ index: Index }),
  slashed: z.boolean(),
  status: z.enum(SERVICE_STATUSES).or(z.string().transform((): Status => 'unknown')),
  online: z.boolean().nullish(),
  balances: z.object({ current: Wei.nullish(), effective: Wei.nullish() }).nullish(),
  /** Null before an exit. Only the time of a slashing needs them, so the row is valid without. */
  life_cycle_epochs: z.object({ exit: Index, withdrawable: Index }).nullish().catch(null),
});
export type ValidatorRow = z.infer<typeof ValidatorRow>;

/** api-facts 10.2. Null where no validator had the duty; an absent field is not 0. Penalties can make a score negative. */
const Score = z.number().max(1).nullish();
const Duty = z.object({ assigned: Count, missed: Count });
const NO_DUTY = { assigned: 0, missed: 0, done: 0 };
const Successful = Duty.extend({ successful: Count })
  .transform(({ successful, ...duty }) => ({ ...duty, done: successful }))
  .nullable()
  .transform((duty) => duty ?? NO_DUTY);
const Attestation = Duty.extend({
  included: Count,
  correct_head: Count.nullish(),
  correct_source: Count.nullish(),
  correct_target: Count.nullish(),
  avg_inclusion_delay: Count.nullish(),
})
  .transform(({ included, ...duty }) => ({ ...duty, done: included }))
  .nullable()
  .transform((duty) => duty ?? { ...NO_DUTY, correct_head: 0, correct_source: 0, correct_target: 0 });
export const PerformanceAnswer = z.object({
  data: z.object({
    beaconscore: z.object({ total: Score, attestation: Score, proposal: Score, sync_committee: Score }).nullish(),
    duties: z.object({
      attestation: Attestation,
      proposal: Successful,
      sync_committee: Successful,
    }),
  }),
  range: Range.nullish(),
});
export type PerformanceAnswer = z.infer<typeof PerformanceAnswer>;

const Missed = z.object({ missed_reward: Wei.nullish() }).nullish();
/** api-facts 11.1. A part or an amount that is absent is not known. */
export const RewardsAnswer = z.object({
  data: z.object({
    total_penalty: Wei.nullish(),
    attestation: z.object({ total: SignedWei.nullish(), head: Missed, source: Missed, target: Missed }).nullish(),
    sync_committee: z.object({ total: SignedWei.nullish(), missed_reward: Wei.nullish() }).nullish(),
    proposal: z
      .object({
        execution_layer_reward: Wei.nullish(),
        attestation_inclusion_reward: Wei.nullish(),
        sync_inclusion_reward: Wei.nullish(),
        slashing_inclusion_reward: Wei.nullish(),
        missed_cl_reward: Wei.nullish(),
        missed_el_reward: Wei.nullish(),
      })
      .nullish(),
  }),
  range: Range,
});
export type RewardsAnswer = z.infer<typeof RewardsAnswer>;
