import { SLOTS_PER_EPOCH } from '../../lib/chain.ts';
import { type EpochRows, type Reader, readEpoch, readSlashings, unreadBlocks } from './read.ts';
import type { Head, Slashings, SlotRow } from './schema.ts';

/** A step of a poll: what is known after it, and what went wrong on the way. */
export interface Step {
  readonly state: Slashings;
  readonly failure?: Error | undefined;
}

/**
 * Looks at the head: the latest epoch, once more the epoch that passed since the last look (its last slots may have been
 * missing then), and the slashings of their blocks.
 */
export async function headPass(reader: Reader, previous: Slashings): Promise<Step> {
  let state: Slashings = { ...previous, headPassAt: reader.now };
  const epochs: EpochRows[] = [];
  let failure: Error | undefined;
  try {
    const latest = await readEpoch(reader, 'latest', 'head_pass');
    state = seeHead(state, latest, reader.now);
    epochs.push(latest);
    if (state.reread !== undefined) {
      const passed = await readEpoch(reader, state.reread, 'head_pass');
      epochs.unshift(passed);
      state = afterReread(state, passed);
    }
  } catch (error) {
    if (reader.signal.aborted || !(error instanceof Error)) throw error;
    failure = error;
  }
  for (const { rows } of epochs) {
    for (const row of unreadBlocks(state, rows, 'head')) {
      const read = await readSlashings(reader, state, row);
      state = read.state;
      failure ??= read.failure;
    }
  }
  return { state, failure };
}

function seeHead(state: Slashings, { epoch, rows }: EpochRows, now: number): Slashings {
  const block = rows.findLast((row) => row.status === '1');
  const known = state.headEpoch;
  const passed = known !== undefined && epoch > known;
  return {
    ...state,
    headEpoch: Math.max(epoch, known ?? 0),
    ...(passed ? { reread: epoch - 1, rereadEarly: false } : {}),
    ...(block ? { head: headOf(block), headReadAt: now } : {}),
  };
}

/**
 * The service keeps answers for about a minute (api facts 5.1): one from before the epoch's end is worth a second try.
 * There is no third, because a missed last slot looks the same until it is final.
 */
function afterReread({ reread: _, rereadEarly, ...state }: Slashings, { epoch, rows }: EpochRows): Slashings {
  const isWhole = rows.some(({ slot, status }) => slot % SLOTS_PER_EPOCH === SLOTS_PER_EPOCH - 1 && status !== '0');
  return isWhole || rereadEarly ? state : { ...state, reread: epoch, rereadEarly: true };
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
