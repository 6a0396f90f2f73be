import { EPOCHS_PER_DAY, MS_PER_EPOCH } from '../../facts/chain.ts';
import { MS_PER_DAY } from '../../toolkit/lib/duration.ts';
import { keepNewer } from '../ages.ts';
import { attempt } from '../answers.ts';
import type { Read } from '../read.ts';
import { decided, epochIn, readEpoch, readSlashings, readSlots, unreadBlocks } from './blocks.ts';
import type { SlashingsOptions } from './options.ts';
import { type Context, runOf, type Step } from './pass.ts';
import { type EpochRows, Head, type Slashings } from './state.ts';

/** After so many attempts, head passes leave the slashings of a block to the finalized pass. */
const MAX_TRIES = 3;

export function headRead(options: SlashingsOptions): Read<Slashings> {
  const { intervalMs: everyMs } = options;
  return {
    name: 'head',
    endpoints: ['epoch_slots', 'attester_slashings'],
    everyMs,
    slowestMs: Math.max(everyMs, MS_PER_EPOCH),
    price({ intervalMs }) {
      const passes = MS_PER_DAY / intervalMs;
      // A pass reads at most one passed epoch again, however many have passed.
      return passes + Math.min(passes, EPOCHS_PER_DAY);
    },
    run: runOf(options, headPass),
  };
}

/**
 * Reads the latest epoch and the slashings in its blocks. Does the same for the epoch before, if it ended since the last pass, because its
 * last slots may have been missing. An older response does not replace the head, but finality follows the newest response, even if an
 * earlier one was ahead.
 */
async function headPass(context: Context, previous: Slashings): Promise<Step> {
  const slots = await readSlots(context, 'latest', 'head_pass');
  // A single empty list says nothing about the head.
  if (slots.length === 0 && !previous.wasHeadEmpty) return { value: { ...previous, wasHeadEmpty: true } };
  const latest = epochIn(context, 'latest', slots);
  const state = withHead(previous, latest);
  const { passedEpoch, scannedEpoch = -1 } = state;
  const passed =
    passedEpoch === undefined ? undefined : await attempt(context, () => readEpoch(context, passedEpoch, 'head_pass'));
  const isUnread = passed instanceof Error;
  const rows = [...(passed && !isUnread ? decided(passed, latest).rows : []), ...latest.rows];
  const before = { ...state, passedEpoch: isUnread ? passedEpoch : undefined };
  // An older response may be about an epoch that is counted, or before the first.
  const open = rows.filter(({ epoch }) => epoch > scannedEpoch);
  const { value, failure } = await readSlashings(context, before, unreadBlocks(before, open, MAX_TRIES));
  return { value, failure: isUnread ? passed : failure };
}

function withHead(state: Slashings, { epoch, rows }: EpochRows): Slashings {
  const { headEpoch = -1 } = state;
  const block = rows.findLast((row) => row.status === '1');
  const head = block ? keepNewer(state.head, Head.parse(block), ({ slot }) => slot) : state.head;
  const next = { ...state, headEpoch: epoch, wasHeadEmpty: undefined, ...(head && { head }) };
  if (epoch <= headEpoch) return next;
  return { ...next, isFinalityDue: true, passedEpoch: headEpoch < 0 ? undefined : epoch - 1 };
}
