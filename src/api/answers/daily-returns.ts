import * as z from 'zod';
import { Index, List, Paging, Ratio, UnixSeconds, Wei } from './fields.ts';

/** v1 gave null for some averages (api-facts 3.5). */
const Apr = z.object({
  combined: Ratio.nullish(),
  consensus_layer: Ratio.nullish(),
  execution_layer: Ratio.nullish(),
});
const ByLayer = z.object({ consensus_layer: Wei.nullish(), execution_layer: Wei.nullish() });
const WindowAverages = z.object({ apr: Apr.nullish(), rewards: ByLayer.nullish() });

/** One beaconchain-day (api-facts 3.2). */
export const Datapoint = z.object({
  day: Index,
  day_start: UnixSeconds.nullish(),
  day_end: UnixSeconds,
  effective_balance: Wei.nullish(),
  start_balance: Wei.nullish(),
  end_balance: Wei.nullish(),
  deposits: Wei.nullish(),
  rewards: ByLayer.extend({ total: Wei.nullish() }).nullish(),
  apr: Apr.nullish(),
  moving_averages: z.object({ window_7d: WindowAverages.nullish(), window_31d: WindowAverages.nullish() }).nullish(),
});
export type Datapoint = z.infer<typeof Datapoint>;

/** api-facts 3.1. `range` is not used, `paging` may be absent. */
export const DailyReturnsPage = z.object({ data: List, paging: Paging });
export type DailyReturnsPage = z.infer<typeof DailyReturnsPage>;
