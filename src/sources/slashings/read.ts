import { AttesterSlashing, ProposerSlashing, SlotRow } from '../../api/answers/slots.ts';
import { type Endpoint, requestTo } from '../../api/endpoints.ts';
import { isFailure, RequestFailed } from '../../api/errors.ts';
import type { Priority } from '../../budget/permit.ts';
import { type Chain, SLOTS_PER_EPOCH, slotTime } from '../../facts/chain.ts';
import { CLOCK_AHEAD_SECONDS } from '../../toolkit/lib/clock.ts';
import type { UnixMs } from '../../toolkit/lib/time.ts';
import { afterFailure, afterSuccess, refusedUntil } from '../refusal.ts';
import type { PollContext as SourceContext } from '../source.ts';
import { addRecent, countSlashings, slashingEvent } from './count.ts';
import { identityOf } from './evidence.ts';
import type { SlashingsOptions } from './options.ts';
import type { EpochRows, Slashings } from './schema.ts';

export type PollContext = SourceContext<SlashingsOptions>;

export interface Step {
  readonly state: Slashings;
  readonly failure?: Error | undefined;
}

/**
 * Reads an epoch by number or view.
 * @throws RequestFailed, also when the answer has no readable row of the epoch.
 */
export async function readEpoch(
  { options: { chain }, api, signal }: PollContext,
  epoch: number | 'latest' | 'finalized',
  priority: Priority,
): Promise<EpochRows> {
  const { data } = await api.request(requestTo('epoch_slots', { chain, epoch, priority }), signal);
  const rows = api.records('epoch_slots', SlotRow, data, isPlausibleRowAt(chain, api.now()));
  const read = typeof epoch === 'number' ? epoch : commonEpoch(rows);
  const own = rows.filter((row) => row.epoch === read && Math.floor(row.slot / SLOTS_PER_EPOCH) === read);
  if (own.length === 0) throw implausible(`no readable row of epoch ${epoch}`);
  return { epoch: read, rows: canonicalRows(own), allRows: own };
}

/**
 * Whether a row is plausible at `now`: its slot has begun by our clock. The service may add the slots to come of an
 * epoch, as scheduled (api-facts 5.1).
 */
export function isPlausibleRowAt(chain: Chain, now: UnixMs): (row: SlotRow) => boolean {
  const latest = now / 1000 + CLOCK_AHEAD_SECONDS;
  return ({ slot, status }) => slotTime(chain, status === '0' ? slot - SLOTS_PER_EPOCH : slot) <= latest;
}

/** The epoch of most rows. All rows of a view should have the same one, and a single wrong row must not decide. */
function commonEpoch(rows: readonly SlotRow[]): number {
  const groups = [...Map.groupBy(rows, (row) => row.epoch)];
  const [largest] = groups.toSorted(([a, ofA], [b, ofB]) => ofB.length - ofA.length || b - a);
  return largest?.[0] ?? -1;
}

/** The order in which the rows of a slot are preferred: proposed, orphaned, missed, scheduled. */
const STATUS_ORDER: readonly SlotRow['status'][] = ['1', '3', '2', '0'];

/**
 * One row for each slot, ascending. A slot can have an orphaned row in addition to the canonical one. The service
 * updates the status by slot (api-facts 5.1), so both can say "1". Then the parent of the first canonical block after
 * the slot decides. As long as there is no such block, the slot is still scheduled, or its first block is taken.
 */
export function canonicalRows(rows: readonly SlotRow[], takesFirst = false): SlotRow[] {
  const bySlot = [...Map.groupBy(rows, (row) => row.slot)].sort(([a], [b]) => b - a);
  let next: SlotRow | undefined;
  const picked = bySlot.map(([, candidates]) => {
    const row = pick(candidates, next, takesFirst);
    if (row.status === '1') next = row;
    return row;
  });
  return picked.reverse();
}

function pick(candidates: readonly SlotRow[], next: SlotRow | undefined, takesFirst: boolean): SlotRow {
  const ranked = candidates.toSorted((a, b) => STATUS_ORDER.indexOf(a.status) - STATUS_ORDER.indexOf(b.status));
  const best = ranked[0] as SlotRow;
  const rivals = ranked.filter((row) => row.status === best.status);
  if (best.status !== '1' || rivals.every(({ blockroot }) => blockroot === best.blockroot)) return best;
  if (!next) return takesFirst ? best : { ...best, status: '0' };
  const { parentroot = null } = next;
  if (parentroot === null) return best;
  return rivals.find(({ blockroot }) => blockroot === parentroot) ?? { ...best, status: '3' };
}

/** The epoch with the canonical rows that follow from the next epoch, if that was read. */
export function decided({ epoch, allRows }: EpochRows, next: EpochRows | undefined, takesFirst = false): EpochRows {
  const rows = canonicalRows([...allRows, ...(next?.allRows ?? [])], takesFirst);
  return { epoch, rows: rows.filter((row) => row.epoch === epoch), allRows };
}

/** Whether two blocks of a slot say that they are canonical, and no later block that was read decides. */
export function isTied({ rows, allRows }: EpochRows): boolean {
  const open = new Set(rows.filter(({ status }) => status === '0').map(({ slot }) => slot));
  return allRows.some(({ slot, status }) => status === '1' && open.has(slot));
}

/**
 * Blocks whose slashings are not completely read: as many of each block as its row announces. At the head a block is
 * tried at most `maxTries` times.
 */
export function unreadBlocks(
  state: Slashings,
  rows: readonly SlotRow[],
  maxTries = Number.POSITIVE_INFINITY,
): SlotRow[] {
  return rows.filter((row) => {
    if (row.status !== '1' || row.attesterslashingscount === 0) return false;
    const read = state.reads.find((one) => one.slot === row.slot && one.root === row.blockroot);
    return !read || (!read.complete && read.tries < maxTries);
  });
}

/** Reads and counts the slashings of these blocks. If some cannot be read, the failure is that of the first. */
export async function readSlashings(
  context: PollContext,
  previous: Slashings,
  blocks: readonly SlotRow[],
): Promise<Step> {
  let state = previous;
  let failure: Error | undefined;
  for (const block of blocks) {
    const own = await attempt(context, () => readBlock(context, block));
    if (own instanceof Error) {
      state = noteTry(state, block, false);
      failure ??= own;
      continue;
    }
    const byIdentity = new Map(own.map((record) => [identityOf(record), record]));
    const complete = byIdentity.size >= block.attesterslashingscount;
    const counted = countSlashings(noteTry(state, block, complete), block.slot, byIdentity);
    for (const slashing of counted.observed) context.events.push(slashingEvent(context.options.watch, slashing));
    ({ state } = counted);
  }
  return { state, failure };
}

/** The slashings in a block. Records of another block of the slot (an orphaned one) do not count. */
async function readBlock(
  { options: { chain }, api, signal }: PollContext,
  row: SlotRow,
): Promise<readonly AttesterSlashing[]> {
  const { data } = await api.request(requestTo('attester_slashings', { chain, slot: row.slot }), signal);
  const records = api.records('attester_slashings', AttesterSlashing, data);
  return records.filter((record) => record.block_root === row.blockroot);
}

function noteTry(state: Slashings, row: SlotRow, complete: boolean): Slashings {
  const isThis = (read: Slashings['reads'][number]): boolean => read.slot === row.slot && read.root === row.blockroot;
  const tries = (state.reads.find(isThis)?.tries ?? 0) + 1;
  const read = { slot: row.slot, root: row.blockroot as string, tries, complete };
  return { ...state, reads: [...state.reads.filter((other) => !isThis(other)), read] };
}

/**
 * Reads who was slashed as a proposer in the blocks of a finalized epoch, one request for each block whose row reports
 * such slashings. A block is done when as many validators were read as its row reports. Once the service counts as
 * refusing, the reading ends without a failure.
 */
export async function readProposerNames(
  context: PollContext,
  previous: Slashings,
  rows: readonly SlotRow[],
): Promise<Step> {
  const { options, timing } = context;
  let state = previous;
  for (const row of rows) {
    if (!options.readsProposerNames || timing.now < refusedUntil(state, 'proposer_slashings')) break;
    if (row.status !== '1' || row.proposerslashingscount === 0 || state.namedSlots.includes(row.slot)) continue;
    try {
      const validators = await readValidators(context, row);
      state = withNames(context, afterSuccess('proposer_slashings', state), row.slot, validators);
      if (validators.size < row.proposerslashingscount) {
        const counts = `${row.proposerslashingscount} proposer slashings, but only ${validators.size} could be read`;
        throw implausible(`slot ${row.slot} reports ${counts}`, 'proposer_slashings');
      }
      state = { ...state, namedSlots: [...state.namedSlots, row.slot] };
    } catch (error) {
      const { value, failure } = afterFailure(context, 'proposer_slashings', state, error);
      state = value;
      if (failure) return { state, failure };
    }
  }
  return { state };
}

/** The validators that the canonical block of a slot slashes as proposers. */
async function readValidators({ api, options: { chain }, signal }: PollContext, row: SlotRow): Promise<Set<number>> {
  const { data } = await api.request(requestTo('proposer_slashings', { chain, slot: row.slot }), signal);
  const records = api.records('proposer_slashings', ProposerSlashing, data);
  return new Set(records.filter((one) => one.block_root === row.blockroot).map((one) => one.proposerindex));
}

function withNames(
  { options, events }: PollContext,
  previous: Slashings,
  slot: number,
  validators: ReadonlySet<number>,
): Slashings {
  const known = new Set(previous.proposerSlashed.map(([validator]) => validator));
  let state = previous;
  for (const validator of validators) {
    if (known.has(validator)) continue;
    const slashing = { slot, kind: 'proposer', validators: [validator] } as const;
    state = addRecent({ ...state, proposerSlashed: [...state.proposerSlashed, [validator, slot]] }, slashing);
    events.push(slashingEvent(options.watch, slashing));
  }
  return state;
}

/** The result, or the failure. @throws when the poll is aborted */
export async function attempt<T>({ signal }: PollContext, read: () => Promise<T>): Promise<T | Error> {
  try {
    return await read();
  } catch (error) {
    if (signal.aborted || !(error instanceof Error)) throw error;
    return error;
  }
}

/** An implausible response is treated like an unreadable body. */
export function implausible(detail: string, endpoint: Endpoint = 'epoch_slots'): RequestFailed {
  return new RequestFailed(endpoint, 'invalid_body', detail);
}

/** Whether the failure may concern only this request. Otherwise the service is away, or refuses all requests. */
export function isRequestSpecific(failure: Error): boolean {
  if (!(failure instanceof RequestFailed)) return false;
  return !isFailure(failure, 'network', 'rate_limited', 'revoked', 'unauthorized', 'forbidden');
}
