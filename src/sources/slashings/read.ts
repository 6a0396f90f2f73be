import type { Api } from '../../api/client.ts';
import { type Endpoint, RequestFailed } from '../../api/errors.ts';
import type { Priority } from '../../budget/priority.ts';
import { type Chain, epochAt, NONSENSE_AHEAD_SECONDS, SLOTS_PER_EPOCH } from '../../lib/chain.ts';
import type { UnixMs } from '../../lib/time.ts';
import { canonicalRows } from './canonical.ts';
import { countSlashings } from './count.ts';
import { identityOf } from './evidence.ts';
import type { SlashingsOptions } from './options.ts';
import { AttesterSlashing, type Slashings, SlotRow, V1List } from './schema.ts';

/** What the passes of one poll share. */
export interface PollContext {
  readonly options: SlashingsOptions;
  readonly chain: Chain;
  readonly api: Api;
  readonly signal: AbortSignal;
  readonly now: UnixMs;
  readonly isPlausible: (row: SlotRow) => boolean;
}

/** After this many attempts at the head, a block or epoch is left to the finalized pass. */
export const MAX_TRIES_AT_HEAD = 3;

/** Whether a row is plausible at `now`: its slot is not far in the future. */
export function isPlausibleRowAt(chain: Chain, now: UnixMs): (row: SlotRow) => boolean {
  const newest = epochAt(chain, now + NONSENSE_AHEAD_SECONDS * 1000);
  return ({ epoch, slot }) => epoch <= newest && slot < (newest + 1) * SLOTS_PER_EPOCH;
}

export interface EpochRows {
  readonly epoch: number;
  /** One canonical row for each slot, ascending. */
  readonly rows: readonly SlotRow[];
  /** Every row, those of forks included. */
  readonly allRows: readonly SlotRow[];
}

/**
 * Reads an epoch by number or view.
 * @throws RequestFailed, also when the answer has no readable row of the epoch.
 */
export async function readEpoch(
  context: PollContext,
  epoch: number | 'latest' | 'finalized',
  priority: Priority,
): Promise<EpochRows> {
  const { api, chain, signal } = context;
  const path = `/api/v1/epoch/${epoch}/slots`;
  const { data } = await api.request({ endpoint: 'epoch_slots', priority, chain, path }, V1List, signal);
  const rows = await api.records('epoch_slots', SlotRow, data, context.isPlausible);
  const read = typeof epoch === 'number' ? epoch : commonEpoch(rows);
  const own = rows.filter((row) => row.epoch === read && Math.floor(row.slot / SLOTS_PER_EPOCH) === read);
  if (own.length === 0) throw implausible(`no readable row of epoch ${epoch}`);
  return { epoch: read, rows: canonicalRows(own), allRows: own };
}

/** An implausible response is treated like an unreadable body. */
export function implausible(detail: string, endpoint: Endpoint = 'epoch_slots'): RequestFailed {
  return new RequestFailed(endpoint, 'invalid_body', detail, 200);
}

/** The epoch of most rows. All rows of a view should have the same one, and a single wrong row must not decide. */
function commonEpoch(rows: readonly SlotRow[]): number {
  const groups = [...Map.groupBy(rows, (row) => row.epoch)];
  const [largest] = groups.toSorted(([a, ofA], [b, ofB]) => ofB.length - ofA.length || b - a);
  return largest?.[0] ?? -1;
}

/** Whether the rows were read after the end of the epoch. */
export function isWhole({ rows }: EpochRows): boolean {
  return rows.some(({ slot, status }) => slot % SLOTS_PER_EPOCH === SLOTS_PER_EPOCH - 1 && status !== '0');
}

/** The service refuses an epoch that the chain has not reached, or answers with scheduled slots (api-facts 5.1). */
export function errorIfEmpty({ epoch, rows }: EpochRows, why: string): RequestFailed | undefined {
  return rows.some(({ status }) => status !== '0') ? undefined : implausible(`${why}, but epoch ${epoch} has no block`);
}

/** Blocks whose slashings are not completely read; at the head, only those that were not tried too often. */
export function unreadBlocks(state: Slashings, rows: readonly SlotRow[], where: 'head' | 'final'): SlotRow[] {
  return rows.filter((row) => {
    if (row.status !== '1' || row.attesterslashingscount === 0) return false;
    const read = state.reads.find((one) => one.slot === row.slot && one.root === row.blockroot);
    if (!read) return true;
    return !read.complete && (where === 'final' || read.tries < MAX_TRIES_AT_HEAD);
  });
}

/**
 * Reads and counts the slashings of one block, and notes the try. Records of another block of the slot (an orphaned
 * one) do not count. The block is completely read when as many distinct slashings were read as its row reports.
 */
export async function readSlashings(
  context: PollContext,
  state: Slashings,
  row: SlotRow,
): Promise<{ state: Slashings; failure?: Error }> {
  const { api, chain, signal } = context;
  const path = `/api/v1/slot/${row.slot}/attesterslashings`;
  const request = { endpoint: 'attester_slashings', priority: 'slashing_details', chain, path } as const;
  try {
    const { data } = await api.request(request, V1List, signal);
    const records = await api.records('attester_slashings', AttesterSlashing, data);
    const own = records.filter((record) => record.block_root === row.blockroot);
    const complete = new Set(own.map(identityOf)).size >= row.attesterslashingscount;
    const counted = countSlashings(noteTry(state, row, complete), row.slot, own);
    for (const slashing of counted.observed) context.options.onSlashing(slashing);
    return { state: counted.state };
  } catch (error) {
    if (signal.aborted || !(error instanceof Error)) throw error;
    return { state: noteTry(state, row, false), failure: error };
  }
}

function noteTry(state: Slashings, row: SlotRow, complete: boolean): Slashings {
  const isThis = (read: Slashings['reads'][number]): boolean => read.slot === row.slot && read.root === row.blockroot;
  const tries = (state.reads.find(isThis)?.tries ?? 0) + 1;
  const read = { slot: row.slot, root: row.blockroot as string, tries, complete };
  return { ...state, reads: [...state.reads.filter((other) => !isThis(other)), read] };
}

/**
 * Whether the failure concerns only this request. Otherwise there is an outage, or the service refuses all requests.
 */
export function isRequestSpecific(failure: Error): boolean {
  if (!(failure instanceof RequestFailed)) return false;
  switch (failure.reason) {
    case 'network':
    case 'timeout':
    case 'rate_limited':
    case 'revoked':
    case 'unauthorized':
    case 'forbidden':
      return false;
    default:
      return true;
  }
}
