import { enabled } from '../../facts/fields.ts';
import { duration, optional, SECOND, section } from '../../toolkit/yaml/fields.ts';

export const schema = optional(
  section({
    enabled,
    interval: duration(SECOND)
      .prefault('65s')
      .describe('The polling interval. The budget may stretch it. The service caches a response for a minute.'),
    catch_up: duration(0)
      .prefault('7d')
      .describe('How far back finalized epochs are read after the exporter was stopped.'),
  }).transform(({ enabled, interval, catch_up }) => ({ enabled, intervalMs: interval, catchUpMs: catch_up })),
).describe('Head, finality, blocks and slashings. See docs/validators.md.');
