import { evenPace, nextTick, type Source } from '../source.ts';
import { machinesHistory } from './history.ts';
import { machineFamilies, nextMachineChange } from './metrics.ts';
import type { MachinesOptions } from './options.ts';
import { pollMachines } from './poll.ts';
import type { Warning } from './reading.ts';
import { Machines } from './schema.ts';
import { showingOf } from './showing.ts';
import { machinesSummary } from './summary.ts';

/** The user's own machines, all chains in one account. */
export function machinesSource(options: MachinesOptions, warn: (reason: Warning) => void): Source<Machines> {
  return {
    name: 'machines',
    endpoint: 'machine_metrics',
    intervalMs: options.intervalMs,
    empty: { machines: [], dropped: 0 },
    state: Machines,
    due: (_value, attempts, { intervalMs }) => nextTick(attempts, intervalMs),
    isDaily: false,
    weight: options.weight,
    pace: (requestsPerDay, requestsPerPoll) => evenPace(options.intervalMs, requestsPerDay, requestsPerPoll),
    poll: (api, previous, timing, signal) => pollMachines(options, api, previous, timing, signal, warn),
    summary: (value, timing, polls) => machinesSummary(options, value, timing, polls),
    families: (value, timing) => machineFamilies(options, value, timing),
    nextChange: (value, timing) => nextMachineChange(options, value, timing),
    history: () => machinesHistory(options),
    showing: (value, timing) => showingOf(options, value, timing),
  };
}
