import type { Api } from '../api/client.ts';
import { SECONDS_PER_DAY } from '../lib/duration.ts';
import type { History, PastRange } from '../sources/history.ts';
import { type Covered, freeSpans } from './covered.ts';
import { newPlan, type Plan, type Slice, slicesOf, splitSpan } from './plan.ts';
import { type RetryOptions, retryUntilAnswered } from './retry-until-answered.ts';

export interface PlanOptions extends RetryOptions {
  readonly api: Api;
  /** By the id of the source. */
  readonly histories: ReadonlyMap<string, History>;
  readonly range: PastRange;
  readonly fullResolution: boolean;
  readonly given: Pick<Plan, 'flags' | 'chains' | 'covered'>;
}

/**
 * For a span of a day or more, the service omits so many records (api-facts 2) that graphs, which look back 5 minutes,
 * have gaps.
 */
const USUAL_SLICE_SECONDS = SECONDS_PER_DAY - 3_600;
/**
 * The longest slice for which the service is known to omit no records (api-facts 2). If it does omit some, the slice is
 * halved.
 */
const FULL_SLICE_SECONDS = SECONDS_PER_DAY / 2;

/** The slices to read and the requests that each will take. May make some requests to find out. */
export async function makePlan(options: PlanOptions): Promise<Plan> {
  const { api, clock, signal, histories, given } = options;
  const now = clock.now();
  const slices: Slice[] = [];
  for (const [source, history] of histories) {
    const ranges = rangesOf(history, options, given.covered[source]);
    const estimate = () => history.estimate(api, ranges, now, signal);
    const requests = await retryUntilAnswered(estimate, options);
    slices.push(...slicesOf(source, ranges, requests, slices.length));
  }
  return newPlan(given, now / 1000, slices);
}

function rangesOf(
  { isDaily }: History,
  { range, fullResolution }: PlanOptions,
  covered: Covered | undefined,
): PastRange[] {
  if (isDaily || !('start' in range)) return [range];
  const seconds = fullResolution ? FULL_SLICE_SECONDS : USUAL_SLICE_SECONDS;
  const spans = covered ? freeSpans(range, covered) : [range];
  return spans.flatMap((span) => splitSpan(span, seconds));
}
