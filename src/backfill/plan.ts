import * as z from 'zod';
import type { Api } from '../api/client.ts';
import { EVALUATION_WINDOWS, type PastRange, type Span } from '../api/endpoints.ts';
import type { History } from '../sources/history.ts';
import { SECONDS_PER_DAY } from '../toolkit/lib/duration.ts';
import type { Seconds, UnixSeconds } from '../toolkit/lib/time.ts';
import { type RetryOptions, retryUntilAnswered } from './retry.ts';

/** A sequence of pages. */
const Slice = z.object({
  id: z.number().int().nonnegative(),
  /** The id of the source. */
  source: z.string(),
  range: z.union([z.object({ start: z.number(), end: z.number() }), z.object({ window: z.enum(EVALUATION_WINDOWS) })]),
  /** Requests. */
  expected: z.number(),
  basis: z.string().optional(),
});
export type Slice = z.infer<typeof Slice>;

/** The slices of a run, with which an interrupted run continues. Times are Unix seconds. */
export const Plan = z.object({
  version: z.literal(4),
  /** The flags that decide what is read and written: a run is resumed only with the same. */
  flags: z.record(z.string(), z.unknown()),
  /** When the first run began. */
  now: z.number(),
  /** Nothing later is written. */
  end: z.number(),
  /** Oldest first. */
  slices: z.array(Slice),
});
export type Plan = z.infer<typeof Plan>;

/**
 * The service leaves out records if a range has more than 770 minutes (api-facts 2). Twelve hours have 720. The rule is
 * not documented, so the summary warns if records are missing nevertheless.
 */
const FULL_RESOLUTION_SECONDS: Seconds = SECONDS_PER_DAY / 2;

/** What every request of a run needs. */
export interface ReadOptions extends RetryOptions {
  readonly api: Api;
  /** By the id of the source. */
  readonly histories: ReadonlyMap<string, History>;
}

export interface PlanOptions extends ReadOptions {
  /** By the id of the source. */
  readonly ranges: ReadonlyMap<string, PastRange>;
  readonly fullResolution: boolean;
  readonly flags: Plan['flags'];
  readonly now: UnixSeconds;
  readonly end: UnixSeconds;
}

/** The slices to read and the requests that each will take. Sends some requests to find out. */
export async function makePlan(options: PlanOptions): Promise<Plan> {
  const { api, signal, histories, fullResolution, flags, now, end } = options;
  const slices: Slice[] = [];
  for (const [source, whole] of options.ranges) {
    const history = histories.get(source) as History;
    const ranges = fullResolution && 'start' in whole ? splitSpan(whole, FULL_RESOLUTION_SECONDS) : [whole];
    const estimate = () => history.estimate(api, ranges, now, signal);
    const requests = await retryUntilAnswered(estimate, options);
    slices.push(
      ...ranges.map((range, i) => {
        const slice = { id: slices.length + i, source, range, expected: requests[i] ?? 1 };
        return { ...slice, basis: history.basis?.(range) };
      }),
    );
  }
  return { version: 4, flags, now, end, slices };
}

/**
 * Splits a span into spans of at most `seconds`, oldest first. Neighbours share one second, because it is not
 * documented to which second a record with a fraction belongs. Duplicate records are written once.
 */
export function splitSpan({ start, end }: Span, seconds: Seconds): Span[] {
  const count = Math.max(1, Math.ceil((end - start) / seconds));
  return Array.from({ length: count }, (_, i) => ({
    start: start + i * seconds,
    end: Math.min(end, start + (i + 1) * seconds),
  }));
}

/** The requests that a run still takes. @param left Those of the slices that were begun. */
export function requestsLeft({ slices }: Plan, left: ReadonlyMap<number, number>): number {
  return slices.reduce((sum, { id, expected }) => sum + (left.get(id) ?? expected), 0);
}
