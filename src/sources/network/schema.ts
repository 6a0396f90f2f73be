import * as z from 'zod';
import { Wei } from '../../api/answers/validators.ts';
import { Performance } from '../duties.ts';
import { Refusals } from '../refusal.ts';

/** What is not known is null. */
const Queue = z.object({
  count: z.number().nullable(),
  balance: Wei.nullable(),
  /** Unix seconds at which the last item leaves the queue. */
  end: z.number().nullable(),
});
export type Queue = z.infer<typeof Queue>;

/** The state of one chain. `readAt`: Unix ms. */
export const Network = z.object({
  performance: z.object({ readAt: z.number(), epoch: z.number(), sums: Performance }).optional(),
  queues: z.object({ readAt: z.number(), deposit: Queue, topup: Queue, exit: Queue }).optional(),
  refusals: Refusals,
});
export type Network = z.infer<typeof Network>;
