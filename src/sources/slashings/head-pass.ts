import {
  type EpochRows,
  isAnswer,
  isWhole,
  MAX_TRIES_AT_HEAD,
  oddEpoch,
  type Reader,
  readEpoch,
  readSlashings,
  unreadBlocks,
} from './read.ts';
import type { Head, Slashings, SlotRow } from './schema.ts';

/** A step of a poll: what is known after it, and what went wrong on the way. */
export interface Step {
  readonly state: Slashings;
  readonly failure?: Error | undefined;
}

export interface HeadStep extends Step {
  /** The latest epoch of this pass; undefined where it could not be read or is not to be believed. */
  readonly latest?: number;
}

/**
 * Looks at the head: the latest epoch, once more the epoch that passed since the last look (its last slots may have been
 * missing then), and the slashings of their blocks.
 */
export async function headPass(reader: Reader, previous: Slashings): Promise<HeadStep> {
  let state: Slashings = { ...previous, headPassAt: reader.now };
  let failure: Error | undefined;
  const latest = await attempt(reader, 'latest');
  if (latest instanceof Error) return { state, failure: latest };
  const reread = epochToReread(state, latest.epoch);
  const passed = reread === undefined ? undefined : await attempt(reader, reread);
  if (isFarther(state, latest.epoch) && passed) {
    // The epoch before the latest one is there; where it is not, the answer was odd and nothing of it is kept.
    const doubt = passed instanceof Error ? passed : doubtOf(passed, latest.epoch);
    if (doubt) return { state, failure: doubt };
  }
  state = afterReread(seeHead(state, latest, reader.now), reread, passed);
  const epochs = [latest];
  if (passed instanceof Error) failure = passed;
  else if (passed) epochs.unshift(passed);
  for (const { rows } of epochs) {
    for (const row of unreadBlocks(state, rows, 'head')) {
      const read = await readSlashings(reader, state, row);
      state = read.state;
      failure ??= read.failure;
    }
  }
  return { state, failure, latest: latest.epoch };
}

async function attempt(reader: Reader, epoch: number | 'latest'): Promise<EpochRows | Error> {
  try {
    return await readEpoch(reader, epoch, 'head_pass');
  } catch (error) {
    if (reader.signal.aborted || !(error instanceof Error)) throw error;
    return error;
  }
}

/** One that has just passed, or was left from earlier passes. One that has not passed, by this answer, waits. */
function epochToReread({ headEpoch, reread }: Slashings, latest: number): number | undefined {
  if (headEpoch !== undefined && latest > headEpoch) return latest - 1;
  return reread !== undefined && reread < latest ? reread : undefined;
}

function isFarther({ headEpoch }: Slashings, latest: number): boolean {
  return headEpoch !== undefined && latest > headEpoch + 1;
}

/** An epoch that the chain has not reached is refused, or made of scheduled slots (api-facts 5.1). */
function doubtOf({ epoch, rows }: EpochRows, latest: number): Error | undefined {
  if (rows.some(({ status }) => status !== '0')) return undefined;
  return oddEpoch(`epoch ${latest} is called the latest, and ${epoch} has no block`);
}

function seeHead(state: Slashings, { epoch, rows }: EpochRows, now: number): Slashings {
  const block = rows.findLast((row) => row.status === '1');
  return { ...moveHead(state, epoch), ...(block ? { head: headOf(block), headReadAt: now } : {}) };
}

/** Back only when two answers running say so: one of them can be of a service that lags. */
function moveHead({ headClaim, ...state }: Slashings, epoch: number): Slashings {
  const { headEpoch = epoch, reread = 0 } = state;
  if (epoch >= headEpoch) return { ...state, headEpoch: epoch };
  if (headClaim === undefined) return { ...state, headClaim: epoch };
  const back = Math.max(headClaim, epoch);
  return { ...(reread < back ? state : withoutReread(state)), headEpoch: back };
}

/**
 * The service keeps answers for about a minute (api-facts 5.1): one from before the epoch's end is worth a second try.
 * There is no third, because a missed last slot looks the same until it is final. An epoch that it refuses is left to
 * the finalized pass after a few.
 */
function afterReread(state: Slashings, epoch: number | undefined, read: EpochRows | Error | undefined): Slashings {
  if (epoch === undefined || read === undefined) return state;
  const known = state.reread === epoch ? state : withoutReread(state);
  if (read instanceof Error) {
    const tries = (known.rereadTries ?? 0) + (isAnswer(read) ? 1 : 0);
    return tries < MAX_TRIES_AT_HEAD ? { ...known, reread: epoch, rereadTries: tries } : withoutReread(known);
  }
  return isWhole(read) || known.rereadEarly ? withoutReread(known) : { ...known, reread: epoch, rereadEarly: true };
}

function withoutReread({ reread: _, rereadEarly: _early, rereadTries: _tries, ...state }: Slashings): Slashings {
  return state;
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
