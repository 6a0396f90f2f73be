import { ValidatorRow } from '../../api/answers/validators.ts';
import { type AnswerOf, PAGE_SIZE, requestTo } from '../../api/endpoints.ts';
import { isFailure, RequestFailed } from '../../api/errors.ts';
import { epochAt, SLOTS_PER_EPOCH } from '../../facts/chain.ts';
import { indicesOf, type Watch } from '../../facts/watch.ts';
import { CLOCK_AHEAD_MS } from '../../toolkit/lib/clock.ts';
import { isShown } from '../age.ts';
import { refusedPart } from '../refusal.ts';
import type { Timing } from '../source.ts';
import { maxAge } from './metrics.ts';
import type { PollContext, Step } from './part.ts';
import type { Validator, Validators } from './schema.ts';
import { slashingOf } from './slashed.ts';

/** After this many failures in a row the poll ends: it is more than one odd answer. */
const MAX_FAILURES = 3;

/**
 * Reads every watched validator, ten a request. If a request fails, its validators keep their values. The status counts
 * as refused only if no request was answered.
 */
export async function readStatus(context: PollContext, previous: Validators, timing: Timing): Promise<Step> {
  const { statusRefusal: before, ...rest } = previous;
  const known = new Map(previous.validators.map((one) => [one.index, one]));
  const read: Read[] = [];
  let answers = 0;
  let failures = 0;
  let failure: Error | undefined;
  for (const chunk of chunksOf(context.options.watch, PAGE_SIZE)) {
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
    const before = remembered(known.get(one.index), { ...timing, now: readAt });
    known.set(one.index, withHistory({ ...one, readAt }, before));
  }
  const validators = [...known.values()].sort((a, b) => a.index - b.index);
  const value = { ...rest, validators, pollsSincePerformance: rest.pollsSincePerformance + 1 };
  if (!failure || answers > 0) return { value, failure };
  const { refusal, failure: reported } = refusedPart(context, 'status', before, failure);
  return { value: { ...value, ...(refusal && { statusRefusal: refusal }) }, failure: reported };
}

/** The watched indices in groups of up to `size`, ascending. */
export function* chunksOf(watch: Watch, size: number): Generator<number[]> {
  let chunk: number[] = [];
  for (const index of indicesOf(watch)) {
    chunk.push(index);
    if (chunk.length < size) continue;
    yield chunk;
    chunk = [];
  }
  if (chunk.length > 0) yield chunk;
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
  const now = api.now();
  if (range.epoch > epochAt(chain, now + CLOCK_AHEAD_MS)) {
    throw new RequestFailed('validators', 'invalid_body', `epoch ${range.epoch} is in the future`);
  }
  const rows = api.records('validators', ValidatorRow, data);
  const found = new Map(rows.map((row) => [row.validator.index, validatorOf(row.validator.index, range.epoch, row)]));
  const isWhole = rows.length === data.length && !paging?.next_cursor;
  return chunk.flatMap((index) => {
    const one = found.get(index) ?? (isWhole ? validatorOf(index, range.epoch) : undefined);
    return one ? [one] : [];
  });
}

/** As the row says it; without one, a validator that the service does not know. */
function validatorOf(index: number, epoch: number, row?: ValidatorRow): Read {
  const online = row?.online ?? null;
  return {
    index,
    status: row?.status ?? 'not_found',
    online,
    balance: row?.balances?.current ?? null,
    effectiveBalance: row?.balances?.effective ?? null,
    epoch,
    ...(online === false && { offlineSince: epoch }),
    ...(row?.slashed && { slashed: { validator: index, ...slashingOf(row, epoch) } }),
    ...(row?.slashed === false && { wasUnslashed: true }),
  };
}

/** Nobody knows what happened while its values were withdrawn, so being offline begins anew after that. */
function remembered(before: Validator | undefined, timing: Timing): Validator | undefined {
  if (!before || isShown(before.readAt, maxAge(timing), timing.now)) return before;
  const { offlineSince, ...rest } = before;
  return rest;
}

/** Since when the validator is offline and slashed. One that was slashed stays slashed. */
function withHistory(read: Validator, before: Validator | undefined): Validator {
  const { offlineSince, slashed, wasUnslashed = before?.wasUnslashed, ...rest } = read;
  const since = before?.wasUnslashed && { reportedSlot: read.epoch * SLOTS_PER_EPOCH };
  return {
    ...rest,
    ...(offlineSince !== undefined && { offlineSince: Math.min(before?.offlineSince ?? offlineSince, offlineSince) }),
    ...(slashed || before?.slashed
      ? { slashed: { validator: read.index, ...since, ...slashed, ...before?.slashed } }
      : wasUnslashed && { wasUnslashed }),
  };
}
