import type { SlotRow } from '../../api/answers/slots.ts';
import { SLOTS_PER_EPOCH } from '../../facts/chain.ts';
import type { UnixMs } from '../../toolkit/lib/time.ts';
import { attempt, decided, type PollContext, readEpoch, readSlashings, type Step, unreadBlocks } from './read.ts';
import type { EpochRows, Head, Slashings } from './schema.ts';

/** After this many attempts at the head, a block or epoch is left to the finalized pass. */
const MAX_TRIES = 3;

/**
 * Reads the latest epoch, once more the epoch that has passed since the last pass (its last slots may have been missing
 * then), and the slashings in the blocks of both. The newest answer is the head, even if an earlier one was further.
 */
export async function headPass(context: PollContext, previous: Slashings): Promise<Step> {
  const latest = await attempt(context, () => readEpoch(context, 'latest', 'head_pass'));
  if (latest instanceof Error) return { state: { ...previous, headPassAt: undefined }, failure: latest };
  let state = withHead(previous, latest, context.now);
  const epochs = [latest];
  let failure: Error | undefined;
  const { passed } = state;
  if (passed) {
    const answer = await attempt(context, () => readEpoch(context, passed.epoch, 'head_pass'));
    const read = answer instanceof Error ? answer : decided(answer, latest);
    if (read instanceof Error) failure = read;
    else epochs.unshift(read);
    const isDone = passed.tries + 1 >= MAX_TRIES || (!(read instanceof Error) && isWhole(read));
    state = { ...state, passed: isDone ? undefined : { ...passed, tries: passed.tries + 1 } };
  }
  for (const { rows } of epochs) {
    const read = await readSlashings(context, state, unreadBlocks(state, rows, MAX_TRIES));
    ({ state } = read);
    failure ??= read.failure;
  }
  // After a failure the retry, which comes before the interval has passed, has to make the pass again.
  return { state: { ...state, headPassAt: failure ? undefined : context.now }, failure };
}

function withHead(state: Slashings, { epoch, rows }: EpochRows, now: UnixMs): Slashings {
  const { headEpoch = -1 } = state;
  const block = rows.findLast((row) => row.status === '1');
  const next = { ...state, headEpoch: epoch, ...(block ? { head: headOf(block), headReadAt: now } : {}) };
  if (epoch <= headEpoch) return next;
  return { ...next, isFinalityDue: true, passed: headEpoch < 0 ? undefined : { epoch: epoch - 1, tries: 0 } };
}

/**
 * Whether the rows were read after the end of the epoch. The service caches answers for about a minute (api-facts 5.1).
 * A missed last slot looks like one to come until it is final, and so do two blocks until a later one decides.
 */
function isWhole({ rows }: EpochRows): boolean {
  return rows.some(({ slot, status }) => slot % SLOTS_PER_EPOCH === SLOTS_PER_EPOCH - 1 && status !== '0');
}

function headOf(row: SlotRow): Head {
  return {
    slot: row.slot,
    epoch: row.epoch,
    participation: row.syncaggregate_participation,
    baseFeeWei: row.exec_base_fee_per_gas,
    gasUsed: row.exec_gas_used,
    gasLimit: row.exec_gas_limit,
    transactions: row.exec_transactions_count,
    executionBlock: row.exec_block_number,
  };
}
