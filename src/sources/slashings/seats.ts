import type { SlotRow } from '../../api/answers/slots.ts';
import { periodOf } from '../../facts/chain.ts';
import { watches } from '../../facts/watch.ts';
import { attempt, readSeats } from '../answers.ts';
import type { Context } from './pass.ts';
import type { EpochRows, Slashings } from './state.ts';

/**
 * Counts the seats of watched validators in the canonical blocks of a finalized epoch. Requests the members once a period, and only if the
 * validators source does not have them: at a first start, and for a period that ended before the start. Leaves out an epoch whose members
 * are unreadable, because counting never waits for them.
 */
export async function countSeats(
  context: Context,
  previous: Slashings,
  { epoch, rows }: EpochRows,
): Promise<Slashings> {
  const { options, api, signal, inputs, events } = context;
  const { chain, watch } = options;
  if (!options.countsSeats) return previous;
  const period = periodOf(epoch);
  let { committee } = previous;
  let seats = inputs.seatsOf(period) ?? (committee?.period === period ? committee.seats : undefined);
  if (!seats) {
    const read = await attempt(context, () => readSeats(api, chain, period, signal));
    committee = { period, seats: read instanceof Error ? [] : (read ?? []) };
    ({ seats } = committee);
    if (seats.length === 0) events.push({ type: 'members_unknown', period });
  }
  const own = seats.flatMap((validator, position) => (watches(watch, validator) ? [position] : []));
  const { participated, missed } = participationIn(rows, own);
  const { totals } = previous;
  const { syncDuties: before } = totals;
  const syncDuties = { participated: before.participated + participated, missed: before.missed + missed };
  return { ...previous, committee, totals: { ...totals, syncDuties } };
}

/** Pure. Bit i of the aggregate of a block is the seat at position i of its committee (consensus-specs altair). */
export function participationIn(rows: readonly SlotRow[], positions: readonly number[]) {
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
