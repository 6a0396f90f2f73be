import type { Api } from '../../api/client.ts';
import { watches } from '../../facts/watch.ts';
import type { Poll, Timing } from '../source.ts';
import { membersDue, readMembers } from './committees.ts';
import type { ValidatorsOptions } from './options.ts';
import { isStatusOn, type PollContext, type Step } from './part.ts';
import { isPerformanceDue, readPerformance } from './performance.ts';
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
  const context: PollContext = { options, api, now, signal, events: [] };
  let value = { ...previous, validators: previous.validators.filter(({ index }) => watches(options.watch, index)) };
  let failure: Error | undefined;

  async function read(part: (context: PollContext, value: Validators) => Promise<Step>): Promise<void> {
    const step = await part(context, value);
    value = step.value;
    failure ??= step.failure;
  }

  if (isStatusOn(options, value, now)) await read((status, before) => readStatus(status, before, timing));
  if (!failure && isPerformanceDue(options, value, now)) await read(readPerformance);
  if (now >= membersDue(options, value, now)) await read(readMembers);
  return { value, events: context.events, ...(failure && { failure }) };
}
