import type { SlotRow } from '../../api/answers/slots.ts';
import { periodOf } from '../../facts/chain.ts';
import { watches } from '../../facts/watch.ts';
import { readSeats } from '../members.ts';
import { attempt, type PollContext } from './read.ts';
import type { Slashings } from './schema.ts';

/**
 * The state with the members of the period of an epoch that is about to be counted. They are requested here only if the
 * other source does not know them: at a first start, and for a period that was over at the start. Once a period: the
 * other source tries again for the current one.
 */
export async function withCommittee(context: PollContext, previous: Slashings, epoch: number): Promise<Slashings> {
  const { options, api, signal, events } = context;
  const { chain, seatsOf } = options;
  const period = periodOf(epoch);
  if (!seatsOf || seatsOf(period) || previous.committee?.period === period) return previous;
  const read = await attempt(context, () => readSeats(api, chain, period, signal));
  const seats = read instanceof Error ? [] : (read ?? []);
  if (seats.length === 0) events.push({ type: 'members_unknown', period });
  return { ...previous, committee: { period, seats } };
}

/**
 * Counts the seats of watched validators in the canonical blocks of a finalized epoch. An epoch whose members are not known is
 * left out: counting never waits for them.
 */
export function countParticipation(
  { options }: PollContext,
  state: Slashings,
  epoch: number,
  rows: readonly SlotRow[],
): Slashings {
  const { seatsOf, watch } = options;
  if (!seatsOf) return state;
  const period = periodOf(epoch);
  const seats = seatsOf(period) ?? (state.committee?.period === period ? state.committee.seats : []);
  if (seats.length === 0) return state;
  const own = seats.flatMap((validator, position) => (watches(watch, validator) ? [position] : []));
  const { participated, missed } = participationIn(rows, own);
  const { syncDuties } = state.totals;
  const counted = { participated: syncDuties.participated + participated, missed: syncDuties.missed + missed };
  return { ...state, totals: { ...state.totals, syncDuties: counted } };
}

/** Pure. Bit i of the aggregate of a block is the seat at position i of its committee (consensus-specs altair). */
export function participationIn(
  rows: readonly SlotRow[],
  positions: readonly number[],
): { participated: number; missed: number } {
  let [participated, missed] = [0, 0];
  for (const { status, syncaggregate_bits: bits } of rows) {
    if (status !== '1' || !bits) continue;
    const bytes = Buffer.from(bits.slice(2), 'hex');
    for (const position of positions) {
      if (((bytes[position >> 3] ?? 0) >> (position & 7)) & 1) participated += 1;
      else missed += 1;
    }
  }
  return { participated, missed };
}
