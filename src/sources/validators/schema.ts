import * as z from 'zod';
import { Status, Wei } from '../../api/answers/validators.ts';
import { Performance } from '../duties.ts';
import { Refusals } from '../refusal.ts';
import { Slashed } from '../slashed.ts';

const Index = z.number().int().nonnegative();
const Count = z.number().nonnegative();

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

/** A sum of wei over many answers, as a decimal string. */
const Sum = z.string().regex(/^-?\d{1,40}$/);
const PerDuty = z.object({ attestation: Sum.optional(), proposal: Sum.optional(), sync_committee: Sum.optional() });
export type PerDuty = z.infer<typeof PerDuty>;

/** What some validators earned and missed in the last 24 hours. Persisted. What is not known of all of them is absent. */
export const Rewards = z.object({
  /** On the consensus layer, rewards minus penalties. */
  earned: PerDuty,
  missed: PerDuty,
  execution: Sum.optional(),
  penalties: Sum.optional(),
  /** The last epoch of the oldest answer. */
  epoch: z.number().optional(),
});
export type Rewards = z.infer<typeof Rewards>;

/** Sums over a group. */
export interface GroupSums<S> {
  /** The ranges of its validators. */
  readonly watch: string;
  /** Unix ms. */
  readonly readAt: number;
  readonly sums: S;
}

/** The sums of each group, and the status polls since they were last read. */
function aggregate<S extends z.ZodType>(sums: S) {
  const groups = z.array(z.object({ watch: z.string(), readAt: z.number(), sums }));
  return z.object({ groups, polls: Count }).default({ groups: [], polls: 0 });
}

/** The seats of a period, in the order of the committee. One validator can have several. */
const Committee = z.object({ period: Index, seats: z.array(Index) });

export const Validators = z.object({
  validators: z.array(Validator),
  performance: aggregate(Performance),
  rewards: aggregate(Rewards),
  /** The plan refused 100 identifiers at once. */
  hasSmallChunks: z.boolean().optional(),
  committees: z.array(Committee),
  /** Unix ms at which members were last requested. */
  membersAskedAt: z.number().optional(),
  refusals: Refusals,
});
export type Validators = z.infer<typeof Validators>;

export const NO_VALIDATORS: Validators = Validators.parse({ validators: [], committees: [] });
