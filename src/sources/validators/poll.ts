import type { Api } from '../../api/client.ts';
import { rangesOf, watches } from '../../facts/watch.ts';
import type { UnixMs } from '../../toolkit/lib/time.ts';
import { refusedUntil } from '../refusal.ts';
import type { Poll, Timing } from '../source.ts';
import { membersDue, readMembers } from './committees.ts';
import type { PollContext, ValidatorsOptions } from './options.ts';
import { POLLS_PER_PERFORMANCE, readPerformance } from './performance.ts';
import type { Validators } from './schema.ts';
import { readStatus } from './status.ts';

/** Reads the parts that are on and not refused: status, performance, members of sync committees. */
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
  if (!failure && isPerformanceDue(options, value, now)) await read(readPerformance);
  if (now >= membersDue(options, value, now)) await read(readMembers);
  return { value, events: context.events, failure };
}

/** Whether the status is read: it is configured, and the service does not refuse it. */
function isStatusOn({ status }: ValidatorsOptions, { statusRefusal }: Validators, now: UnixMs): boolean {
  return status && now >= refusedUntil(statusRefusal);
}

function isPerformanceDue(options: ValidatorsOptions, value: Validators, now: UnixMs): boolean {
  const { performanceRefusal, pollsSincePerformance, performance } = value;
  const isTurn = performance?.watch !== rangesOf(options.watch) || pollsSincePerformance >= POLLS_PER_PERFORMANCE;
  return isStatusOn(options, value, now) && isTurn && now >= refusedUntil(performanceRefusal);
}
