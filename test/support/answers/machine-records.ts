import type * as z from 'zod';
import type { MachineMetricsBody } from '../../../src/sandbox/body.ts';
import { createFleet } from '../../../src/sandbox/machines.ts';
import { type Process, recordOf } from '../../../src/sandbox/machines-records.ts';
import type { MachinesOptions } from '../../../src/sources/machines/options.ts';
import { machineIn } from '../../simulation/service/fleet.ts';
import { DAY, MINUTE } from '../time/timing.ts';

type Fields = Record<string, unknown>;

/** The section `machines` of the configuration with its defaults. */
export function machinesOptions(overrides: Partial<MachinesOptions> = {}): MachinesOptions {
  return {
    intervalMs: MINUTE,
    staleAfterMs: 'auto',
    forgetAfterMs: 31 * DAY,
    expected: [],
    include: [],
    exclude: [],
    max: 10_000,
    chains: ['mainnet'],
    chain: 'mainnet',
    chainRules: [],
    groups: [],
    ...overrides,
  };
}

const NODE = machineIn(createFleet('records', 1), 'node-a');

/** The record that a simulated machine pushed at this time, with other fields. */
function recordAt(process: Process, time: number, fields: Fields): Fields {
  return { ...recordOf({ machine: NODE, process, time }), ...fields };
}

export function systemRecord(fields: Fields = {}): Fields {
  return recordAt('system', 1_790_769_623_000, { cpu_cores: 8, ...fields });
}

export function validatorRecord(fields: Fields = {}): Fields {
  return recordAt('validator', 1_790_769_624_000, { validator_total: 12, validator_active: 11, ...fields });
}

export function nodeRecord(fields: Fields = {}): Fields {
  return recordAt('node', 1_790_769_625_000, { network_peers_connected: 97, ...fields });
}

/** The body of a request for a page of machine metrics, as it is sent. */
export type MetricsRequest = z.input<typeof MachineMetricsBody>;

export interface Arrays {
  readonly system?: readonly unknown[];
  readonly validator?: readonly unknown[];
  readonly node?: readonly unknown[];
}

/** One page of POST /api/v2/machine-metrics. */
export function machinesPage({ system = [], validator = [], node = [] }: Arrays, nextCursor?: string): unknown {
  return {
    data: { system_metrics: system, validator_metrics: validator, node_metrics: node },
    paging: { next_cursor: nextCursor },
  };
}
