import * as z from 'zod';

/** Wei as a decimal string (api-facts 3.2); rewards can be negative. v1 gave null for some averages (api-facts 3.5). */
const NullableWei = z
  .string()
  .regex(/^(0|-?[1-9][0-9]*)$/)
  .nullish();

const Ratio = z.number().nullish();

const UnixSeconds = z.number().int().nonnegative();

const Apr = z.object({ combined: Ratio, consensus_layer: Ratio, execution_layer: Ratio });

const WindowAverages = z.object({
  apr: Apr,
  rewards: z.object({ consensus_layer: NullableWei, execution_layer: NullableWei }),
});

/** One beaconchain-day (api-facts 3.2). */
export const Datapoint = z.object({
  day: z.number().int().nonnegative(),
  day_start: UnixSeconds,
  day_end: UnixSeconds,
  effective_balance: NullableWei,
  start_balance: NullableWei,
  end_balance: NullableWei,
  deposits: NullableWei,
  rewards: z.object({ total: NullableWei, consensus_layer: NullableWei, execution_layer: NullableWei }),
  apr: Apr,
  moving_averages: z.object({ window_7d: WindowAverages, window_31d: WindowAverages }),
});
export type Datapoint = z.infer<typeof Datapoint>;

/** api-facts 3.1. `range` is not used, `paging` may be absent. */
export const DailyReturnsPage = z.object({
  data: z.array(z.unknown()),
  paging: z.object({ next_cursor: z.string().nullish() }).nullish(),
});
export type DailyReturnsPage = z.infer<typeof DailyReturnsPage>;
