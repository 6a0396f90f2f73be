import * as z from 'zod';
import { isObject } from '../../toolkit/lib/is-object.ts';
import { Count, UnixSeconds, Wei } from './fields.ts';
import { PerformanceAnswer, Range } from './validators.ts';

/** api-facts 11.2: all validators of a chain in the last 24 hours. */
export const NetworkPerformanceAnswer = PerformanceAnswer.extend({ range: Range });

/** Unix seconds at which the last item leaves the queue: a number in the form before v2.1. */
const End = z
  .union([UnixSeconds, z.object({ timestamp: UnixSeconds.nullish() }).transform(({ timestamp }) => timestamp)])
  .nullish();

/** A queue of which nothing more is known than what all queues have. Undefined: no queue. */
const OtherQueue = z
  .unknown()
  .transform((value) => (isObject(value) ? value : undefined))
  .pipe(z.object({ count: Count.nullish(), balance: Wei.nullish() }).optional());

/**
 * api-facts 11.3, in the form of v2.1 and in the one before it, in which the deposits include the top-ups. v2.1 has more
 * queues, whose names are not documented.
 */
export const QueuesAnswer = z.object({
  data: z
    .object({
      deposit_queue: z
        .object({
          deposit_count: Count.nullish(),
          deposit_balance: Wei.nullish(),
          topup_count: Count.nullish(),
          topup_balance: Wei.nullish(),
          balance: Wei.nullish(),
          estimated_processed_at: End,
        })
        .nullish(),
      exit_queue: z
        .object({
          count: Count.nullish(),
          validator_count: Count.nullish(),
          balance: Wei.nullish(),
          estimated_processed_at: End,
        })
        .nullish(),
    })
    .catchall(OtherQueue),
});
export type QueuesAnswer = z.infer<typeof QueuesAnswer>;
