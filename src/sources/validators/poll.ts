import type { Api } from '../../api/client.ts';
import { watches } from '../../facts/watch.ts';
import type { UnixMs } from '../../toolkit/lib/time.ts';
import { refusedUntil } from '../refusal.ts';
import type { Poll, Timing } from '../source.ts';
import { isAggregateDue, readPerformance, readRewards } from './aggregates.ts';
import { membersDue, readMembers } from './committees.ts';
import type { PollContext, ValidatorsOptions } from './options.ts';
import type { Validators } from './schema.ts';
import { readStatus } from './status.ts';

/** Reads the parts that are on and not refused: status, performance, rewards, members of sync committees. */
export async function pollValidators(
  options: ValidatorsOptions,
  api: Api,
  previous: Validators,
  timing: Timing,
  signal: AbortSignal,
): Promise<Poll<Validators>> {
  const { now } = timing;
  const context: PollContext = { options, api, timing, signal, events: [] };
  let value = { ...previous, validators: previous.validators.filter(({ index }) => watches(options.watch, index)) };
  let failure: Error | undefined;

  async function read(part: typeof readStatus): Promise<void> {
    const step = await part(context, value);
    value = step.value;
    failure ??= step.failure;
  }

  if (isStatusOn(options, value, now)) await read(readStatus);
  // A failure of one aggregate does not stop the other.
  if (!failure && isStatusOn(options, value, now)) {
    const { groups, rewards } = options;
    const { performances, pollsSincePerformance, performanceRefusal } = value;
    const { rewards: known, pollsSinceRewards, rewardsRefusal } = value;
    const isDue = isAggregateDue(groups, performances, pollsSincePerformance, performanceRefusal, now);
    if (isDue) await read(readPerformance);
    if (rewards && isAggregateDue(groups, known, pollsSinceRewards, rewardsRefusal, now)) await read(readRewards);
  }
  if (now >= membersDue(options, value, now)) await read(readMembers);
  return { value, events: context.events, failure };
}

/** Whether the status is read: it is configured, and the service does not refuse it. */
function isStatusOn({ status }: ValidatorsOptions, { statusRefusal }: Validators, now: UnixMs): boolean {
  return status && now >= refusedUntil(statusRefusal);
}
