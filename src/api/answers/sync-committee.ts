import * as z from 'zod';
import { Index, UnixSeconds, ValidatorIndex } from './fields.ts';

function boundsOf<S extends z.ZodType>(bound: S) {
  return z.object({ start: bound.nullish(), end: bound.nullish() });
}

/** Both bounds are inclusive. */
export const Epochs = boundsOf(Index);
export const Times = boundsOf(UnixSeconds);

/** api-facts 4. */
export const SyncCommitteeAnswer = z.object({
  data: z.object({ period: Index }),
  range: z.object({ epoch: Epochs, timestamp: Times }),
});

/** Seats in committee order (api-facts 4.1). The service returns an empty list for an unknown committee. */
const CommitteeAnswer = z.object({ period: Index, validators: z.array(ValidatorIndex).max(512).nullable() });
export const MembersAnswer = z.object({
  data: z.union([CommitteeAnswer, z.array(CommitteeAnswer).transform(([first]) => first)]),
});
