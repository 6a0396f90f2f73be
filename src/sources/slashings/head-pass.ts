import type { UnixMs } from '../../lib/time.ts';
import { readLatest } from './latest.ts';
import {
  type EpochRows,
  errorIfEmpty,
  isRequestSpecific,
  isWhole,
  MAX_TRIES_AT_HEAD,
  type PollContext,
  readEpoch,
  readSlashings,
  unreadBlocks,
} from './read.ts';
import type { Head, Slashings, SlotRow } from './schema.ts';

/** The result of a step of a poll: what is known after it, and what went wrong. */
export interface Step {
  readonly state: Slashings;
  readonly failure?: Error | undefined;
}

export interface HeadStep extends Step {
  /** The latest epoch; absent where it could not be read or is not plausible. */
  readonly latest?: number;
}

/**
 * Reads the latest epoch, once more the epoch that has passed since the last pass (its last slots may have been missing
 * then), and the slashings in the blocks of both.
 */
export async function headPass(context: PollContext, previous: Slashings): Promise<HeadStep> {
  let state: Slashings = { ...previous, headPassAt: context.now };
  let failure: Error | undefined;
  const asked = await attempt(context, () => readLatest(context, previous));
  if (asked instanceof Error) return { state, failure: asked };
  const { answer: latest } = asked;
  state = { ...state, selector: asked.known };
  if (!latest) return { state, failure: asked.failure };
  const reread = epochToReread(state, latest.epoch);
  const passed =
    reread === undefined ? undefined : await attempt(context, () => readEpoch(context, reread, 'head_pass'));
  if (isJump(state, latest.epoch) && passed) {
    // If the epoch before the latest one does not exist, the response was wrong and is discarded.
    const doubt =
      passed instanceof Error ? passed : errorIfEmpty(passed, `epoch ${latest.epoch} is reported as the latest`);
    if (doubt) return { state, failure: doubt };
  }
  state = afterReread(withHead(state, latest, context.now), reread, passed);
  const epochs = [latest];
  if (passed instanceof Error) failure = passed;
  else if (passed) epochs.unshift(passed);
  for (const { rows } of epochs) {
    for (const row of unreadBlocks(state, rows, 'head')) {
      const read = await readSlashings(context, state, row);
      state = read.state;
      failure ??= read.failure;
    }
  }
  return { state, failure, latest: latest.epoch };
}

async function attempt<T>(context: PollContext, read: () => Promise<T>): Promise<T | Error> {
  try {
    return await read();
  } catch (error) {
    if (context.signal.aborted || !(error instanceof Error)) throw error;
    return error;
  }
}

/**
 * The epoch that has just passed, or one left from earlier passes, unless it has not passed according to this response.
 */
function epochToReread({ headEpoch, reread }: Slashings, latest: number): number | undefined {
  if (headEpoch !== undefined && latest > headEpoch) return latest - 1;
  return reread !== undefined && reread < latest ? reread : undefined;
}

function isJump({ headEpoch }: Slashings, latest: number): boolean {
  return headEpoch !== undefined && latest > headEpoch + 1;
}

function withHead(state: Slashings, { epoch, rows }: EpochRows, now: UnixMs): Slashings {
  const block = rows.findLast((row) => row.status === '1');
  return { ...moveHead(state, epoch), ...(block ? { head: headOf(block), headReadAt: now } : {}) };
}

/** The head goes back only if two responses in a row agree, because one may come from a node that lags. */
function moveHead({ headClaim, ...state }: Slashings, epoch: number): Slashings {
  const { headEpoch = epoch, reread = 0 } = state;
  if (epoch >= headEpoch) return { ...state, headEpoch: epoch };
  if (headClaim === undefined) return { ...state, headClaim: epoch };
  const back = Math.max(headClaim, epoch);
  return { ...(reread < back ? state : withoutReread(state)), headEpoch: back };
}

/**
 * The service caches answers for about a minute (api-facts 5.1). After an answer from before the end of the epoch there is a
 * second try, but no third: a missed last slot looks the same until it is final. An epoch that was refused a few times is
 * left to the finalized pass.
 */
function afterReread(state: Slashings, epoch: number | undefined, read: EpochRows | Error | undefined): Slashings {
  if (epoch === undefined || read === undefined) return state;
  const known = state.reread === epoch ? state : withoutReread(state);
  if (read instanceof Error) {
    const tries = (known.rereadTries ?? 0) + (isRequestSpecific(read) ? 1 : 0);
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
