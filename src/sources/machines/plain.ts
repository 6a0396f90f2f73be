import { type PlainObject, plainNumber } from '../plain.ts';
import { diskFree, isFresh, type ListedMachine, memoryUsed, shownValue } from './conditions.ts';
import { chainOf, type MachinesOptions } from './options.ts';

/** A machine in /status.json. Values that are withdrawn from the metrics are null. */
export function plainMachine(options: MachinesOptions, machine: ListedMachine): PlainObject {
  const { name, alerts, shown } = machine;
  const { system, validator, node } = shown?.fresh ?? {};
  const flag = (metric: string): boolean | null => {
    const value = shownValue(metric, node);
    return value === undefined ? null : value === 1;
  };
  return {
    machine: name,
    chain: shown ? shown.labels.chain : chainOf(options, { name }),
    alerts,
    is_fresh: isFresh(machine),
    system_last_seen_timestamp_seconds: plainNumber(shown?.seen.system?.timestamp),
    validator_last_seen_timestamp_seconds: plainNumber(shown?.seen.validator?.timestamp),
    node_last_seen_timestamp_seconds: plainNumber(shown?.seen.node?.timestamp),
    is_synced: flag('synced'),
    is_execution_connected: flag('execution_connected'),
    head_slot: plainNumber(shownValue('head_slot', node)),
    peers: plainNumber(shownValue('peers', node)),
    validators: plainNumber(shownValue('validators', validator)),
    validators_active: plainNumber(shownValue('validators_active', validator)),
    disk_free_ratio: plainNumber(diskFree(system)),
    memory_used_ratio: plainNumber(memoryUsed(system)),
  };
}
