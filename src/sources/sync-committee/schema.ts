import { z } from 'zod';

const Bounds = z.object({ start: z.number().nonnegative(), end: z.number().nonnegative() });

/** api-facts 4; both bounds are inclusive, as the service gives them. */
export const SyncCommitteeAnswer = z.object({
  data: z.object({ period: z.number().int().nonnegative() }),
  range: z.object({ epoch: Bounds, timestamp: Bounds }),
});

/** The current period. Times are Unix seconds. */
export const SyncCommittee = z.object({
  period: z.object({ number: z.number(), epoch: Bounds, timestamp: Bounds }).optional(),
});
export type SyncCommittee = z.infer<typeof SyncCommittee>;
