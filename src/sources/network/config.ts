import * as z from 'zod';
import { duration, flag, optional, SECOND, section } from '../../toolkit/yaml/fields.ts';

export const schema = optional(
  section({
    enabled: z
      .union([z.literal('auto'), flag], { error: 'auto, true or false' })
      .prefault('auto')
      .describe('auto: on the chains for which you watch validators.'),
    interval: duration(SECOND)
      .prefault('1h')
      .describe('The polling interval. On a scarce budget it is a day, and the queues are not read.'),
  }).transform(({ enabled, interval }) => ({ enabled, intervalMs: interval })),
).describe('The duties of the whole network, beside those of your validators, and the queues.');
