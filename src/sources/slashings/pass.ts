import type { Endpoint } from '../../api/endpoints.ts';
import { RequestFailed } from '../../api/errors.ts';
import { epochAt, MS_PER_EPOCH } from '../../facts/chain.ts';
import { attempt } from '../answers.ts';
import type { Outcome, Pace, Read, ReadContext } from '../read.ts';
import type { Slashed } from '../slashed.ts';
import type { SlashingsOptions } from './options.ts';
import { prune } from './retention.ts';
import type { Slashings } from './state.ts';

export type Step = Outcome<Slashings>;

export interface Context extends ReadContext {
  readonly options: SlashingsOptions;
}

type Pass = (context: Context, previous: Slashings) => Promise<Step>;

/** Runs a pass. The value has the slashed validators by status, even if the pass fails. */
export function runOf(options: SlashingsOptions, pass: Pass): Read<Slashings>['run'] {
  return async (context, previous) => {
    const full = { ...context, options };
    const before = withStop(full, withStatus(previous, context.inputs.slashedByStatus));
    const passed = await attempt(context, () => pass(full, before));
    const { value, failure } = passed instanceof Error ? { value: before, failure: passed } : passed;
    return { value: prune(value, options.watch), failure };
  };
}

/** Finality is at least two epochs behind the head: consensus-specs phase0, weigh_justification_and_finalization. */
export const MIN_LAG = 2;

/** Notes the epochs of a stop that are beyond `catch_up`, once, even if this run fails. */
function withStop({ stop, timing, options }: Context, state: Slashings): Slashings {
  const { chain, catchUpMs } = options;
  // After a kill, the last sign of life is up to an interval old.
  if (!stop || stop.to - stop.from <= Math.max(catchUpMs, timing.intervalMs)) return state;
  // With usual finality, `from` was not final before the stop. The newest epoch at the start counts, even with a short catch_up.
  const from = epochAt(chain, stop.from) - MIN_LAG;
  const to = epochAt(chain, stop.to) - MIN_LAG - Math.max(1, Math.floor(catchUpMs / MS_PER_EPOCH));
  const isKnown = state.stops.some((one) => one.to === to);
  return isKnown || from > to ? state : { ...state, stops: [...state.stops, { from, to }] };
}

/** Adds the slashed validators by status, and keeps them when the status is off. */
function withStatus(state: Slashings, slashed: readonly Slashed[]): Slashings {
  const all = new Map(state.slashedByStatus.map((one) => [one.validator, one]));
  for (const one of slashed) all.set(one.validator, { ...all.get(one.validator), ...one });
  return { ...state, slashedByStatus: [...all.values()] };
}

/** Whether the budget cannot pay for every finalized epoch: then a pass reads only the newest one. */
export function isSampled({ intervalMs, isStretched }: Pick<Pace, 'intervalMs' | 'isStretched'>): boolean {
  return isStretched && intervalMs > MS_PER_EPOCH;
}

/** An implausible response counts as an unreadable body. */
export function implausible(detail: string, endpoint: Endpoint = 'epoch_slots'): RequestFailed {
  return new RequestFailed(endpoint, 'invalid_body', detail);
}
