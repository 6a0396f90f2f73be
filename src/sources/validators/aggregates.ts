import { type ApiRequest, IDENTIFIERS_OF_AGGREGATE, requestTo } from '../../api/endpoints.ts';
import { isFailure } from '../../api/errors.ts';
import type { WatchedGroup } from '../../facts/groups.ts';
import { chunksOf, rangesOf } from '../../facts/watch.ts';
import { expectPastEpoch } from '../answers.ts';
import { performanceOf } from '../duties.ts';
import { readPart } from '../refusal.ts';
import type { Poll } from '../source.ts';
import type { PollContext } from './options.ts';
import { rewardsOf } from './rewards.ts';
import type { GroupSums, Validators } from './schema.ts';

/** The figures are sums over 24 hours and change slowly: with the default interval they are read about once an hour. */
export const POLLS_PER_AGGREGATE = 9;

/** Reads the duties and scores of all watched validators. */
export function readPerformance(context: PollContext, previous: Validators): Promise<Poll<Validators>> {
  const { chain } = context.options;
  return readAggregate(
    context,
    previous,
    'performance',
    (identifiers) => requestTo('validators_performance', { chain, identifiers }),
    (answers) => performanceOf(answers.map(({ data }) => data)),
  );
}

/** Reads what all watched validators earned and missed. */
export function readRewards(context: PollContext, previous: Validators): Promise<Poll<Validators>> {
  const { chain } = context.options;
  return readAggregate(
    context,
    previous,
    'rewards',
    (identifiers) => requestTo('validators_rewards', { chain, identifiers }),
    (answers) => {
      for (const { range } of answers) expectPastEpoch('validators_rewards', chain, range.epoch, context.api.now());
      return rewardsOf(answers);
    },
  );
}

/**
 * Reads the sums of each group. If the plan refuses 100 identifiers at once, they are read in small chunks. No request is
 * about two groups. Unless the sums of all groups are read, the next poll tries again.
 */
function readAggregate<A, S>(
  context: PollContext,
  previous: Validators,
  part: 'performance' | 'rewards',
  requestOf: (identifiers: readonly number[]) => ApiRequest<A>,
  sumsOf: (answers: readonly A[]) => S,
): Promise<Poll<Validators>> {
  const { api, options, signal } = context;
  const [large, small] = IDENTIFIERS_OF_AGGREGATE;
  let { hasSmallChunks } = previous;

  async function answersOf({ watch }: WatchedGroup): Promise<A[]> {
    const answers: A[] = [];
    for (const identifiers of chunksOf(watch, hasSmallChunks ? small : large)) {
      try {
        answers.push(await api.request(requestOf(identifiers), signal));
      } catch (error) {
        if (identifiers.length > small && isFailure(error, 'forbidden')) {
          hasSmallChunks = true;
          return answersOf({ watch });
        }
        // Here a 404 says that the service knows none of them.
        if (!isFailure(error, 'not_found')) throw error;
      }
    }
    return answers;
  }

  return readPart(context, part, previous, async () => {
    const read: { watch: string; sums: S }[] = [];
    for (const group of options.groups) {
      read.push({ watch: rangesOf(group.watch), sums: sumsOf(await answersOf(group)) });
    }
    const readAt = api.now();
    return { ...previous, [part]: { groups: read.map((one) => ({ ...one, readAt })), polls: 0 }, hasSmallChunks };
  });
}

/** Pure. Whether it is the turn of an aggregate: with every ninth poll, and for a group of which nothing is known. */
export function isAggregateDue(
  groups: readonly WatchedGroup[],
  known: { readonly groups: readonly GroupSums<unknown>[]; readonly polls: number },
): boolean {
  return known.polls >= POLLS_PER_AGGREGATE || groups.some((group) => !aggregateOf(group, known.groups));
}

/** Pure. Undefined: not read, or about another set of validators. */
export function aggregateOf<S>({ watch }: WatchedGroup, known: readonly GroupSums<S>[]): GroupSums<S> | undefined {
  const ranges = rangesOf(watch);
  return known.find((one) => one.watch === ranges);
}
