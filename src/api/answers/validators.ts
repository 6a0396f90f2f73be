import * as z from 'zod';
import { Address, PublicKey } from '../../facts/fields.ts';
import { Index, identity, List, Paging, Quantity, Score, ValidatorIndex, Wei } from './fields.ts';

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
/** `unknown`: any other name. `not_found`: the service has no such validator. */
export const STATUSES = [...SERVICE_STATUSES, 'unknown', 'not_found'] as const;
export const Status = z.enum(STATUSES);
export type Status = z.infer<typeof Status>;

/** The epoch of a response. */
const Epoch = z.union([Index, z.object({ end: Index }).transform(({ end }) => end)]);
export const Range = z.object({ epoch: Epoch });

/** api-facts 10.1. The rows are read one by one. */
export const ValidatorsAnswer = z.object({ data: List, range: Range, paging: Paging });

/** A name that this program does not know is `unknown`. */
const StatusOfRow = z
  .string()
  .nullable()
  .transform((status): Status => SERVICE_STATUSES.find((one) => one === status) ?? 'unknown');

/** By their first byte (api-facts 10.1). `other`: a type that this program does not know. */
export const CREDENTIAL_TYPES = ['0x00', '0x01', '0x02', 'other'] as const;
export const CredentialType = z.enum(CREDENTIAL_TYPES);
export type CredentialType = z.infer<typeof CredentialType>;
const Prefix = z
  .string()
  .regex(/^0x[0-9a-f]{2}$/i)
  .transform((prefix): CredentialType => CREDENTIAL_TYPES.find((one) => one === prefix.toLowerCase()) ?? 'other');

export const ValidatorRow = z.object({
  /** The index is null before the deposit is processed. The caller drops a row that names none of its validators. */
  validator: z.object({ index: identity(ValidatorIndex.nullable()), public_key: PublicKey.nullish() }),
  slashed: z.boolean().nullable(),
  status: StatusOfRow,
  online: z.boolean().nullish(),
  balances: z.object({ current: Wei.nullish(), effective: Wei.nullish() }).nullish(),
  withdrawal_credentials: z.object({ prefix: Prefix.nullish(), address: Address.nullish() }).nullish(),
  /** Null before it happens. */
  life_cycle_epochs: z
    .object({ activation: Index.nullish(), exit: Index.nullish(), withdrawable: Index.nullish() })
    .nullish(),
});
export type ValidatorRow = z.infer<typeof ValidatorRow>;

/** For null, which means that no validator had the duty. An absent field is unknown. */
const NO_DUTY = { assigned: 0, missed: 0, done: 0 };
const Duty = z.object({ assigned: Quantity.nullish(), missed: Quantity.nullish() });
const Successful = Duty.extend({ successful: Quantity.nullish() })
  .transform(({ successful, ...duty }) => ({ ...duty, done: successful }))
  .nullable()
  .transform((duty) => duty ?? NO_DUTY);
const Attestation = Duty.extend({
  included: Quantity.nullish(),
  correct_head: Quantity.nullish(),
  correct_source: Quantity.nullish(),
  correct_target: Quantity.nullish(),
  avg_inclusion_delay: Quantity.nullish(),
  avg_inclusion_delay_excluding_missed_slots: Quantity.nullish(),
})
  .transform(({ included, ...duty }) => ({ ...duty, done: included }))
  .nullable()
  .transform((duty) => duty ?? { ...NO_DUTY, correct_head: 0, correct_source: 0, correct_target: 0 });
/** api-facts 10.2. */
export const PerformanceAnswer = z.object({
  data: z.object({
    beaconscore: z
      .object({
        total: Score.nullish(),
        attestation: Score.nullish(),
        proposal: Score.nullish(),
        sync_committee: Score.nullish(),
      })
      .nullish(),
    duties: z.object({ attestation: Attestation, proposal: Successful, sync_committee: Successful }),
  }),
  /** Undefined if the response names no epoch. */
  range: z
    .object({ epoch: Epoch.nullish() })
    .nullish()
    .transform((range) => (range?.epoch == null ? undefined : { epoch: range.epoch })),
});
export type PerformanceAnswer = z.infer<typeof PerformanceAnswer>;

const Missed = z.object({ missed_reward: Wei.nullish() }).nullish();
/** api-facts 11.1. An absent part or amount is unknown, not 0. */
export const RewardsAnswer = z.object({
  data: z.object({
    total_penalty: Wei.nullish(),
    attestation: z
      .object({
        total: Wei.nullish(),
        head: Missed,
        source: Missed,
        target: Missed,
        inactivity_leak_penalty: Wei.nullish(),
      })
      .nullish(),
    sync_committee: z.object({ total: Wei.nullish(), missed_reward: Wei.nullish() }).nullish(),
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
