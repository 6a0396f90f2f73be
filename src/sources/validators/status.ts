import { ValidatorRow } from '../../api/answers/validators.ts';
import type { Api } from '../../api/client.ts';
import { type AnswerOf, PAGE_SIZE, requestTo } from '../../api/endpoints.ts';
import { RequestFailed } from '../../api/errors.ts';
import { isNoneFound } from '../../api/refusal.ts';
import { type Chain, epochAt, epochEnd, MS_PER_EPOCH, SLOTS_PER_EPOCH, USUAL_AGE } from '../../facts/chain.ts';
import { watchedGroupOf } from '../../facts/groups.ts';
import { chunksOf, type Identifier, indicesOf } from '../../facts/watch.ts';
import type { Milliseconds, UnixMs } from '../../toolkit/lib/time.ts';
import { dueParts, keepNewer, maxAge, shownUntil } from '../ages.ts';
import { attempt, expectPastEpoch, isRequestSpecific } from '../answers.ts';
import type { Read } from '../read.ts';
import type { Slashed } from '../slashed.ts';
import { changeEvents, credentialsAfter } from './credentials.ts';
import { costOf, type ValidatorsOptions } from './options.ts';
import { identifierOf, type Validator, type Validators } from './state.ts';

/** consensus-specs phase0, initiate_validator_exit and slash_validator, in epochs. */
const WITHDRAWABLE_AFTER_EXIT = 256;
const WITHDRAWABLE_AFTER_SLASHING = 8192;

/** Requests ten validators of a group at once. If a request fails, its validators keep their values. */
export function statusRead(options: ValidatorsOptions): Read<Validators> {
  const { chain, groups, intervalMs } = options;
  return {
    name: 'status',
    endpoints: ['validators'],
    everyMs: intervalMs,
    ...costOf(options, PAGE_SIZE),
    async run({ api, signal, timing, agingMs, events }, previous) {
      const known = new Map(previous.validators.map((one) => [identifierOf(one), one]));
      const all = groups.flatMap(({ watch, keys }) => chunksOf([...indicesOf(watch), ...(keys ?? [])], PAGE_SIZE));
      const askedAt = (chunk: readonly Identifier[]): UnixMs =>
        chunk.reduce<UnixMs>((first, one) => Math.min(first, known.get(one)?.askedAt ?? 0), Number.POSITIVE_INFINITY);
      let failure: Error | undefined;
      for (const chunk of dueParts(all, askedAt, timing)) {
        const answer = await attempt({ signal }, () => readChunk(api, chain, chunk, signal));
        if (answer instanceof Error) {
          failure ??= answer;
          // The next request would fail like this one.
          if (!isRequestSpecific(answer)) break;
          continue;
        }
        for (const row of answer) {
          const last = known.get(identifierOf(row));
          // While its values are withdrawn its state is unknown, so the offline time restarts.
          // A clock that jumped ahead withdraws nothing for good: the response is at least as old as usual.
          const newest = epochEnd(chain, Math.max(row.epoch, last?.epoch ?? 0)) + USUAL_AGE.status;
          const isKnown = last && isShown(chain, last, agingMs, Math.min(api.now(), newest));
          const before = isKnown ? last : withoutOffline(last);
          const names = row.key !== undefined && row.index !== undefined ? [row.key, row.index] : [];
          const sharing = groups.filter((one) => one.group && names.some((name) => watchedGroupOf([one], name)));
          if (sharing.length > 1)
            events.push({ type: 'groups_share', validator: row.index, groups: sharing.map(({ group }) => group) });
          // The index replaces the key.
          if (row.key !== undefined) known.delete(row.key);
          const key = row.key ?? last?.key;
          const after = afterAnswer(row, before, api.now());
          events.push(...changeEvents(identifierOf(row), after.credentials, last?.credentials));
          known.set(identifierOf(row), { ...after, key, askedAt: timing.now });
        }
      }
      // The groups are from before the responses: a key that has just got an index still counts by the key.
      const isWatched = ({ index, key }: Validator): boolean =>
        [index, key].some((one) => one !== undefined && watchedGroupOf(groups, one));
      const watched = [...known.values()].filter(isWatched);
      const position = ({ index = Infinity }: Validator): number => index;
      return { value: { ...previous, validators: watched.sort((a, b) => position(a) - position(b) || 0) }, failure };
    },
  };
}

/** Whether its response is recent enough to show. */
export function isShown(chain: Chain, { epoch }: Row, agingMs: Milliseconds, now: UnixMs): boolean {
  return shownUntil({ at: epochEnd(chain, epoch) }, maxAge(USUAL_AGE.status, agingMs), now) !== undefined;
}

function withoutOffline(one: Validator | undefined): Validator | undefined {
  return one && { ...one, offlineSince: undefined };
}

/** A validator in a response. */
export type Row = Omit<Validator, 'askedAt'>;

/** The validators of one request. A validator that a readable response lacks is not found. */
export async function readChunk(
  api: Api,
  chain: Chain,
  chunk: readonly Identifier[],
  signal: AbortSignal,
): Promise<Row[]> {
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
  const namesOf = ({ validator: { index, public_key: key } }: ValidatorRow) =>
    [index, key].filter((one) => one != null && chunk.includes(one)) as Identifier[];
  const rows = api.records('validators', ValidatorRow, data, (row) => namesOf(row).length > 0);
  if (data.length > 0 && rows.length === 0)
    throw new RequestFailed('validators', 'invalid_body', 'no row is about a requested validator');
  const found = new Map(rows.flatMap((row) => namesOf(row).map((one) => [one, row] as const)));
  const isWhole = rows.length === data.length && !paging?.next_cursor && paging?.next_cursor !== false;
  return chunk.flatMap((one) => {
    const row = found.get(one);
    return row || isWhole ? [validatorOf(one, range.epoch, row)] : [];
  });
}

/** A waiting or exited validator has no duties, so it is never offline (api-facts 10.1). */
const WITHOUT_DUTIES = /^(pending|exited|withdrawal)_/;

/** As the row reports it. Without a row, the service has no such validator. */
function validatorOf(asked: Identifier, epoch: number, row?: ValidatorRow): Row {
  const status = row?.status ?? 'not_found';
  const [index, key] = typeof asked === 'number' ? [asked] : [row?.validator.index ?? undefined, asked];
  const online = WITHOUT_DUTIES.test(status) ? null : (row?.online ?? null);
  return {
    index,
    key,
    status,
    online,
    balance: row?.balances?.current ?? null,
    effectiveBalance: row?.balances?.effective ?? null,
    epoch,
    activationEpoch: row?.life_cycle_epochs?.activation ?? undefined,
    exitEpoch: row?.life_cycle_epochs?.exit ?? undefined,
    withdrawableEpoch: row?.life_cycle_epochs?.withdrawable ?? undefined,
    // Without an index there is at most a deposit, and no credentials that could change.
    credentials: index === undefined ? undefined : credentialsOf(row),
    slashed: row?.slashed && index !== undefined ? { validator: index, ...slashingOf(row, epoch) } : undefined,
    wasUnslashed: row?.slashed == null ? undefined : !row.slashed,
  };
}

function credentialsOf(row: ValidatorRow | undefined): Row['credentials'] {
  const { prefix: type, address } = row?.withdrawal_credentials ?? {};
  return type == null ? undefined : { type, address: address ?? null, changes: {} };
}

/**
 * A slashed validator is withdrawable at the later of two epochs: one after its exit, one after its slashing. Only the second one shows
 * when it was slashed. Ignores an epoch after that of the response: the next response has it.
 */
function slashingOf({ life_cycle_epochs: life }: ValidatorRow, answer: number): Pick<Slashed, 'slot'> {
  const { exit, withdrawable } = life ?? {};
  if (exit == null || withdrawable == null || withdrawable <= exit + WITHDRAWABLE_AFTER_EXIT) return {};
  const epoch = withdrawable - WITHDRAWABLE_AFTER_SLASHING;
  return epoch >= 0 && epoch <= answer ? { slot: epoch * SLOTS_PER_EPOCH } : {};
}

/** A known validator is not found once two successive responses lack it, at least an epoch apart. A single one can be a fault. */
function afterAnswer(read: Row, before: Row | undefined, now: UnixMs): Row {
  // A 404 has the time of our clock, so any response with the validator wins.
  if (before === undefined || before.status === 'not_found') return withHistory(read, before);
  const isLacking = read.status === 'not_found';
  if (keepNewer(before, read, ({ epoch }) => epoch) === before)
    return isLacking ? before : { ...before, missing: undefined };
  const missing = before.missing && before.missing.at <= now ? before.missing : { epoch: read.epoch, at: now };
  const isPassing = isLacking && (read.epoch <= missing.epoch || now - missing.at < MS_PER_EPOCH);
  return isPassing ? { ...before, missing } : withHistory(read, before);
}

/** Since when the validator is offline and slashed, and how its credentials changed. One that was slashed stays slashed. */
function withHistory(read: Row, before: Row | undefined): Row {
  const { index, epoch } = read;
  const reported = before?.wasUnslashed && { reportedSlot: epoch * SLOTS_PER_EPOCH };
  const isSlashed = index !== undefined && (read.slashed !== undefined || before?.slashed !== undefined);
  // The owner of a slashed validator had to stop it.
  const online = isSlashed && read.online === false ? null : read.online;
  return {
    ...read,
    online,
    offlineSince: online === false ? Math.min(before?.offlineSince ?? epoch, epoch) : undefined,
    slashed: isSlashed ? { validator: index, ...reported, ...read.slashed, ...before?.slashed } : undefined,
    credentials: credentialsAfter(read.credentials, before?.credentials, epoch),
    wasUnslashed: isSlashed ? undefined : (read.wasUnslashed ?? before?.wasUnslashed),
  };
}

/** Whether a validator was certainly inactive in an epoch. */
export function hadNoDutiesIn(one: Row | undefined, epoch: number): boolean {
  if (!one) return false;
  const { status, epoch: known, activationEpoch = 0, exitEpoch = Infinity } = one;
  if (epoch < activationEpoch || epoch >= exitEpoch) return true;
  return known >= epoch && (status.startsWith('pending_') || status === 'not_found');
}
