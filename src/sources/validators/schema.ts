import * as z from 'zod';
import { Status, Wei } from '../../api/answers/validators.ts';
import type { UnixMs } from '../../toolkit/lib/time.ts';
import { Performance } from '../duties.ts';
import { Refusal } from '../refusal.ts';
import { Slashed } from '../slashed.ts';
import { Rewards } from './rewards.ts';

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

/** Sums over a group. */
export interface Aggregate<S> {
  /** The ranges of its validators. */
  readonly watch: string;
  /** Unix ms. */
  readonly readAt: UnixMs;
  readonly sums: S;
}

function aggregates<S extends z.ZodType>(sums: S) {
  return z.array(z.object({ watch: z.string(), readAt: z.number(), sums })).default([]);
}

/** The seats of a period, in the order of the committee. One validator can have several. */
const Committee = z.object({ period: Index, seats: z.array(Index) });

/** The state of one chain. */
export const Validators = z.object({
  validators: z.array(Validator),
  statusRefusal: Refusal.optional(),
  performances: aggregates(Performance),
  /** Status polls since the performance was last read. */
  pollsSincePerformance: Count,
  performanceRefusal: Refusal.optional(),
  rewards: aggregates(Rewards),
  pollsSinceRewards: Count.default(0),
  rewardsRefusal: Refusal.optional(),
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
  const { statusRefusal, performanceRefusal, rewardsRefusal, ...rest } = value;
  const { hasSmallChunks, membersRefusal, membersAskedAt, ...read } = rest;
  return { ...read, membersAskedAt: membersRefusal ? undefined : membersAskedAt };
}

export const NO_VALIDATORS: Validators = {
  validators: [],
  performances: [],
  pollsSincePerformance: 0,
  rewards: [],
  pollsSinceRewards: 0,
  committees: [],
};
