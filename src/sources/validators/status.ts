import { ValidatorRow } from '../../api/answers/validators.ts';
import type { Api } from '../../api/client.ts';
import { type AnswerOf, PAGE_SIZE, requestTo } from '../../api/endpoints.ts';
import { isFailure } from '../../api/errors.ts';
import { isNoneFound } from '../../api/refusal.ts';
import { type Chain, epochAt, SLOTS_PER_EPOCH } from '../../facts/chain.ts';
import { chunksOf, watches } from '../../facts/watch.ts';
import { attempt, expectPastEpoch } from '../answers.ts';
import { maxAge, shownUntil } from '../families.ts';
import type { Read } from '../read.ts';
import type { Slashed } from '../slashed.ts';
import { requestsFor, type ValidatorsOptions } from './options.ts';
import type { Validator, Validators } from './state.ts';

/** consensus-specs phase0, initiate_validator_exit and slash_validator, in epochs. */
const WITHDRAWABLE_AFTER_EXIT = 256;
const WITHDRAWABLE_AFTER_SLASHING = 8192;
/** After this many failures in a row the run ends: more than one odd answer is an outage. */
const MAX_FAILURES = 3;

/** Ten validators of a group a request. If a request fails, its validators keep their values. */
export function statusRead(options: ValidatorsOptions): Read<Validators> {
  const { watch, groups, intervalMs } = options;
  return {
    name: 'status',
    endpoints: ['validators'],
    everyMs: intervalMs,
    cost: requestsFor(groups, PAGE_SIZE),
    async run({ api, signal, timing }, previous) {
      const { rows, failure } = await readRows(options, api, signal);
      // The next run may take as long as this one, so the age of all values begins at the end.
      const readAt = api.now();
      const known = new Map(previous.validators.map((one) => [one.index, one]));
      for (const row of rows) {
        const last = known.get(row.index);
        const isKnown = last && shownUntil(last, maxAge(timing.intervalMs), readAt) !== undefined;
        // While its values are withdrawn its state is unknown, so the offline time restarts.
        const before = last && !isKnown ? { ...last, offlineSince: undefined } : last;
        known.set(row.index, withHistory({ ...row, readAt }, before));
      }
      const watched = [...known.values()].filter(({ index }) => watches(watch, index));
      return { value: { ...previous, validators: watched.sort((a, b) => a.index - b.index) }, failure };
    },
  };
}

/** A validator, before it is known when the run ends. */
type Row = Omit<Validator, 'readAt'>;

async function readRows({ chain, groups }: ValidatorsOptions, api: Api, signal: AbortSignal) {
  const rows: Row[] = [];
  let failures = 0;
  let failure: Error | undefined;
  for (const chunk of groups.flatMap(({ watch }) => chunksOf(watch, PAGE_SIZE))) {
    const answered = await attempt({ signal }, () => readChunk(api, chain, chunk, signal));
    const isRead = !(answered instanceof Error);
    failures = isRead ? 0 : failures + 1;
    if (isRead) rows.push(...answered);
    else failure ??= answered;
    // If the plan does not include the endpoint, the next request would get the same answer.
    if (failures >= MAX_FAILURES || isFailure(answered, 'forbidden')) break;
  }
  return { rows, failure };
}

/** The validators of one request. A validator that a readable answer lacks is not found. */
async function readChunk(api: Api, chain: Chain, chunk: readonly number[], signal: AbortSignal): Promise<Row[]> {
  let answer: AnswerOf<'validators'>;
  try {
    answer = await api.request(requestTo('validators', { chain, identifiers: chunk }), signal);
  } catch (error) {
    if (!isNoneFound(error)) throw error;
    answer = { data: [], range: { epoch: epochAt(chain, api.now()) } };
  }
  const { data, range, paging } = answer;
  // A run over many validators takes several epochs.
  expectPastEpoch('validators', chain, range.epoch, api.now());
  const rows = api.records('validators', ValidatorRow, data);
  const found = new Map(rows.map((row) => [row.validator.index, validatorOf(row.validator.index, range.epoch, row)]));
  const isWhole = rows.length === data.length && !paging?.next_cursor && paging?.next_cursor !== false;
  return chunk.flatMap((index) => {
    const one = found.get(index) ?? (isWhole ? validatorOf(index, range.epoch) : undefined);
    return one ? [one] : [];
  });
}

/** A validator that is waiting or has left has no duties, so it is never offline (api-facts 10.1). */
const WITHOUT_DUTIES = /^(pending|exited|withdrawal)_/;

/** As the row reports it. Without a row, the service has no validator with this index. */
function validatorOf(index: number, epoch: number, row?: ValidatorRow): Row {
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
    wasUnslashed: row?.slashed == null ? undefined : !row.slashed,
  };
}

/**
 * A slashed validator is withdrawable at the later of two epochs: one after its exit, one after its slashing. Only the
 * second one tells when it was slashed. An epoch after that of the answer is left out: the next answer has it.
 */
function slashingOf({ life_cycle_epochs: life }: ValidatorRow, answer: number): Pick<Slashed, 'slot'> {
  const { exit, withdrawable } = life ?? {};
  if (exit == null || withdrawable == null || withdrawable <= exit + WITHDRAWABLE_AFTER_EXIT) return {};
  const epoch = withdrawable - WITHDRAWABLE_AFTER_SLASHING;
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
