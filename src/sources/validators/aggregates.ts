import {
  type ApiRequest,
  type Endpoint,
  IDENTIFIERS_OF_AGGREGATE,
  type Ranged,
  requestTo,
} from '../../api/endpoints.ts';
import { isFailure } from '../../api/errors.ts';
import { isNoneFound } from '../../api/refusal.ts';
import { EPOCHS_PER_DAY, epochEnd, USUAL_AGE } from '../../facts/chain.ts';
import type { WatchedGroup } from '../../facts/groups.ts';
import { chunksOf, type Identifier, indicesOf, nameOf, rangesOf } from '../../facts/watch.ts';
import { dueParts, fresh, keepNewer, maxAge } from '../ages.ts';
import { attempt, expectPastEpoch, isRequestSpecific } from '../answers.ts';
import { performanceOf } from '../duties.ts';
import type { Read, Timing } from '../read.ts';
import { costOf, type ValidatorsOptions } from './options.ts';
import { rewardsOf } from './rewards.ts';
import { type FreshSums, type GroupSums, identifierOf, type Validators } from './state.ts';
import { isShown } from './status.ts';

/** Sums over 24 hours change slowly, so they are read once in so many intervals of the status: about an hour by default. */
const STATUS_INTERVALS = 9;

/** A validator becomes `withdrawal_*` at least 256 epochs, 27 hours, after its exit. */
const WITHOUT_RECENT_DUTIES = /^(not_found|pending_|withdrawal_)/;

interface Aggregate<A extends Ranged, S> {
  /** Also its key in the value. */
  readonly name: 'duties' | 'rewards';
  readonly endpoint: Endpoint;
  requestFor(identifiers: readonly number[]): ApiRequest<A>;
  sumsOf(answers: readonly A[]): S;
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
    sumsOf: rewardsOf,
  });
}

/** Reads small chunks if the plan refuses 100 identifiers at once. Replaces the sums of a group once all of it is read. */
function aggregateRead<A extends Ranged, S>(options: ValidatorsOptions, aggregate: Aggregate<A, S>): Read<Validators> {
  const { chain, groups, intervalMs } = options;
  const { name, endpoint, requestFor, sumsOf } = aggregate;
  const [large, small] = IDENTIFIERS_OF_AGGREGATE;
  return {
    name,
    endpoints: [endpoint],
    everyMs: STATUS_INTERVALS * intervalMs,
    ...costOf(options, large),
    due(value, last, timing, tick) {
      const isWhole = groups.every((group) => aggregateOf<unknown>(group, value[name]));
      // The scheduler decides when to retry.
      if (isWhole || last.failuresInARow > 0) return tick;
      return Math.min(tick, last.attemptAt + (timing.of('status') ?? intervalMs));
    },
    async run({ api, signal, timing, isFirst }, previous) {
      // After a start, the duties try large chunks again; they run before the rewards.
      let hasSmallChunks = previous.hasSmallChunks === true && !(isFirst && name === 'duties');

      const statuses = new Map(previous.validators.map((one) => [identifierOf(one), one]));

      /** Any other validator may have had duties in the 24 hours: then a 404 is a passing fault, and the sum is unknown. */
      function hadNoDuties(identifier: Identifier): boolean {
        const one = statuses.get(identifier);
        if (!one || !isShown(chain, one, timing.of('status') ?? intervalMs, timing.now)) return false;
        const { index, status, epoch, exitEpoch = epoch } = one;
        if (index === undefined || WITHOUT_RECENT_DUTIES.test(status)) return true;
        return status.startsWith('exited_') && exitEpoch + EPOCHS_PER_DAY <= epoch;
      }

      async function answersOf(group: WatchedGroup): Promise<A[]> {
        const answers: A[] = [];
        for (const identifiers of chunksOf([...indicesOf(group.watch)], hasSmallChunks ? small : large)) {
          const request = requestFor(identifiers);
          try {
            answers.push(await api.request(request, signal));
          } catch (error) {
            if (request.mayBeTooLarge && isFailure(error, 'forbidden')) {
              hasSmallChunks = true;
              return answersOf(group);
            }
            if (!isNoneFound(error) || !identifiers.every(hadNoDuties)) throw error;
          }
        }
        return answers;
      }

      async function readGroup(group: WatchedGroup): Promise<GroupSums<S>> {
        const answers = await answersOf(group);
        const epochs = answers.map(({ range }) => range?.epoch);
        for (const epoch of epochs) if (epoch !== undefined) expectPastEpoch(endpoint, chain, epoch, api.now());
        // A response without a time may be as old as usual, so it never replaces one with a time.
        const undated = api.now() - USUAL_AGE.sums;
        const ends = epochs.map((epoch) => (epoch === undefined ? undated : epochEnd(chain, epoch)));
        const at = ends.length > 0 ? Math.min(...ends) : undated;
        return { watch: membersOf(group), askedAt: timing.now, at, sums: sumsOf(answers) };
      }

      let failure: Error | undefined;
      // The value has the sums of this aggregate under its name.
      const known = previous[name] as readonly GroupSums<unknown>[] as readonly GroupSums<S>[];
      const sums = new Map(groups.map((group) => [group, aggregateOf(group, known)]));
      // The status of a key is read first. A key without an index had no duties, whatever its status is called.
      const readable = groups.filter(({ keys }) => [...(keys ?? [])].every(hadNoDuties));
      for (const group of dueParts(readable, (one) => sums.get(one)?.askedAt, timing)) {
        const read = await attempt({ signal }, () => readGroup(group));
        if (!(read instanceof Error)) {
          const newest = keepNewer(sums.get(group), read, ({ at }) => at);
          sums.set(group, { ...newest, askedAt: timing.now });
          continue;
        }
        failure ??= read;
        // The next request would fail like this one.
        if (!isRequestSpecific(read)) break;
      }
      // If the service refuses 20 too, the number is not the reason.
      if (isFailure(failure, 'forbidden')) hasSmallChunks = previous.hasSmallChunks === true;
      return { value: { ...previous, [name]: [...sums.values()].filter((one) => one), hasSmallChunks }, failure };
    },
  };
}

/** The sums of a group. Undefined if unread, or about another set of validators. */
function aggregateOf<S>(group: WatchedGroup, known: readonly GroupSums<S>[]): GroupSums<S> | undefined {
  const members = membersOf(group);
  return known.find((one) => one.watch === members);
}

function membersOf({ watch, keys }: WatchedGroup): string {
  return [rangesOf(watch), ...[...(keys ?? [])].map(nameOf)].join();
}

/** The sums of a group while they are shown. */
export function freshSums<S>(
  { intervalMs }: ValidatorsOptions,
  group: WatchedGroup,
  name: 'duties' | 'rewards',
  known: readonly GroupSums<S>[],
  timing: Timing,
): FreshSums<S> | undefined {
  const maxAgeMs = maxAge(USUAL_AGE.sums, timing.of(name) ?? STATUS_INTERVALS * intervalMs);
  return fresh(aggregateOf(group, known), maxAgeMs, timing.now);
}
