import { isObject } from '../lib/is-object.ts';
import type { Endpoint } from './errors.ts';

/**
 * What a value is: `wei` a decimal string, `seconds` a Unix time in seconds, `time` a Unix time in seconds or
 * milliseconds.
 */
export type Leaf = 'boolean' | 'number' | 'seconds' | 'string' | 'time' | 'wei';

/** A leaf, one of these strings, a list of equal items, or an object. A member that may be left out ends in `?`. */
export type Shape = Leaf | ReadonlySet<string> | readonly [Shape] | Members;
export interface Members {
  readonly [name: string]: Shape;
}

/** Members that all have the same shape. */
function each<Name extends string>(names: readonly Name[], shape: Shape): Members {
  return Object.fromEntries(names.map((name) => [name, shape]));
}

const APR = each(['combined', 'consensus_layer', 'execution_layer'], 'number');
const AVERAGES = { apr: APR, rewards: each(['consensus_layer', 'execution_layer'], 'wei') };
const SPAN = each(['start', 'end'], 'number');
const RANGE = { slot: SPAN, epoch: SPAN, timestamp: each(['start', 'end'], 'seconds') };
const PAGING = { 'next_cursor?': 'string' } as const;

const DATAPOINT = {
  day: 'number',
  ...each(['day_start', 'day_end'], 'seconds'),
  ...each(['effective_balance', 'start_balance', 'end_balance', 'deposits'], 'wei'),
  rewards: each(['total', 'consensus_layer', 'execution_layer'], 'wei'),
  apr: APR,
  moving_averages: { window_7d: AVERAGES, window_31d: AVERAGES },
} as const;

/*
 * The service omits zeros, false and empty strings from machine records (api-facts 1.1). Therefore a member for which
 * some client reports such a value may be absent. For example, a process that has just started has used less than a
 * second of CPU time.
 */
const COMMON = { timestamp: 'time', machine: 'string', 'exporter_version?': 'string' } as const;

const SYSTEM = {
  ...COMMON,
  ...each(
    [
      'cpu_cores',
      'cpu_threads',
      'cpu_node_system_seconds_total',
      'cpu_node_user_seconds_total',
      'cpu_node_iowait_seconds_total?',
      'cpu_node_idle_seconds_total',
      'memory_node_bytes_total',
      'memory_node_bytes_free?',
      'memory_node_bytes_cached?',
      'memory_node_bytes_buffers?',
      'disk_node_bytes_total',
      'disk_node_bytes_free?',
      'disk_node_io_seconds?',
      'disk_node_reads_total?',
      'disk_node_writes_total?',
      'network_node_bytes_total_receive?',
      'network_node_bytes_total_transmit?',
    ],
    'number',
  ),
  misc_node_boot_ts_seconds: 'seconds',
  misc_os: 'string',
} as const;

const PROCESS = {
  ...COMMON,
  ...each(['cpu_process_seconds_total?', 'memory_process_bytes', 'client_build?'], 'number'),
  ...each(['client_name', 'client_version'], 'string'),
  ...each(['sync_eth2_fallback_configured?', 'sync_eth2_fallback_connected?'], 'boolean'),
};

const VALIDATOR = { ...PROCESS, ...each(['validator_total?', 'validator_active?'], 'number') };

const NODE = {
  ...PROCESS,
  ...each(
    [
      'disk_beaconchain_bytes_total?',
      'network_libp2p_bytes_total_receive?',
      'network_libp2p_bytes_total_transmit?',
      'network_peers_connected?',
      'sync_beacon_head_slot?',
    ],
    'number',
  ),
  ...each(
    ['sync_eth1_connected?', 'sync_eth2_synced?', 'sync_eth1_fallback_configured?', 'sync_eth1_fallback_connected?'],
    'boolean',
  ),
};

const PAYLOAD = {
  ...each(
    [
      'exec_base_fee_per_gas',
      'exec_block_number',
      'exec_gas_limit',
      'exec_gas_used',
      'exec_timestamp',
      'exec_transactions_count',
    ],
    'number',
  ),
  ...each(
    [
      'exec_block_hash',
      'exec_parent_hash',
      'exec_random',
      'exec_receipts_root',
      'exec_state_root',
      'exec_logs_bloom',
      'exec_extra_data',
      'exec_fee_recipient',
    ],
    'string',
  ),
};

const SLOT = {
  ...each(['slot', 'epoch', 'proposer'], 'number'),
  status: new Set(['0', '1', '2', '3']),
  ...each(
    [
      'blockroot',
      'parentroot',
      'stateroot',
      'eth1data_blockhash',
      'eth1data_depositroot',
      'graffiti',
      'graffiti_text',
      'randaoreveal',
      'signature',
      'syncaggregate_bits',
      'syncaggregate_signature',
    ],
    'string',
  ),
  ...each(
    [
      'attestationscount',
      'attesterslashingscount',
      'proposerslashingscount',
      'depositscount',
      'voluntaryexitscount',
      'withdrawalcount',
      'eth1data_depositcount',
      'syncaggregate_participation',
    ],
    'number',
  ),
};

function attestation(n: 1 | 2): Members {
  const named = (names: readonly string[], shape: Shape): Members =>
    each(
      names.map((name) => `attestation${n}_${name}`),
      shape,
    );
  return {
    ...named(['index', 'slot', 'source_epoch', 'target_epoch'], 'number'),
    ...named(['beaconblockroot', 'signature', 'source_root', 'target_root'], 'string'),
    ...named(['indices'], ['number']),
  };
}

const BLOCK = { ...each(['block_index', 'block_slot'], 'number'), block_root: 'string' } as const;

function header(n: 1 | 2): Members {
  return {
    [`header${n}_slot?`]: 'number',
    ...each(
      ['parentroot?', 'stateroot?', 'bodyroot?', 'signature?'].map((name) => `header${n}_${name}`),
      'string',
    ),
  };
}

const OK = new Set(['OK']);
const COMMITTEE = {
  period: 'number',
  ...each(['start_epoch?', 'end_epoch?'], 'number'),
  validators: ['number'],
} as const;

/** The answers as the specification gives them; those of the optional endpoints as api-facts 4.1 and 8.1 give them. */
const SPECIFICATION: Readonly<Record<Endpoint, Members>> = {
  machine_metrics: {
    data: { 'system_metrics?': [SYSTEM], 'validator_metrics?': [VALIDATOR], 'node_metrics?': [NODE] },
    'paging?': PAGING,
  },
  daily_returns: { data: [DATAPOINT], 'paging?': PAGING, range: RANGE },
  // Newer public documentation adds `finality` (api-facts 4).
  sync_committee: { data: { period: 'number', 'finality?': 'string' }, range: RANGE },
  epoch_slots: { status: OK, data: [{ ...SLOT, ...PAYLOAD }] },
  attester_slashings: { status: OK, data: [{ ...attestation(1), ...attestation(2), ...BLOCK }] },
  sync_committee_members: { status: OK, data: COMMITTEE },
  proposer_slashings: {
    status: OK,
    data: [{ ...BLOCK, proposerindex: 'number', ...header(1), ...header(2) }],
  },
};

/** The names of all fields in the specification. */
export const FIELD_NAMES: ReadonlySet<string> = new Set(Object.values(SPECIFICATION).flatMap(namesIn));

function namesIn(shape: Shape): string[] {
  if (typeof shape === 'string' || shape instanceof Set) return [];
  if (Array.isArray(shape)) return shape.flatMap(namesIn);
  return Object.entries(shape).flatMap(([name, member]) => [name.replace(/\?$/, ''), ...namesIn(member)]);
}

/** Without a block there is no payload. */
const EPOCH_WITHOUT_BLOCK: Members = { status: OK, data: [{ ...SLOT, ...optional(PAYLOAD) }] };

/** The specified shape of a response of this endpoint. */
export function specificationOf(endpoint: Endpoint, answer: unknown): Members {
  return endpoint === 'epoch_slots' && !hasBlock(answer) ? EPOCH_WITHOUT_BLOCK : SPECIFICATION[endpoint];
}

function optional(members: Members): Members {
  return Object.fromEntries(Object.entries(members).map(([name, shape]) => [`${name}?`, shape]));
}

function hasBlock(answer: unknown): boolean {
  const rows = isObject(answer) && Array.isArray(answer['data']) ? answer['data'] : [];
  return rows.some((row) => isObject(row) && row['status'] === '1');
}
