import { ProposerSlashing, type SlotRow } from '../../api/answers/slots.ts';
import { requestTo } from '../../api/endpoints.ts';
import { afterFailure, refusedUntil } from '../refusal.ts';
import { addRecent, slashingEvent } from './count.ts';
import { implausible, type PollContext, type Step } from './read.ts';
import type { Slashings } from './schema.ts';

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
  const { options, now, events } = context;
  let state = previous;
  for (const row of rows) {
    if (!options.readsProposerNames || now < refusedUntil(state.namesRefusal)) break;
    if (row.status !== '1' || row.proposerslashingscount === 0 || state.namedSlots.includes(row.slot)) continue;
    try {
      const validators = await readValidators(context, row);
      state = withNames(context, { ...state, namesRefusal: undefined }, row.slot, validators);
      if (validators.size < row.proposerslashingscount) throw incomplete(row, validators.size);
      state = { ...state, namedSlots: [...state.namedSlots, row.slot] };
    } catch (error) {
      if (context.signal.aborted || !(error instanceof Error)) throw error;
      const { namesRefusal: before } = state;
      const namesRefusal = afterFailure(before, error, now);
      state = { ...state, namesRefusal };
      if (now >= refusedUntil(namesRefusal)) return { state, failure: error };
      if (refusedUntil(before) === 0) events.push({ type: 'names_unreadable', err: error.message });
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

function incomplete({ slot, proposerslashingscount: announced }: SlotRow, known: number): Error {
  return implausible(
    `slot ${slot} reports ${announced} proposer slashings, but only ${known} could be read`,
    'proposer_slashings',
  );
}
