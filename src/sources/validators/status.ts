import { ValidatorRow } from '../../api/answers/validators.ts';
import { type AnswerOf, PAGE_SIZE, requestTo } from '../../api/endpoints.ts';
import { isFailure } from '../../api/errors.ts';
import { epochAt, SLOTS_PER_EPOCH } from '../../facts/chain.ts';
import { chunksOf } from '../../facts/watch.ts';
import { expectPastEpoch } from '../answers.ts';
import { isShown, maxAge } from '../families.ts';
import { afterFailure, afterSuccess } from '../refusal.ts';
import type { Slashed } from '../slashed.ts';
import type { Poll } from '../source.ts';
import type { PollContext } from './options.ts';
import type { Validator, Validators } from './schema.ts';

/** consensus-specs phase0, initiate_validator_exit and slash_validator, in epochs. */
const WITHDRAWABLE_AFTER_EXIT = 256;
const WITHDRAWABLE_AFTER_SLASHING = 8192;
/** After this many failures in a row the poll ends: it is more than one odd answer. */
const MAX_FAILURES = 3;

/**
 * Reads every watched validator, ten of a group a request. If a request fails, its validators keep their values. The status counts
 * as refused only if no request was answered.
 */
export async function readStatus(context: PollContext, previous: Validators): Promise<Poll<Validators>> {
  const known = new Map(previous.validators.map((one) => [one.index, one]));
  const read: Read[] = [];
  let answers = 0;
  let failures = 0;
  let failure: Error | undefined;
  for (const chunk of context.options.groups.flatMap(({ watch }) => chunksOf(watch, PAGE_SIZE))) {
    try {
      read.push(...(await readChunk(context, chunk)));
      answers += 1;
      failures = 0;
    } catch (error) {
      if (context.signal.aborted || !(error instanceof Error)) throw error;
      failure ??= error;
      failures += 1;
      // If the plan does not include the endpoint, the next request would get the same answer.
      if (failures >= MAX_FAILURES || isFailure(error, 'forbidden')) break;
    }
  }
  // All are shown at the end, so their age begins there: the next sweep may take as long.
  const readAt = context.api.now();
  for (const one of read) {
    const last = known.get(one.index);
    const isKnown = last && isShown(last, maxAge(context.timing), readAt);
    // Nobody knows what happened while its values were withdrawn, so being offline begins anew after that.
    const before = last && !isKnown ? { ...last, offlineSince: undefined } : last;
    known.set(one.index, withHistory({ ...one, readAt }, before));
  }
  const validators = [...known.values()].sort((a, b) => a.index - b.index);
  const { performance, rewards } = previous;
  const value = {
    ...previous,
    validators,
    performance: { ...performance, polls: performance.polls + 1 },
    rewards: { ...rewards, polls: rewards.polls + 1 },
  };
  if (failure && answers === 0) return afterFailure(context, 'status', value, failure);
  return { value: afterSuccess('status', value), failure };
}

/** A row, before it is known when the sweep ends. */
type Read = Omit<Validator, 'readAt'>;

/** The validators of one request. A validator that a readable answer lacks is not found. */
async function readChunk({ options, api, signal }: PollContext, chunk: readonly number[]): Promise<Read[]> {
  const { chain } = options;
  let answer: AnswerOf<'validators'>;
  try {
    answer = await api.request(requestTo('validators', { chain, identifiers: chunk }), signal);
  } catch (error) {
    // Here a 404 says that the service knows none of them.
    if (!isFailure(error, 'not_found')) throw error;
    answer = { data: [], range: { epoch: epochAt(chain, api.now()) } };
  }
  const { data, range, paging } = answer;
  // A sweep of many validators takes several epochs.
  expectPastEpoch('validators', chain, range.epoch, api.now());
  const rows = api.records('validators', ValidatorRow, data);
  const found = new Map(rows.map((row) => [row.validator.index, validatorOf(row.validator.index, range.epoch, row)]));
  const isWhole = rows.length === data.length && !paging?.next_cursor;
  return chunk.flatMap((index) => {
    const one = found.get(index) ?? (isWhole ? validatorOf(index, range.epoch) : undefined);
    return one ? [one] : [];
  });
}

/** A validator that is waiting or has left has no duties, so it is never offline (api-facts 10.1). */
const WITHOUT_DUTIES = /^(pending|exited|withdrawal)_/;

/** As the row says it; without one, a validator that the service does not know. */
function validatorOf(index: number, epoch: number, row?: ValidatorRow): Read {
  const status = row?.status ?? 'not_found';
  const online = WITHOUT_DUTIES.test(status) ? null : (row?.online ?? null);
  return {
    index,
    status,
    online,
    balance: row?.balances?.current ?? null,
    effectiveBalance: row?.balances?.effective ?? null,
    epoch,
    offlineSince: online === false ? epoch : undefined,
    slashed: row?.slashed ? { validator: index, ...slashingOf(row, epoch) } : undefined,
    wasUnslashed: row && !row.slashed,
  };
}

/**
 * A slashed validator is withdrawable at the later of two epochs: one after its exit, one after its slashing. Only the
 * second one tells when it was slashed. An epoch after that of the answer is left out: the next answer has it.
 */
function slashingOf({ life_cycle_epochs: life }: ValidatorRow, answer: number): Pick<Slashed, 'slot'> {
  if (!life || life.withdrawable <= life.exit + WITHDRAWABLE_AFTER_EXIT) return {};
  const epoch = life.withdrawable - WITHDRAWABLE_AFTER_SLASHING;
  return epoch >= 0 && epoch <= answer ? { slot: epoch * SLOTS_PER_EPOCH } : {};
}

/** Since when the validator is offline and slashed. One that was slashed stays slashed. */
function withHistory(read: Validator, before: Validator | undefined): Validator {
  const { index, epoch, offlineSince } = read;
  const reported = before?.wasUnslashed && { reportedSlot: epoch * SLOTS_PER_EPOCH };
  const isSlashed = read.slashed !== undefined || before?.slashed !== undefined;
  return {
    ...read,
    offlineSince: offlineSince === undefined ? undefined : Math.min(before?.offlineSince ?? epoch, offlineSince),
    slashed: isSlashed ? { validator: index, ...reported, ...read.slashed, ...before?.slashed } : undefined,
    wasUnslashed: isSlashed ? undefined : (read.wasUnslashed ?? before?.wasUnslashed),
  };
}
