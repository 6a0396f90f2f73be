import { PAGE_SIZE } from '../../api/endpoints.ts';
import { epochAt } from '../../facts/chain.ts';
import { chunksOf, watchOf } from '../../facts/watch.ts';
import { listed, plural, utc } from '../../toolkit/lib/words.ts';
import { attempt } from '../answers.ts';
import type { Inputs } from '../read.ts';
import type { AskSafety } from '../safety.ts';
import { openKeys, resolved } from '../watched-keys.ts';
import { periodAt, readMembers, startOf, watchedMembers } from './members.ts';
import type { ValidatorsOptions } from './options.ts';
import { readChunk } from './status.ts';

/**
 * Only active validators are drawn for committees, and a validator is active at the earliest eight epochs after it got its index
 * (consensus-specs, process_registry_updates and compute_activation_exit_epoch).
 */
const WITHOUT_SEAT_EPOCHS = 4;

/**
 * Asks whether no watched validator is in a sync committee now or within this time. First asks for the indices of keys of which the state
 * has neither an index nor a recent response: a validator without an index is no member.
 */
export function safetyQuestion(options: ValidatorsOptions, { keys, keysElsewhere }: Inputs): AskSafety {
  const { chain } = options;
  const known = resolved(options, keys, keysElsewhere);
  const answered = new Map(keys.map(({ key, epoch }) => [key, epoch]));
  return async (api, withinMs, now, signal) => {
    const found: number[] = [];
    const ageOf = (key: string): number => Math.abs(epochAt(chain, now) - (answered.get(key) ?? Infinity));
    const asked = openKeys(known).filter((key) => ageOf(key) > WITHOUT_SEAT_EPOCHS);
    for (const chunk of chunksOf(asked, PAGE_SIZE)) {
      const rows = await attempt({ signal }, () => readChunk(api, chain, chunk, signal));
      if (rows instanceof Error)
        return { isSafe: false, reason: `not known for ${chain}: the public keys have no index yet: ${rows.message}` };
      found.push(...rows.flatMap(({ index }) => index ?? []));
    }
    const watch = watchOf([...known.watch, ...found.map((index) => ({ first: index, last: index }))]);
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
