import { unit } from '../../toolkit/lib/random.ts';
import type { Milliseconds } from '../../toolkit/lib/time.ts';
import { partsOf } from '../refusal.ts';
import { type Attempts, evenPace, nextTick, type Pace, type Source } from '../source.ts';
import { machinesHistory } from './history.ts';
import { machineFamilies } from './metrics.ts';
import type { MachinesOptions } from './options.ts';
import { pollMachines } from './poll.ts';
import { Machines } from './schema.ts';
import { nextMachineChange } from './shown.ts';
import { machinesSummary } from './summary.ts';
import { JITTER, RARE_REQUESTS } from './sweep.ts';

/**
 * Sweeps at an even pace could miss the same machine each time, because its pushes come at an even pace too. The delay
 * depends on the last attempt alone, so that it is the same whenever the schedule is computed, also after a restart. A
 * sweep that takes the whole interval is not delayed: its length varies by itself.
 */
function jitterMs({ lastAttemptAt, durationMs }: Attempts, intervalMs: Milliseconds): Milliseconds {
  const most = Math.min(JITTER * intervalMs, intervalMs - durationMs);
  return Math.floor(unit(lastAttemptAt) * Math.max(0, most));
}

/** A scarce budget also has to pay for requests that only a few sweeps make. */
function sweepPace(configuredMs: Milliseconds, requestsPerDay: number, requestsPerPoll: number): Pace {
  const pace = evenPace(configuredMs, requestsPerDay, requestsPerPoll);
  if (pace.intervalMs === configuredMs) return pace;
  return evenPace(configuredMs, requestsPerDay, requestsPerPoll + RARE_REQUESTS);
}

/** The user's own machines, all chains in one account. */
export function machinesSource(options: MachinesOptions): Source<Machines> {
  return {
    name: 'machines',
    endpoints: ['machine_metrics', 'machine_names'],
    intervalMs: options.intervalMs,
    empty: { machines: [], dropped: 0 },
    state: Machines,
    due: (_value, attempts, { intervalMs }) => nextTick(attempts, intervalMs + jitterMs(attempts, intervalMs)),
    isDaily: false,
    weight: options.weight,
    pace: (requestsPerDay, requestsPerPoll) => sweepPace(options.intervalMs, requestsPerDay, requestsPerPoll),
    poll: (api, previous, timing, signal) => pollMachines({ options, api, timing, signal, events: [] }, previous),
    anew: ({ refusals, ...value }) => value,
    parts: partsOf('machine_names'),
    summary: (value, timing, polls) => machinesSummary(options, value, timing, polls),
    families: (value, timing) => machineFamilies(options, value, timing),
    nextChange: (value, timing) => nextMachineChange(options, value, timing),
    history: () => machinesHistory(options),
  };
}
