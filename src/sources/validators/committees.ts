import { type Chain, epochAt, MS_PER_EPOCH, periodOf, periodTime } from '../../facts/chain.ts';
import { watches } from '../../facts/watch.ts';
import { MS_PER_HOUR } from '../../toolkit/lib/duration.ts';
import { elapsed, type UnixMs } from '../../toolkit/lib/time.ts';
import { readSeats } from '../answers.ts';
import { isRefusal, readPart, refusedUntil } from '../refusal.ts';
import type { Poll } from '../source.ts';
import type { PollContext, ValidatorsOptions } from './options.ts';
import type { Validators } from './schema.ts';

/** For about four epochs after a boundary the service does not know the next committee (api-facts 4.1). */
const NEXT_KNOWN_AFTER_MS = 5 * MS_PER_EPOCH;

export function periodAt(chain: Chain, now: UnixMs): number {
  return periodOf(epochAt(chain, now));
}

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
  const { membersAskedAt } = state;
  if (!syncCommittee) return Number.POSITIVE_INFINITY;
  const offUntil = refusedUntil(state, 'sync_committee');
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
  const { api, options, timing, signal } = context;
  const { chain } = options;
  const { now } = timing;
  const current = periodAt(chain, now);
  let value: Validators = {
    ...previous,
    // The last epochs of a period are counted after its end.
    committees: previous.committees.filter(({ period }) => period >= current - 1),
    membersAskedAt: now,
  };
  for (const period of missingPeriods(chain, previous, now)) {
    const known = value;
    const { value: after, failure } = await readPart(context, 'sync_committee', known, async () => {
      const seats = await readSeats(api, chain, period, signal, period === current ? period : 'next');
      return seats ? { ...known, committees: [...known.committees, { period, seats }] } : known;
    });
    value = after;
    // An outage may be over in a minute.
    if (failure) return { value: isRefusal(failure) ? value : { ...value, membersAskedAt: 0 }, failure };
  }
  return { value };
}
