import { type Chain, epochAt, MS_PER_EPOCH, periodOf, periodTime } from '../../facts/chain.ts';
import { watches } from '../../facts/watch.ts';
import { MS_PER_HOUR } from '../../toolkit/lib/duration.ts';
import { elapsed, type UnixMs } from '../../toolkit/lib/time.ts';
import { readSeats } from '../members.ts';
import { isRefusal, refused, refusedUntil } from '../refusal.ts';
import type { Poll } from '../source.ts';
import type { PollContext, ValidatorsOptions } from './options.ts';
import type { Validators } from './schema.ts';

/** For about four epochs after a boundary the service does not know the next committee (api-facts 4.1). */
const NEXT_KNOWN_AFTER_MS = 5 * MS_PER_EPOCH;

export function periodAt(chain: Chain, now: UnixMs): number {
  return periodOf(epochAt(chain, now));
}

/** When a period starts. */
export function startOf(chain: Chain, period: number): UnixMs {
  return periodTime(chain, period) * 1000;
}

/** The watched members of a period, each once, ascending; undefined: not known. */
export function watchedMembers(
  { watch }: Pick<ValidatorsOptions, 'watch'>,
  value: Validators,
  period: number,
): number[] | undefined {
  const seats = seatsOf(value, period);
  return seats && [...new Set(seats)].filter((validator) => watches(watch, validator)).sort((a, b) => a - b);
}

/** The seats of a period in the order of the committee, if they are known. */
export function seatsOf({ committees }: Validators, period: number): readonly number[] | undefined {
  return committees.find((one) => one.period === period)?.seats;
}

/** When to request members: those that are unknown each hour. Infinity: never. */
export function membersDue(options: ValidatorsOptions, state: Validators, now: UnixMs): UnixMs {
  const { chain, syncCommittee } = options;
  const { membersAskedAt, membersRefusal } = state;
  if (!syncCommittee) return Number.POSITIVE_INFINITY;
  const offUntil = refusedUntil(membersRefusal);
  if (missingPeriods(chain, state, now).length > 0) {
    return Math.max(now - elapsed(membersAskedAt, now) + MS_PER_HOUR, offUntil);
  }
  const start = startOf(chain, periodAt(chain, now));
  const next = now < start + NEXT_KNOWN_AFTER_MS ? start : startOf(chain, periodAt(chain, now) + 1);
  return Math.max(next + NEXT_KNOWN_AFTER_MS, offUntil);
}

/** The periods whose members are wanted and not known: the current one, and the next one once the service may know it. */
function missingPeriods(chain: Chain, { committees }: Validators, now: UnixMs): number[] {
  const current = periodAt(chain, now);
  const wanted = now < startOf(chain, current) + NEXT_KNOWN_AFTER_MS ? [current] : [current, current + 1];
  return wanted.filter((period) => !committees.some((one) => one.period === period));
}

/** Requests the unknown members. The next committee becomes the current one without a request. */
export async function readMembers(context: PollContext, previous: Validators): Promise<Poll<Validators>> {
  const { api, signal } = context;
  const { chain } = context.options;
  const { now } = context.timing;
  const current = periodAt(chain, now);
  let value: Validators = {
    ...previous,
    membersRefusal: undefined,
    // The last epochs of a period are counted after its end.
    committees: previous.committees.filter(({ period }) => period >= current - 1),
    membersAskedAt: now,
  };
  for (const period of missingPeriods(chain, previous, now)) {
    try {
      const seats = await readSeats(api, chain, period, signal, period === current ? period : 'next');
      if (seats) value = { ...value, committees: [...value.committees, { period, seats }] };
    } catch (error) {
      const { refusal, failure } = refused(context, 'sync_committee', previous.membersRefusal, error);
      // An outage may be over in a minute.
      const membersAskedAt = isRefusal(error) ? now : 0;
      return { value: { ...value, membersAskedAt, membersRefusal: refusal }, failure };
    }
  }
  return { value };
}
