import * as z from 'zod';
import { Status, Wei } from '../../api/answers/validators.ts';
import { Refusal } from '../refusal.ts';
import { Slashed } from '../slashed.ts';

const Index = z.number().int().nonnegative();
const Count = z.number().nonnegative();

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
  offlineSince: Index.optional(),
  slashed: Slashed.optional(),
  /** The last answer that has it reports it as not slashed, and none before reported it as slashed. */
  wasUnslashed: z.boolean().optional(),
});
export type Validator = z.infer<typeof Validator>;

export const DUTIES = ['attestation', 'proposal', 'sync_committee'] as const;
export type Duty = (typeof DUTIES)[number];
const Outcomes = z.object({ assigned: Count, missed: Count, done: Count });
export type Outcomes = z.infer<typeof Outcomes>;

/** Scores and duties of all watched validators together over the last 24 hours. */
const Performance = z.object({
  /** The ranges that were watched. */
  watch: z.string(),
  /** Unix ms. */
  readAt: z.number(),
  duties: z.record(z.enum(DUTIES), Outcomes),
  /** Each 0 to 1; absent where no validator had the duty. */
  scores: z.partialRecord(z.enum([...DUTIES, 'total']), z.number()),
});
export type Performance = z.infer<typeof Performance>;

/** The seats of a period, in the order of the committee. One validator can have several. */
const Committee = z.object({ period: Index, seats: z.array(Index) });

/** The state of one chain. */
export const Validators = z.object({
  validators: z.array(Validator),
  statusRefusal: Refusal.optional(),
  performance: Performance.exactOptional(),
  /** Status polls since the performance was last requested. */
  pollsSincePerformance: Count,
  performanceRefusal: Refusal.optional(),
  /** The plan refused 100 identifiers at once. */
  hasSmallChunks: z.boolean().optional(),
  committees: z.array(Committee),
  /** Unix ms at which members were last requested. */
  membersAskedAt: z.number().optional(),
  membersRefusal: Refusal.optional(),
});
export type Validators = z.infer<typeof Validators>;

/** As at the first start, but for what was read. Members that were refused are requested at once. */
export function validatorsAnew(value: Validators): Validators {
  const { statusRefusal, performanceRefusal, hasSmallChunks, membersRefusal, membersAskedAt, ...read } = value;
  return { ...read, membersAskedAt: membersRefusal ? undefined : membersAskedAt };
}

export const NO_VALIDATORS: Validators = { validators: [], pollsSincePerformance: 0, committees: [] };
