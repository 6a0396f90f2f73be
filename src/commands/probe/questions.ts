import {
  type ApiRequest,
  DAILY_RETURNS_PATHS,
  IDENTIFIERS_OF_AGGREGATE,
  PAGE_SIZE,
  requestTo,
} from '../../api/endpoints.ts';
import { type Chain, epochAt, SLOTS_PER_EPOCH } from '../../facts/chain.ts';
import { indicesOf, type Watch } from '../../facts/watch.ts';
import { isPlausibleAt } from '../../sources/machines/sweep.ts';
import { isPlausibleRowAt } from '../../sources/slashings/read.ts';
import { isObject } from '../../toolkit/lib/is-object.ts';
import type { UnixMs } from '../../toolkit/lib/time.ts';
import { valueAt } from '../../toolkit/yaml/value-at.ts';

export interface Question {
  readonly request: ApiRequest;
  /** Undefined: it is about the account. */
  readonly chain?: Chain;
  /** Replaces the request if the service does not know its path. */
  readonly otherwise?: ApiRequest;
  /** Whether a record of the answer is plausible when it is read; default: every one is. */
  readonly isPlausible?: (record: never) => boolean;
}

const LOOK_BACK_SECONDS = 3_600;

/**
 * The names of all machines, and their newest records in the last hour. The names do not depend on the time, and their
 * answer shows whether our clock is right.
 */
export function* accountQuestions(now: () => UnixMs): Generator<Question> {
  yield { request: requestTo('machine_names', {}) };
  const end = Math.floor(now() / 1000);
  yield {
    request: requestTo('machine_metrics', { range: { start: end - LOOK_BACK_SECONDS, end } }),
    isPlausible: (record) => isPlausibleAt(now())(record),
  };
}

/** What is asked about a chain, its slashings apart. The last question is about the slots at its head. */
export function chainQuestions(chain: Chain, watch: Watch, now: () => UnixMs): Question[] {
  const [path, otherPath] = DAILY_RETURNS_PATHS;
  const [, ofAllPlans] = IDENTIFIERS_OF_AGGREGATE;
  const newestDay = { chain, range: { window: '24h' } } as const;
  const questions: readonly Omit<Question, 'chain'>[] = [
    {
      request: requestTo('daily_returns', { ...newestDay, path }),
      otherwise: requestTo('daily_returns', { ...newestDay, path: otherPath }),
    },
    { request: requestTo('sync_committee', { chain }) },
    { request: requestTo('sync_committee_members', { chain, period: 'latest' }) },
    { request: requestTo('validators', { chain, identifiers: firstOf(watch) }) },
    { request: requestTo('validators_performance', { chain, identifiers: firstOf(watch, ofAllPlans) }) },
    { request: requestTo('validators_rewards', { chain, identifiers: firstOf(watch, ofAllPlans) }) },
    { request: requestTo('network_performance', { chain }) },
    { request: requestTo('queues', { chain }) },
    {
      request: requestTo('epoch_slots', { chain, epoch: 'latest', priority: 'head_pass' }),
      isPlausible: (row) => isPlausibleRowAt(chain, now())(row),
    },
  ];
  return questions.map((question) => ({ ...question, chain }));
}

/** The first watched validators; by default those whose status is asked for. */
export function firstOf(watch: Watch, count = PAGE_SIZE): number[] {
  return indicesOf(watch).take(count).toArray();
}

/** The slashings of a slot. If possible, it is one for which the answer about the slots announces slashings. */
export function slashingsQuestions(chain: Chain, slots: unknown, now: UnixMs): Question[] {
  const rows = listAt(slots, 'data').filter(isObject);
  const slotOf = (kind: 'attester' | 'proposer'): number => {
    const announcing = rows.find((row) => Number(row[`${kind}slashingscount`]) > 0);
    const slot = (announcing ?? rows.findLast(({ status }) => status === '1'))?.['slot'];
    // Without an answer, the last slot of the epoch before this one.
    return Number.isSafeInteger(slot) ? Number(slot) : epochAt(chain, now) * SLOTS_PER_EPOCH - 1;
  };
  return [
    requestTo('attester_slashings', { chain, slot: slotOf('attester') }),
    requestTo('proposer_slashings', { chain, slot: slotOf('proposer') }),
  ].map((request) => ({ request, chain }));
}

/** The list at a path such as `data.validators`; empty if there is none. */
export function listAt(value: unknown, path: string): readonly unknown[] {
  const found = valueAt(value, path.split('.'));
  return Array.isArray(found) ? found : [];
}
