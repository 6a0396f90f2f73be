import * as z from 'zod';
import { Datapoint } from '../../api/answers/daily-returns.ts';

/** The state of the source. */
export const DailyReturns = z.object({ newest: Datapoint.optional() });
export type DailyReturns = z.infer<typeof DailyReturns>;
