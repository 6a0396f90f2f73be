import * as z from 'zod';
import { isObject } from '../../toolkit/lib/is-object.ts';
import { Count, UnixSeconds, Wei } from './fields.ts';
import { PerformanceAnswer, Range } from './validators.ts';

/** api-facts 11.2: all validators of a chain in the last 24 hours. */
export const NetworkPerformanceAnswer = PerformanceAnswer.extend({ range: Range });

/** Unix seconds at which the last item leaves the queue. A plain number before v2.1. */
const End = z
  .union([UnixSeconds, z.object({ timestamp: UnixSeconds.nullish() }).transform(({ timestamp }) => timestamp)])
  .nullish();

/** A queue that is not documented. Undefined if the value is no queue. */
const OtherQueue = z
  .unknown()
  .transform((value) => (isObject(value) ? value : undefined))
  .pipe(z.object({ count: Count.nullish(), balance: Wei.nullish() }).optional());

/** api-facts 11.3, v2.1 and the form before it, whose deposits include top-ups. v2.1 has more queues without documented names. */
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
