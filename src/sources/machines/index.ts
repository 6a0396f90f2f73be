import type { Source } from '../source.ts';
import { detectionsOf } from './conditions.ts';
import { EVENTS } from './events.ts';
import { machinesHistory } from './history.ts';
import { machineFamilies } from './metrics.ts';
import { namesRead, unknownRead } from './names.ts';
import type { MachinesOptions } from './options.ts';
import { machinesPage } from './page.ts';
import { machinesProbing } from './probe.ts';
import { Machines } from './state.ts';
import { sweepRead } from './sweep.ts';

/** The user's own machines, all chains in one account. */
export function machinesSource(options: MachinesOptions): Source<Machines> {
  return {
    name: 'machines',
    reads: [sweepRead(options), namesRead(options), unknownRead(options)],
    state: Machines,
    empty: { machines: [], dropped: 0 },
    share: () => 2,
    metrics: (value, timing) => machineFamilies(options, value, timing),
    events: EVENTS,
    page: (value, timing, { polls }) => machinesPage(options, value, timing, polls),
    more: {
      probe: machinesProbing(options),
      history: () => machinesHistory(options),
      detects: (timing) => detectionsOf(options, timing),
      assumption: 'A sweep of the machines is assumed to take a request for each 8 of machines.expected, at least one.',
    },
  };
}
