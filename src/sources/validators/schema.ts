import * as z from 'zod';
import { Refusal } from '../refusal.ts';
import { Slashed } from '../slashed.ts';

const Index = z.number().int().nonnegative();
const Count = z.number().nonnegative();
/** Wei as a decimal string. */
const Wei = z.string().regex(/^\d{1,30}$/);

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
const Status = z.enum(STATUSES);
export type Status = z.infer<typeof Status>;

/** The epoch at which an answer was computed. */
const Range = z.object({ epoch: z.union([Index, z.object({ end: Index }).transform(({ end }) => end)]) });

/** api-facts 10.1. The rows are read one by one. */
export const ValidatorsAnswer = z.object({
  data: z.array(z.unknown()),
  range: Range,
  paging: z.object({ next_cursor: z.string().nullish() }).nullish(),
});

/** One row of an answer. */
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

/** api-facts 10.2. A score or a duty is null where no validator had it. An absent field is not 0. */
const Score = z.number().min(0).max(1).nullish();
const Duty = z.object({ assigned: Count, missed: Count });
const NO_DUTY = { assigned: 0, missed: 0, done: 0 };
const Successful = Duty.extend({ successful: Count })
  .transform(({ successful, ...duty }) => ({ ...duty, done: successful }))
  .nullable()
  .transform((duty) => duty ?? NO_DUTY);
const Included = Duty.extend({ included: Count })
  .transform(({ included, ...duty }) => ({ ...duty, done: included }))
  .nullable()
  .transform((duty) => duty ?? NO_DUTY);
export const PerformanceAnswer = z.object({
  data: z.object({
    beaconscore: z.object({ total: Score, attestation: Score, proposal: Score, sync_committee: Score }).nullish(),
    duties: z.object({
      attestation: Included,
      proposal: Successful,
      sync_committee: Successful,
    }),
  }),
});
export type PerformanceAnswer = z.infer<typeof PerformanceAnswer>;

/** One watched validator, as last read. */
const Validator = z.object({
  index: Index,
  status: Status,
  /** Null: it has no duty, so it is neither. */
  online: z.boolean().nullable(),
  balance: Wei.nullable(),
  effectiveBalance: Wei.nullable(),
  /** The epoch of the answer. */
  epoch: Index,
  /** Unix ms. */
  readAt: z.number(),
  /** The epoch of the first of the answers in a row in which it is offline. */
  offlineSince: Index.exactOptional(),
  slashed: Slashed.exactOptional(),
  /** The last answer that has it reports it as not slashed, and none before reported it as slashed. */
  wasUnslashed: z.literal(true).exactOptional(),
});
export type Validator = z.infer<typeof Validator>;

export const DUTIES = ['attestation', 'proposal', 'sync_committee'] as const;
export type Duty = (typeof DUTIES)[number];
const Outcomes = z.object({ assigned: Count, missed: Count, done: Count });
export type Outcomes = z.infer<typeof Outcomes>;
const PerDuty = z.object({ attestation: Outcomes, proposal: Outcomes, sync_committee: Outcomes });

/** Scores and duties of all watched validators together over the last 24 hours. */
const Performance = z.object({
  /** The ranges that were watched. */
  watch: z.string(),
  /** Unix ms. */
  readAt: z.number(),
  duties: PerDuty,
  /** Each 0 to 1; absent where no validator had the duty. */
  scores: z.partialRecord(z.enum([...DUTIES, 'total']), z.number()),
});
export type Performance = z.infer<typeof Performance>;

/** The seats of a period, in the order of the committee. One validator can have several. */
const Committee = z.object({ period: Index, seats: z.array(Index) });

/** The state of one chain. */
export const Validators = z.object({
  validators: z.array(Validator),
  statusRefusal: Refusal.exactOptional(),
  performance: Performance.exactOptional(),
  /** Status polls since the performance was last requested. */
  pollsSincePerformance: Count,
  performanceRefusal: Refusal.exactOptional(),
  /** The plan refused 100 identifiers at once: `operatorAt` at that time. */
  smallChunksSince: z.number().exactOptional(),
  committees: z.array(Committee),
  /** Unix ms at which members were last requested. */
  membersAskedAt: z.number().exactOptional(),
  membersRefusal: Refusal.exactOptional(),
});
export type Validators = z.infer<typeof Validators>;

export const NO_VALIDATORS: Validators = { validators: [], pollsSincePerformance: 0, committees: [] };
