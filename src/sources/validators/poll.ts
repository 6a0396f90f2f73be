import { watches } from '../../facts/watch.ts';
import { refusedUntil } from '../refusal.ts';
import type { Poll } from '../source.ts';
import { isAggregateDue, readPerformance, readRewards } from './aggregates.ts';
import { membersDue, readMembers } from './committees.ts';
import type { PollContext } from './options.ts';
import type { Validators } from './schema.ts';
import { readStatus } from './status.ts';

/** Reads the parts that are on and not refused: status, performance, rewards, members of sync committees. */
export async function pollValidators(context: PollContext, previous: Validators): Promise<Poll<Validators>> {
  const { options, timing, events } = context;
  const { watch, groups, status, rewards } = options;
  const { now } = timing;
  let value = { ...previous, validators: previous.validators.filter(({ index }) => watches(watch, index)) };
  let failure: Error | undefined;

  async function read(part: typeof readStatus): Promise<void> {
    const step = await part(context, value);
    value = step.value;
    failure ??= step.failure;
  }

  const isStatusOn = (): boolean => status && now >= refusedUntil(value, 'status');
  if (isStatusOn()) await read(readStatus);
  // A failure of one aggregate does not stop the other.
  if (!failure && isStatusOn()) {
    if (isAggregateDue(groups, value.performance)) await read(readPerformance);
    if (rewards && isAggregateDue(groups, value.rewards)) await read(readRewards);
  }
  if (now >= membersDue(options, value, now)) await read(readMembers);
  return { value, events, failure };
}
