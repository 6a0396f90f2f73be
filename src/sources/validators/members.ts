import type { Api } from '../../api/client.ts';
import { type Chain, epochAt, MS_PER_EPOCH, MS_PER_PERIOD, periodOf, periodTime } from '../../facts/chain.ts';
import { type Watch, watches } from '../../facts/watch.ts';
import { MS_PER_HOUR } from '../../toolkit/lib/duration.ts';
import type { Time } from '../../toolkit/lib/held-time.ts';
import type { UnixMs } from '../../toolkit/lib/time.ts';
import { attempt, readSeats } from '../answers.ts';
import type { Read } from '../read.ts';
import type { ValidatorsOptions } from './options.ts';
import type { Committee, Validators } from './state.ts';

/** For about four epochs after a boundary the service does not have the next committee (api-facts 4.1). */
const NEXT_KNOWN_AFTER_MS = 5 * MS_PER_EPOCH;

/** The members of the current and the next sync committee. Requests unknown members each hour. */
export function membersRead({ chain }: ValidatorsOptions): Read<Validators> {
  return {
    name: 'members',
    endpoints: ['sync_committee_members'],
    everyMs: MS_PER_HOUR,
    period: {
      ms: MS_PER_PERIOD,
      from({ committees }, now) {
        const current = periodAt(chain, now);
        const missing = [current, current + 1].find((period) => !seatsOf(committees, period));
        return knownFrom(chain, missing ?? current + 2);
      },
    },
    async run({ api, timing, signal }, previous) {
      const { committees, failure } = await readMembers(api, chain, signal, timing, previous.committees);
      return { value: { ...previous, committees }, failure };
    },
  };
}

/** When the service has the members of a period. */
function knownFrom(chain: Chain, period: number): UnixMs {
  return startOf(chain, period - 1) + NEXT_KNOWN_AFTER_MS;
}

/**
 * Requests the unknown members of the current period and, once the service can have them, of the next one. If all are known, requests the
 * current ones again, because a run may be meant to show what the account permits.
 */
export async function readMembers(
  api: Api,
  chain: Chain,
  signal: AbortSignal,
  { now, held }: Time,
  known: readonly Committee[] = [],
): Promise<{ committees: Committee[]; failure?: Error }> {
  const current = periodAt(chain, now);
  const missing = [current, current + 1].filter((one) => !seatsOf(known, one) && knownFrom(chain, one) <= now);
  // The last epochs of a period count after its end.
  let committees = known.filter(({ period }) => period >= periodAt(chain, held) - 1);
  for (const period of missing.length > 0 ? missing : [current]) {
    const selector = period === current ? period : 'next';
    const seats = await attempt({ signal }, () => readSeats(api, chain, period, signal, selector));
    if (seats instanceof Error) return { committees, failure: seats };
    if (seats) committees = [...committees.filter((one) => one.period !== period), { period, seats }];
  }
  return { committees };
}

export function periodAt(chain: Chain, now: UnixMs): number {
  return periodOf(epochAt(chain, now));
}

export function startOf(chain: Chain, period: number): UnixMs {
  return periodTime(chain, period) * 1000;
}

/** The seats of a period in committee order, if known. */
export function seatsOf(committees: readonly Committee[], period: number): readonly number[] | undefined {
  return committees.find((one) => one.period === period)?.seats;
}

/** The watched members of a period, each once, ascending. Undefined if the members are unknown. */
export function watchedMembers(watch: Watch, committees: readonly Committee[], period: number): number[] | undefined {
  const seats = seatsOf(committees, period);
  return seats && [...new Set(seats)].filter((validator) => watches(watch, validator)).sort((a, b) => a - b);
}
