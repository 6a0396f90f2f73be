import { type ApiRequest, type Endpoint, IDENTIFIERS_OF_AGGREGATE, requestTo } from '../../api/endpoints.ts';
import { isFailure } from '../../api/errors.ts';
import { isNoneFound } from '../../api/refusal.ts';
import type { WatchedGroup } from '../../facts/groups.ts';
import { chunksOf, rangesOf } from '../../facts/watch.ts';
import type { UnixMs } from '../../toolkit/lib/time.ts';
import { expectPastEpoch } from '../answers.ts';
import { performanceOf } from '../duties.ts';
import { fresh, maxAge } from '../families.ts';
import type { Read, Timing } from '../read.ts';
import { requestsFor, type ValidatorsOptions } from './options.ts';
import { rewardsOf } from './rewards.ts';
import type { FreshSums, GroupSums, Validators } from './state.ts';

/** Sums over 24 hours change slowly: one read in so many intervals of the status, about an hour by default. */
const STATUS_INTERVALS = 9;

interface Aggregate<A, S> {
  /** Also its key in the value. */
  readonly name: 'duties' | 'rewards';
  readonly endpoint: Endpoint;
  requestFor(identifiers: readonly number[]): ApiRequest<A>;
  /** @throws RequestFailed */
  sumsOf(answers: readonly A[], now: UnixMs): S;
}

export function dutiesRead(options: ValidatorsOptions): Read<Validators> {
  const { chain } = options;
  return aggregateRead(options, {
    name: 'duties',
    endpoint: 'validators_performance',
    requestFor: (identifiers) => requestTo('validators_performance', { chain, identifiers }),
    sumsOf: (answers) => performanceOf(answers.map(({ data }) => data)),
  });
}

export function rewardsRead(options: ValidatorsOptions): Read<Validators> {
  const { chain } = options;
  return aggregateRead(options, {
    name: 'rewards',
    endpoint: 'validators_rewards',
    requestFor: (identifiers) => requestTo('validators_rewards', { chain, identifiers }),
    sumsOf(answers, now) {
      for (const { range } of answers) expectPastEpoch('validators_rewards', chain, range.epoch, now);
      return rewardsOf(answers);
    },
  });
}

/** Reads small chunks if the plan refuses 100 identifiers at once. Replaces the sums once those of all groups are read. */
function aggregateRead<A, S>(options: ValidatorsOptions, aggregate: Aggregate<A, S>): Read<Validators> {
  const { groups, intervalMs } = options;
  const { name, endpoint, requestFor, sumsOf } = aggregate;
  const [large, small] = IDENTIFIERS_OF_AGGREGATE;
  return {
    name,
    endpoints: [endpoint],
    everyMs: STATUS_INTERVALS * intervalMs,
    cost: requestsFor(groups, large),
    due(value, last, timing, tick) {
      const isWhole = groups.every((group) => aggregateOf<unknown>(group, value[name]));
      // The scheduler decides when a failed attempt is repeated.
      if (isWhole || last.failuresInARow > 0) return tick;
      return Math.min(tick, last.attemptAt + (timing.of('status') ?? intervalMs));
    },
    async run({ api, signal, isFirst }, previous) {
      // After a start the duties, which come before the rewards, try large chunks again.
      let hasSmallChunks = previous.hasSmallChunks === true && !(isFirst && name === 'duties');

      async function answersOf(group: WatchedGroup): Promise<A[]> {
        const answers: A[] = [];
        for (const identifiers of chunksOf(group.watch, hasSmallChunks ? small : large)) {
          const request = requestFor(identifiers);
          try {
            answers.push(await api.request(request, signal));
          } catch (error) {
            if (request.mayBeTooLarge && isFailure(error, 'forbidden')) {
              hasSmallChunks = true;
              return answersOf(group);
            }
            if (!isNoneFound(error)) throw error;
          }
        }
        return answers;
      }

      const read: { watch: string; sums: S }[] = [];
      for (const group of groups) {
        read.push({ watch: rangesOf(group.watch), sums: sumsOf(await answersOf(group), api.now()) });
      }
      const readAt = api.now();
      return { value: { ...previous, [name]: read.map((one) => ({ ...one, readAt })), hasSmallChunks } };
    },
  };
}

/** The sums of a group. Undefined: not read, or about another set of validators. */
function aggregateOf<S>({ watch }: WatchedGroup, known: readonly GroupSums<S>[]): GroupSums<S> | undefined {
  const ranges = rangesOf(watch);
  return known.find((one) => one.watch === ranges);
}

/** The sums of a group while they are shown: at least nine times as long as the status. */
export function freshSums<S>(
  { intervalMs }: ValidatorsOptions,
  group: WatchedGroup,
  name: Aggregate<unknown, S>['name'],
  known: readonly GroupSums<S>[],
  timing: Timing,
): FreshSums<S> | undefined {
  const maxAgeMs = maxAge(timing.of(name) ?? STATUS_INTERVALS * intervalMs, STATUS_INTERVALS * 3);
  return fresh(aggregateOf(group, known), maxAgeMs, timing.now);
}
