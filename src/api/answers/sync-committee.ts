import * as z from 'zod';

const Index = z.number().int().nonnegative();
export const Bounds = z.object({ start: z.number().nonnegative(), end: z.number().nonnegative() });

/** api-facts 4; both bounds are inclusive, as the service gives them. */
export const SyncCommitteeAnswer = z.object({
  data: z.object({ period: Index }),
  range: z.object({ epoch: Bounds, timestamp: Bounds }),
});

/** Seats in the order of the committee (api-facts 4.1). If it is not known, the service returns an empty list. */
const CommitteeAnswer = z.object({ period: Index, validators: z.array(Index).max(512).nullable() });
export const MembersAnswer = z.object({
  data: z.union([CommitteeAnswer, z.array(CommitteeAnswer).transform(([first]) => first)]),
});
