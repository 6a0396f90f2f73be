import * as z from 'zod';
import { Wei } from '../../api/answers/validators.ts';
import { Performance } from '../duties.ts';
import { Refusal } from '../refusal.ts';

const Queue = z.object({
  validators: z.number().exactOptional(),
  balance: Wei.exactOptional(),
  /** Unix seconds. */
  end: z.number().exactOptional(),
});
export type Queue = z.infer<typeof Queue>;

export const QUEUES = ['deposit', 'topup', 'exit'] as const;

/** The state of one chain. Times are Unix ms. */
export const Network = z.object({
  performance: z.object({ readAt: z.number(), epoch: z.number(), sums: Performance }).exactOptional(),
  performanceRefusal: Refusal.exactOptional(),
  queues: z.object({ readAt: z.number(), of: z.partialRecord(z.enum(QUEUES), Queue) }).exactOptional(),
  queuesRefusal: Refusal.exactOptional(),
});
export type Network = z.infer<typeof Network>;
