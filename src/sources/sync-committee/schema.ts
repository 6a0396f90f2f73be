import * as z from 'zod';
import { Bounds } from '../../api/answers/sync-committee.ts';

/** The current period. Times are Unix seconds. */
export const SyncCommittee = z.object({
  period: z.object({ number: z.number(), epoch: Bounds, timestamp: Bounds }).optional(),
});
export type SyncCommittee = z.infer<typeof SyncCommittee>;
export type Period = NonNullable<SyncCommittee['period']>;
