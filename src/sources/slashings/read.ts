import type { Api } from '../../api/client.ts';
import { RequestFailed } from '../../api/errors.ts';
import type { Priority } from '../../budget/priority.ts';
import { type Chain, epochAt, NONSENSE_AHEAD_SECONDS, SLOTS_PER_EPOCH } from '../../lib/chain.ts';
import { canonicalRows } from './canonical.ts';
import { countSlashings, type ObservedSlashing } from './count.ts';
import { identityOf } from './evidence.ts';
import { AttesterSlashing, type Slashings, SlotRow, V1List } from './schema.ts';

/** What the passes of one poll share. */
export interface Reader {
  readonly chain: Chain;
  readonly api: Api;
  readonly signal: AbortSignal;
  /** Unix ms. */
  readonly now: number;
  readonly report: (slashing: ObservedSlashing) => void;
  readonly row: ReturnType<typeof rowAt>;
}

/** What cannot be read at head is left to the finalized pass after so many tries. */
export const MAX_TRIES_AT_HEAD = 3;

/** What a row must be at `now` (Unix ms). Made once for a poll: zod compiles each schema that it is given. */
export function rowAt(chain: Chain, now: number) {
  const newest = epochAt(chain, now + NONSENSE_AHEAD_SECONDS * 1000);
  return SlotRow.refine(({ epoch, slot }) => epoch <= newest && slot < (newest + 1) * SLOTS_PER_EPOCH);
}

export interface EpochRows {
  readonly epoch: number;
  /** Canonical, one per slot, ascending. */
  readonly rows: readonly SlotRow[];
}

/**
 * Reads an epoch by number or view.
 * @throws RequestFailed also when the answer holds no readable row of it: an epoch without slots is no answer.
 */
export async function readEpoch(
  reader: Reader,
  epoch: number | 'latest' | 'finalized',
  priority: Priority,
): Promise<EpochRows> {
  const { api, chain, signal } = reader;
  const path = `/api/v1/epoch/${epoch}/slots`;
  const { data } = await api.request({ endpoint: 'epoch_slots', priority, chain, path }, V1List, signal);
  const rows = await api.records('epoch_slots', reader.row, data);
  const read = typeof epoch === 'number' ? epoch : commonEpoch(rows);
  const own = canonicalRows(
    rows.filter((row) => row.epoch === read && Math.floor(row.slot / SLOTS_PER_EPOCH) === read),
  );
  if (own.length === 0) throw oddEpoch(`no readable row of epoch ${epoch}`);
  return { epoch: read, rows: own };
}

/** An answer that cannot be true counts like a body that cannot be read. */
export function oddEpoch(detail: string): RequestFailed {
  return new RequestFailed('epoch_slots', 'invalid_body', detail, 200);
}

/** The epoch that most rows are of: a view names one, and a single odd row must not move the chain. */
function commonEpoch(rows: readonly SlotRow[]): number {
  const groups = [...Map.groupBy(rows, (row) => row.epoch)];
  const [largest] = groups.toSorted(([a, ofA], [b, ofB]) => ofB.length - ofA.length || b - a);
  return largest?.[0] ?? -1;
}

/** Whether the rows are from after the epoch's end. */
export function isWhole({ rows }: EpochRows): boolean {
  return rows.some(({ slot, status }) => slot % SLOTS_PER_EPOCH === SLOTS_PER_EPOCH - 1 && status !== '0');
}

/** Blocks of these rows that announce slashings not yet read completely, and at head not tried too often. */
export function unreadBlocks(state: Slashings, rows: readonly SlotRow[], where: 'head' | 'final'): SlotRow[] {
  return rows.filter((row) => {
    if (row.status !== '1' || row.attesterslashingscount === 0) return false;
    const read = state.reads.find((one) => one.slot === row.slot && one.root === row.blockroot);
    if (!read) return true;
    return !read.complete && (where === 'final' || read.tries < MAX_TRIES_AT_HEAD);
  });
}

/**
 * Reads and counts the slashings of one block. Records of another block of the slot (an orphaned one) do not count; the
 * block is read when as many distinct ones came as its row announced. A failed try is noted before it is thrown.
 */
export async function readSlashings(
  reader: Reader,
  state: Slashings,
  row: SlotRow,
): Promise<{ state: Slashings; failure?: Error }> {
  const { api, chain, signal } = reader;
  const path = `/api/v1/slot/${row.slot}/attesterslashings`;
  const request = { endpoint: 'attester_slashings', priority: 'slashing_details', chain, path } as const;
  try {
    const { data } = await api.request(request, V1List, signal);
    const records = await api.records('attester_slashings', AttesterSlashing, data);
    const own = records.filter((record) => record.block_root === row.blockroot);
    const complete = new Set(own.map(identityOf)).size >= row.attesterslashingscount;
    const counted = countSlashings(noteTry(state, row, complete), row.slot, own);
    for (const slashing of counted.observed) reader.report(slashing);
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

/** Whether the service answered for this request in particular; else it is away, or refuses all requests alike. */
export function isAnswer(failure: Error): boolean {
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
