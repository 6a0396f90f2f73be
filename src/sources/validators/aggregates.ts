import { type ApiRequest, IDENTIFIERS_OF_AGGREGATE, requestTo } from '../../api/endpoints.ts';
import { isFailure, RequestFailed } from '../../api/errors.ts';
import { epochAt } from '../../facts/chain.ts';
import type { WatchedGroup } from '../../facts/groups.ts';
import { chunksOf, rangesOf } from '../../facts/watch.ts';
import { CLOCK_AHEAD_MS } from '../../toolkit/lib/clock.ts';
import type { UnixMs } from '../../toolkit/lib/time.ts';
import { performanceOf } from '../duties.ts';
import { type Refusal, refused, refusedUntil } from '../refusal.ts';
import type { Poll } from '../source.ts';
import type { PollContext } from './options.ts';
import { rewardsOf } from './rewards.ts';
import type { Aggregate, Validators } from './schema.ts';

/** The figures are sums over 24 hours and change slowly: with the default interval they are read about once an hour. */
export const POLLS_PER_AGGREGATE = 9;

/** Reads the duties and scores of all watched validators. Unless all are read, the next poll tries again. */
export async function readPerformance(context: PollContext, previous: Validators): Promise<Poll<Validators>> {
  const { chain } = context.options;
  try {
    const { sums: performances, hasSmallChunks } = await readSums(
      context,
      previous,
      (identifiers) => requestTo('validators_performance', { chain, identifiers }),
      (answers) => performanceOf(answers.map(({ data }) => data)),
    );
    const read = { performances, hasSmallChunks, pollsSincePerformance: 0, performanceRefusal: undefined };
    return { value: { ...previous, ...read } };
  } catch (error) {
    const { refusal, failure } = refused(context, 'performance', previous.performanceRefusal, error);
    return { value: { ...previous, performanceRefusal: refusal }, failure };
  }
}

/** Reads what all watched validators earned and missed, in the same way. */
export async function readRewards(context: PollContext, previous: Validators): Promise<Poll<Validators>> {
  const { chain } = context.options;
  try {
    const { sums: rewards, hasSmallChunks } = await readSums(
      context,
      previous,
      (identifiers) => requestTo('validators_rewards', { chain, identifiers }),
      (answers) => {
        const future = answers.find(({ range }) => range.epoch > epochAt(chain, context.api.now() + CLOCK_AHEAD_MS));
        if (!future) return rewardsOf(answers);
        throw new RequestFailed('validators_rewards', 'invalid_body', `epoch ${future.range.epoch} is in the future`);
      },
    );
    return { value: { ...previous, rewards, hasSmallChunks, pollsSinceRewards: 0, rewardsRefusal: undefined } };
  } catch (error) {
    const { refusal, failure } = refused(context, 'rewards', previous.rewardsRefusal, error);
    return { value: { ...previous, rewardsRefusal: refusal }, failure };
  }
}

/**
 * The sums of each group. If the plan refuses 100 identifiers at once, they are read in small chunks. No request is about
 * two groups.
 */
async function readSums<A, S>(
  { api, options, signal }: PollContext,
  { hasSmallChunks }: Validators,
  requestOf: (identifiers: readonly number[]) => ApiRequest<A>,
  sumsOf: (answers: readonly A[]) => S,
): Promise<{ sums: Aggregate<S>[]; hasSmallChunks: boolean | undefined }> {
  const [large, small] = IDENTIFIERS_OF_AGGREGATE;
  let isSmall = hasSmallChunks;

  async function answersOf({ watch }: WatchedGroup): Promise<A[]> {
    const answers: A[] = [];
    for (const identifiers of chunksOf(watch, isSmall ? small : large)) {
      try {
        answers.push(await api.request(requestOf(identifiers), signal));
      } catch (error) {
        if (identifiers.length > small && isFailure(error, 'forbidden')) {
          isSmall = true;
          return answersOf({ watch });
        }
        // Here a 404 says that the service knows none of them.
        if (!isFailure(error, 'not_found')) throw error;
      }
    }
    return answers;
  }

  const read: { watch: string; sums: S }[] = [];
  for (const group of options.groups) read.push({ watch: rangesOf(group.watch), sums: sumsOf(await answersOf(group)) });
  const readAt = api.now();
  return { sums: read.map((one) => ({ ...one, readAt })), hasSmallChunks: isSmall };
}

/** Pure. Whether it is the turn of an aggregate: with every ninth poll, and for a group of which nothing is known. */
export function isAggregateDue(
  groups: readonly WatchedGroup[],
  known: readonly Aggregate<unknown>[],
  polls: number,
  refusal: Refusal | undefined,
  now: UnixMs,
): boolean {
  const isTurn = polls >= POLLS_PER_AGGREGATE || groups.some((group) => !aggregateOf(group, known));
  return isTurn && now >= refusedUntil(refusal);
}

/** Pure. Undefined: not read, or about another set of validators. */
export function aggregateOf<S>({ watch }: WatchedGroup, known: readonly Aggregate<S>[]): Aggregate<S> | undefined {
  const ranges = rangesOf(watch);
  return known.find((one) => one.watch === ranges);
}
