import type * as z from 'zod';
import { AttesterSlashing, ProposerSlashing, SlotRow } from '../../api/answers/slots.ts';
import { requestTo } from '../../api/endpoints.ts';
import type { Priority } from '../../budget/permit.ts';
import { type Chain, SLOTS_PER_EPOCH, slotTime } from '../../facts/chain.ts';
import { CLOCK_AHEAD_SECONDS } from '../../toolkit/lib/clock.ts';
import type { UnixMs } from '../../toolkit/lib/time.ts';
import { attempt } from '../answers.ts';
import { addRecent, countSlashings, type ObservedSlashing } from './count.ts';
import { slashingEvent } from './events.ts';
import { identityOf } from './evidence.ts';
import { type Context, implausible, type Step } from './pass.ts';
import type { EpochRows, Slashings } from './state.ts';

type WhichEpoch = number | 'latest' | 'finalized';

/** @throws RequestFailed, also if the response has no readable row of the epoch */
export async function readEpoch(context: Context, epoch: WhichEpoch, priority: Priority): Promise<EpochRows> {
  return epochIn(context, epoch, await readSlots(context, epoch, priority));
}

export async function readSlots(
  { options: { chain }, api, signal }: Context,
  epoch: WhichEpoch,
  priority: Priority,
): Promise<readonly unknown[]> {
  const { data } = await api.request(requestTo('epoch_slots', { chain, epoch, priority }), signal);
  return data;
}

/** @throws RequestFailed if no row of the epoch is readable */
export function epochIn({ options: { chain }, api }: Context, epoch: WhichEpoch, data: readonly unknown[]): EpochRows {
  const rows = api.records('epoch_slots', SlotRow, data, isPlausibleRowAt(chain, api.now()));
  const read = typeof epoch === 'number' ? epoch : commonEpoch(rows);
  const own = rows.filter((row) => row.epoch === read && Math.floor(row.slot / SLOTS_PER_EPOCH) === read);
  if (own.length === 0) throw implausible(`no readable row of epoch ${epoch}`);
  return { epoch: read, rows: canonicalRows(own), allRows: own };
}

/** The service may add coming slots as scheduled (api-facts 5.1). */
export function isPlausibleRowAt(chain: Chain, now: UnixMs): (row: SlotRow) => boolean {
  const latest = now / 1000 + CLOCK_AHEAD_SECONDS;
  return ({ slot, status }) => slotTime(chain, status === '0' ? slot - SLOTS_PER_EPOCH : slot) <= latest;
}

/** The epoch of most rows. All rows of a view should have the same epoch, but a single wrong row must not decide. */
function commonEpoch(rows: readonly SlotRow[]): number {
  const groups = [...Map.groupBy(rows, (row) => row.epoch)];
  const [largest] = groups.toSorted(([a, ofA], [b, ofB]) => ofB.length - ofA.length || b - a);
  return largest?.[0] ?? -1;
}

/** Prefers the rows of a slot in this order: proposed, orphaned, missed, scheduled. */
const STATUS_ORDER: readonly SlotRow['status'][] = ['1', '3', '2', '0'];

/**
 * One row for each slot, ascending. A slot can have an orphaned row beside the canonical one, and because the service updates the status by
 * slot (api-facts 5.1), both can say "1". Then the parent of the next canonical block decides. Before there is one, the slot counts as
 * scheduled, or its first block counts (`takesFirst`).
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

/** The epoch, with the canonical rows as the next epoch, if read, decides them. */
export function decided({ epoch, allRows }: EpochRows, next: EpochRows | undefined, takesFirst = false): EpochRows {
  const rows = canonicalRows([...allRows, ...(next?.allRows ?? [])], takesFirst);
  return { epoch, rows: rows.filter((row) => row.epoch === epoch), allRows };
}

/** Whether the service reports two blocks of a slot as canonical, and no later block decides between them. */
export function isTied({ rows, allRows }: EpochRows): boolean {
  const open = new Set(rows.filter(({ status }) => status === '0').map(({ slot }) => slot));
  return allRows.some(({ slot, status }) => status === '1' && open.has(slot));
}

/** Blocks with fewer readable slashings than their rows announce, after less than `maxTries` tries. */
export function unreadBlocks(state: Slashings, rows: readonly SlotRow[], maxTries = Infinity): SlotRow[] {
  return rows.filter((row) => {
    if (row.status !== '1' || row.attesterslashingscount === 0) return false;
    const read = readOf(state, row);
    return !read || (!read.complete && read.tries < maxTries);
  });
}

/** Reads and counts the slashings of these blocks. Returns the failure of the first unreadable block. */
export async function readSlashings(context: Context, previous: Slashings, blocks: readonly SlotRow[]): Promise<Step> {
  let state = previous;
  let failure: Error | undefined;
  for (const block of blocks) {
    const own = await attempt(context, () => recordsIn(context, 'attester_slashings', AttesterSlashing, block));
    if (own instanceof Error) failure ??= own;
    const byIdentity = new Map(own instanceof Error ? [] : own.map((record) => [identityOf(record), record]));
    const complete = !(own instanceof Error) && byIdentity.size >= (block.attesterslashingscount ?? 0);
    const counted = countSlashings(noteTry(state, block, complete), block.slot, byIdentity);
    for (const slashing of counted.observed) context.events.push(slashingEvent(context.options.watch, slashing));
    ({ state } = counted);
  }
  return { value: state, failure };
}

/** The records in a block, without those of an orphaned block of the slot. */
async function recordsIn<T extends { readonly block_root: string }>(
  { options: { chain }, api, signal }: Context,
  endpoint: 'attester_slashings' | 'proposer_slashings',
  record: z.ZodType<T>,
  { slot, blockroot }: SlotRow,
): Promise<T[]> {
  const { data } = await api.request(requestTo(endpoint, { chain, slot }), signal);
  return api.records(endpoint, record, data).filter(({ block_root }) => block_root === blockroot);
}

function noteTry(state: Slashings, row: SlotRow, complete: boolean): Slashings {
  const before = readOf(state, row);
  const read = { slot: row.slot, root: row.blockroot as string, tries: (before?.tries ?? 0) + 1, complete };
  return { ...state, reads: [...state.reads.filter((other) => other !== before), read] };
}

function readOf({ reads }: Slashings, { slot, blockroot }: SlotRow): Slashings['reads'][number] | undefined {
  return reads.find((one) => one.slot === slot && one.root === blockroot);
}

/**
 * Reads who was slashed as a proposer, with one request for each block of a finalized epoch that announces such slashings. A block is done
 * once it has as many readable names as its row announces. If the service refuses this, the rest is no failure. With names off, only reads
 * a block whose number of slashings is unreadable, and ignores its failure.
 */
export async function readNames(context: Context, previous: Slashings, rows: readonly SlotRow[]): Promise<Step> {
  const { readsProposerNames } = context.options;
  let state = previous;
  for (const row of rows) {
    const { proposerslashingscount: announced } = row;
    if (context.isRefused('proposer_slashings')) break;
    const isAsked = announced === null || (readsProposerNames && announced > 0);
    if (row.status !== '1' || !isAsked || state.namedSlots.includes(row.slot)) continue;
    const records = await attempt(context, () => recordsIn(context, 'proposer_slashings', ProposerSlashing, row));
    if (records instanceof Error) {
      const isFailure = readsProposerNames && !context.isRefused('proposer_slashings');
      return { value: state, failure: isFailure ? records : undefined };
    }
    const validators = new Set(records.map(({ proposerindex }) => proposerindex));
    state = addNames(context, state, row.slot, validators);
    if (announced !== null && validators.size < announced) {
      const counts = `${announced} proposer slashings, but only ${validators.size} could be read`;
      return { value: state, failure: implausible(`slot ${row.slot} reports ${counts}`, 'proposer_slashings') };
    }
    state = { ...state, namedSlots: [...state.namedSlots, row.slot] };
  }
  return { value: state };
}

function addNames({ options, events }: Context, previous: Slashings, slot: number, validators: Set<number>): Slashings {
  const known = new Set(previous.proposerSlashed.map(([validator]) => validator));
  let state = previous;
  for (const validator of validators.difference(known)) {
    const slashing: ObservedSlashing = { slot, kind: 'proposer', validators: [validator] };
    state = addRecent({ ...state, proposerSlashed: [...state.proposerSlashed, [validator, slot]] }, slashing);
    events.push(slashingEvent(options.watch, slashing));
  }
  return state;
}
