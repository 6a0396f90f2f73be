import * as z from 'zod';
import { Refusal } from '../refusal.ts';

const Index = z.number().int().nonnegative();
const Bounds = z.object({ start: z.number().nonnegative(), end: z.number().nonnegative() });

/** api-facts 4; both bounds are inclusive, as the service gives them. */
export const SyncCommitteeAnswer = z.object({
  data: z.object({ period: Index }),
  range: z.object({ epoch: Bounds, timestamp: Bounds }),
});

const SEATS = 512;

/** The seats are read one by one. */
const CommitteeAnswer = z.object({ period: Index, validators: z.array(z.unknown()).max(SEATS).nullable() });

/** api-facts 4.1. If the committee is not known, the service returns an empty list, or a committee without seats. */
export const MembersAnswer = z.object({
  data: z.union([CommitteeAnswer, z.array(CommitteeAnswer).transform(([first]) => first)]),
});

/** A seat as a record of its own. */
export const Seat = z.object({ validator: Index });

/** The members of one period, each once, ascending. */
const Committee = z.object({ period: Index, validators: z.array(Index) });
export type Committee = z.infer<typeof Committee>;

/** The current period. Times are Unix seconds. */
export const SyncCommittee = z.object({
  period: z.object({ number: z.number(), epoch: Bounds, timestamp: Bounds }).optional(),
  /** The known committees of this period and of the next one. Absent before the first of them is asked for. */
  committees: z.array(Committee).optional(),
  membersRefusal: Refusal.optional(),
});
export type SyncCommittee = z.infer<typeof SyncCommittee>;
export type Period = NonNullable<SyncCommittee['period']>;
