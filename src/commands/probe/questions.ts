import {
  type ApiRequest,
  DAILY_RETURNS_PATHS,
  IDENTIFIERS_OF_AGGREGATE,
  PAGE_SIZE,
  requestTo,
} from '../../api/endpoints.ts';
import { type Chain, epochAt, SLOTS_PER_EPOCH } from '../../facts/chain.ts';
import { indicesOf, type Watch } from '../../facts/watch.ts';
import { isPlausibleAt } from '../../sources/machines/poll.ts';
import { isPlausibleRowAt } from '../../sources/slashings/read.ts';
import { isObject } from '../../toolkit/lib/is-object.ts';
import type { UnixMs } from '../../toolkit/lib/time.ts';
import { valueAt } from '../../toolkit/yaml/value-at.ts';

/** One request of the table of endpoints. */
export interface Question {
  readonly request: ApiRequest;
  /** Undefined: it is about the account. */
  readonly chain?: Chain;
  /** Replaces the request if the service does not know its path. */
  readonly otherwise?: ApiRequest;
  /** Whether a record is plausible now; default: every one is. */
  readonly isPlausible?: (record: never) => boolean;
}

const LOOK_BACK_SECONDS = 3_600;

/** The newest records of the machines in the last hour, and the names of all machines. */
export function accountQuestions(now: UnixMs): [Question, Question] {
  const end = Math.floor(now / 1000);
  const range = { start: end - LOOK_BACK_SECONDS, end };
  return [
    { request: requestTo('machine_metrics', { range }), isPlausible: isPlausibleAt(now) },
    { request: requestTo('machine_names', {}) },
  ];
}

/** The newest day and the current sync committee. */
export function dailyQuestions(chain: Chain): Question[] {
  const [request, otherwise] = DAILY_RETURNS_PATHS.map((path) =>
    requestTo('daily_returns', { chain, path, range: { window: '24h' } }),
  ) as [ApiRequest, ApiRequest];
  return [
    { request, otherwise, chain },
    { request: requestTo('sync_committee', { chain }), chain },
  ];
}

/** The members of the current sync committee, and the first watched validators. */
export function validatorsQuestions(chain: Chain, watch: Watch): Question[] {
  const [, ofAllPlans] = IDENTIFIERS_OF_AGGREGATE;
  const first = (count: number): number[] => indicesOf(watch).take(count).toArray();
  return [
    requestTo('sync_committee_members', { chain, period: 'latest' }),
    requestTo('validators', { chain, identifiers: first(PAGE_SIZE) }),
    requestTo('validators_performance', { chain, identifiers: first(ofAllPlans) }),
    requestTo('validators_rewards', { chain, identifiers: first(ofAllPlans) }),
  ].map((request) => ({ request, chain }));
}

/** The duties of all validators, and the queues. */
export function networkQuestions(chain: Chain): Question[] {
  return [requestTo('network_performance', { chain }), requestTo('queues', { chain })].map((request) => ({
    request,
    chain,
  }));
}

/** The slots at the head of the chain. */
export function slotsQuestion(chain: Chain, now: UnixMs): Question {
  const request = requestTo('epoch_slots', { chain, epoch: 'latest', priority: 'head_pass' });
  return { request, chain, isPlausible: isPlausibleRowAt(chain, now) };
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
