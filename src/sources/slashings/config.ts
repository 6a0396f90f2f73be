import { enabled } from '../../facts/fields.ts';
import { duration, optional, SECOND, section } from '../../toolkit/yaml/fields.ts';

export const schema = optional(
  section({
    enabled,
    interval: duration(SECOND)
      .prefault('65s')
      .describe('The polling interval, which the budget may stretch. The service caches a response for a minute.'),
    catch_up: duration(0).prefault('7d').describe('How far back the exporter reads finalized epochs after a stop.'),
  }).transform(({ enabled, interval, catch_up }) => ({ enabled, intervalMs: interval, catchUpMs: catch_up })),
).describe('Head, finality, blocks and slashings.');
