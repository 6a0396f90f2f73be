import { listed, plural, utc } from '../../toolkit/lib/words.ts';
import type { AskSafety } from '../safety.ts';
import { periodAt, readMembers, startOf, watchedMembers } from './members.ts';
import type { ValidatorsOptions } from './options.ts';

/** Asks whether no watched validator is in a sync committee now or within this time. */
export function safetyQuestion({ chain, watch }: Pick<ValidatorsOptions, 'chain' | 'watch'>): AskSafety {
  return async (api, withinMs, now, signal) => {
    const { committees, failure } = await readMembers(api, chain, signal, { now, held: now });
    const current = periodAt(chain, now);
    const last = periodAt(chain, now + withinMs);
    for (let period = current; period <= last; period += 1) {
      const members = watchedMembers(watch, committees, period);
      const when =
        period === current ? `until ${utc(startOf(chain, period + 1))}` : `from ${utc(startOf(chain, period))}`;
      if (!members) {
        const why = failure?.message ?? 'the service does not know the members yet';
        return { isSafe: false, reason: `not known for the ${chain} sync committee ${when}: ${why}` };
      }
      if (members.length > 0) {
        const who = `${plural(members.length, 'watched validator')} (${listed(members)})`;
        return { isSafe: false, reason: `no: in the ${chain} sync committee ${when}: ${who}` };
      }
    }
    return {
      isSafe: true,
      reason: `yes: no watched validator of ${chain} is in a sync committee until ${utc(startOf(chain, last + 1))}`,
    };
  };
}
