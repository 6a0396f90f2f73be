import * as z from 'zod';

const Index = z.number().int().nonnegative();
const Bounds = z.object({ start: z.number().nonnegative(), end: z.number().nonnegative() });

/** api-facts 4; both bounds are inclusive, as the service gives them. */
export const SyncCommitteeAnswer = z.object({
  data: z.object({ period: Index }),
  range: z.object({ epoch: Bounds, timestamp: Bounds }),
});

/** The current period. Times are Unix seconds. */
export const SyncCommittee = z.object({
  period: z.object({ number: z.number(), epoch: Bounds, timestamp: Bounds }).optional(),
});
export type SyncCommittee = z.infer<typeof SyncCommittee>;
export type Period = NonNullable<SyncCommittee['period']>;
