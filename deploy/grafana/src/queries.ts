// biome-ignore-all lint/suspicious/noTemplateCurlyInString: Grafana's variables.
import { type Parts, silentTooLong } from './limits.ts';
import { threshold } from './rules.ts';

/**
 * Names are chosen by users. In a raw string (backticks) a regular expression stays as Grafana escapes it; within double
 * quotes PromQL refuses the "\." of every name with a dot, and Grafana's own escaping leaves quotes as they are.
 */
export const CHAIN = 'chain=~`${chain:regex}`';
/** All includes what belongs to no group, so the queries also work where no groups are configured. */
export const GROUP = `${CHAIN}, group=~\`\${group:regex}\``;
export const MACHINE = `${GROUP}, machine=~\`\${machine:regex}\``;

/**
 * One line for replicas, for a backfill with another instance, and for machines of one name on several exporters: the
 * worse value counts.
 */
const EACH_MACHINE = 'max by (chain, machine)';
const EACH_MACHINE_LEAST = 'min by (chain, machine)';

const LAST_SEEN = 'beaconchain_machine_last_seen_timestamp_seconds';
const SWEEP = (metric: string): string => `beaconchain_source_${metric}{source="machines"}`;

/** A gauge of each machine. */
export function ofMachine(metric: string, more = ''): string {
  return `${EACH_MACHINE} (${metric}{${MACHINE}${more && `, ${more}`}})`;
}

/** The same for metrics of which less is worse. */
export function leastOfMachine(metric: string): string {
  return `${EACH_MACHINE_LEAST} (${metric}{${MACHINE}})`;
}

export function ofProcess(metric: string, more = ''): string {
  return `max by (chain, machine, process) (${metric}{${MACHINE}${more && `, ${more}`}})`;
}

/**
 * A counter of a machine per second of the machine's own time. Values come in steps, with each poll: a rate over the
 * time of the scrapes would swing with the number of steps in the window, and be 0 between polls that are rare.
 */
export function perSecond(metric: string, process: 'system' | 'node' = 'system'): string {
  return `${EACH_MACHINE} (${pace(metric, `process="${process}"`, 'chain, machine')})`;
}

/** The same for a counter of each process. */
export function perSecondOfProcess(metric: string): string {
  return `max by (chain, machine, process) (${pace(metric, '', 'chain, machine, process')})`;
}

/**
 * Only where both have the same samples: a counter is withdrawn in an outage, but the time when the machine was last seen
 * is not, and jumps when the outage is over. By group too, because a range that includes a change of groups has both series.
 */
function pace(metric: string, clock: string, by: string): string {
  const counter = `${metric}{${MACHINE}}[$__rate_interval]`;
  const seen = `${LAST_SEEN}{${MACHINE}${clock && `, ${clock}`}}[$__rate_interval]`;
  const on = `on (job, instance, group, ${by})`;
  return `(increase(${counter}) and ${on} (count_over_time(${counter}) == ${on} count_over_time(${seen}))) / ${on} (delta(${seen}) > 0)`;
}

/** Share of the CPU time in one mode. The total includes idle time. */
export function cpuShare(mode: 'user' | 'iowait'): string {
  return `${EACH_MACHINE} (rate(beaconchain_machine_cpu_${mode}_seconds_total{${MACHINE}}[$__rate_interval]) / (rate(beaconchain_machine_cpu_seconds_total{${MACHINE}}[$__rate_interval]) > 0))`;
}

/** As the alert BeaconchainCPUBusy: clients that send no idle time give no ratio. */
export function cpuBusy(window = '$__rate_interval'): string {
  return `${EACH_MACHINE} (${cpuBusyByExporter(window)})`;
}

export function cpuBusyByExporter(window: string): string {
  return `1 - rate(beaconchain_machine_cpu_idle_seconds_total{${MACHINE}}[${window}]) / (rate(beaconchain_machine_cpu_seconds_total{${MACHINE}}[${window}]) > 0) and beaconchain_machine_cpu_idle_seconds_total{${MACHINE}} > 0`;
}

/** The last quarter of an hour, or the last hours where polls are too rare for that: as the alert BeaconchainCPUBusy. */
export const CPU_BUSY_NOW = `${cpuBusy('15m')} or ${cpuBusy('6h')}`;

/** As the alert BeaconchainMemoryAlmostFull. */
export const MEMORY_USED_BYTES = `${EACH_MACHINE} (beaconchain_machine_memory_total_bytes{${MACHINE}} - ${reclaimable()})`;
export const MEMORY_USED_BY_EXPORTER = `1 - ${reclaimable()} / (beaconchain_machine_memory_total_bytes{${MACHINE}} > 0)`;
export const MEMORY_USED_RATIO = `${EACH_MACHINE} (${MEMORY_USED_BY_EXPORTER})`;

function reclaimable(): string {
  const free = `beaconchain_machine_memory_free_bytes{${MACHINE}}`;
  const orNothing = (what: string): string => `(beaconchain_machine_memory_${what}_bytes{${MACHINE}} or ${free} * 0)`;
  return `((${free} > 0) + ${orNothing('cached')} + ${orNothing('buffers')})`;
}

export const DISK_FREE_BY_EXPORTER = `beaconchain_machine_disk_free_bytes{${MACHINE}} / (beaconchain_machine_disk_total_bytes{${MACHINE}} > 0)`;
export const DISK_FREE_RATIO = `${EACH_MACHINE_LEAST} (${DISK_FREE_BY_EXPORTER})`;

/**
 * Age of the newest record of any process at the last successful sweep, seconds: a slow poll must not look like a dead
 * machine.
 */
export const SILENCE_BY_EXPORTER = ageAtSweep(
  `max by (job, instance, chain, group, machine) (${LAST_SEEN}{${MACHINE}})`,
);
/** With the group of each machine, for a table. */
export const SILENCE = `max by (chain, group, machine) (${SILENCE_BY_EXPORTER})`;

/** By chain and machine, those that are silent for too long and those that are not. */
export function splitSilence(silence: string): Parts {
  const tooLong = `on (chain, machine) (${silentTooLong(SILENCE_BY_EXPORTER)})`;
  return { within: `${silence} unless ${tooLong}`, beyond: `${silence} and ${tooLong}` };
}

/** The same of each process. */
export function processSilence(more = ''): string {
  return `max by (chain, machine, process) (${processSilenceByExporter(more)})`;
}

function processSilenceByExporter(more = ''): string {
  return ageAtSweep(`${LAST_SEEN}{${MACHINE}${more && `, ${more}`}}`);
}

/** As the alert, which assumes that a process that is silent for longer was removed on purpose. */
export function processSilenceOfRemaining(more: string): string {
  return `${processSilenceByExporter(more)} < ${threshold('process_forgotten_seconds')}`;
}

function ageAtSweep(seen: string): string {
  return `-1 * ((${seen} > 0) - on (job, instance) group_left () (${SWEEP('last_success_timestamp_seconds')} > 0))`;
}

/** Slots that the head of the beacon node was behind the clock when it wrote its record, as the alert BeaconchainBeaconNodeLagging. */
export const HEAD_LAG_BY_EXPORTER = `((${LAST_SEEN}{${MACHINE}, process="node"} - on (chain) group_left () ${genesis()}) / 12 - on (job, instance, chain, machine) beaconchain_machine_head_slot{${MACHINE}} and on (job, instance, chain, machine) beaconchain_machine_chain_known == 1)`;
/** The same of nodes that say that they are not synced, as the alert BeaconchainBeaconNodeNotSynced. */
export const UNSYNCED_LAG_BY_EXPORTER = `(${HEAD_LAG_BY_EXPORTER} or max by (job, instance, chain, machine) (beaconchain_machine_chain_known{${MACHINE}} == 1) * 1e9) and on (job, instance, chain, machine) beaconchain_machine_synced{${MACHINE}} == 0`;
/** 0 for a node that says that it is not synced, and whose head is too far behind; else 1. */
export const SYNCED = `${EACH_MACHINE_LEAST} ((${UNSYNCED_LAG_BY_EXPORTER}) <= bool ${threshold('head_lag_slots')} or 1 + 0 * max by (job, instance, chain, machine) (beaconchain_machine_synced{${MACHINE}}))`;
export const HEAD_LAG = `${EACH_MACHINE} (${HEAD_LAG_BY_EXPORTER})`;

/** Genesis times, with constants in case the slashings source is disabled. */
function genesis(): string {
  return '(max by (chain) (beaconchain_genesis_timestamp_seconds) or label_replace(vector(1606824023), "chain", "mainnet", "", "") or label_replace(vector(1742213400), "chain", "hoodi", "", ""))';
}

/**
 * A daily value. A backfill has one sample a day, at its end. The query holds it until the next one, so that past and
 * present are one line. The window is an hour longer than a day, because it may exclude its start.
 */
export function daily(metric: string, by = 'chain', more = ''): string {
  return `max by (${by}) (last_over_time(beaconchain_daily_return_${metric}{${CHAIN}${more && `, ${more}`}}[25h]))`;
}

/** A gauge of each chain. */
export function ofChain(metric: string): string {
  return `max by (chain) (beaconchain_${metric}{${CHAIN}})`;
}

/** A gauge of each chain and another label. */
export function perChainAnd(label: string, metric: string, more = ''): string {
  return `max by (chain, ${label}) (beaconchain_${metric}{${CHAIN}${more && `, ${more}`}})`;
}

/** A gauge of watched validators that is split by group, and perhaps by another label. */
export function ofGroup(metric: string, label = '', more = ''): string {
  const by = label && `, ${label}`;
  return `max by (chain, group${by}) (beaconchain_${metric}{${GROUP}${more && `, ${more}`}})`;
}

/**
 * With a label `whose` for legends: the chain, or the chain and the group. Grafana would show the name of a missing label.
 */
export function withWhose(expr: string): string {
  return `label_replace(label_join(${expr}, "whose", "/", "chain", "group"), "whose", "$1", "whose", "(.*)/")`;
}

type WatchedEvent =
  | 'slashed'
  | 'missed_proposal'
  | 'offline_since'
  | 'exit'
  | 'withdrawable'
  | 'unexpected_fee_recipient';

/** When something last happened to each watched validator. */
export function timeOfWatched(event: WatchedEvent): string {
  return `max by (chain, group, validator) (beaconchain_watched_validator_${event}_timestamp_seconds{${GROUP}})`;
}

/** The same in milliseconds, for a table. */
export function ofWatched(event: WatchedEvent): string {
  return withExplorer(`1000 * ${timeOfWatched(event)}`);
}

/**
 * When the membership of each watched validator ends (current committee) or begins (next committee), in milliseconds. A
 * period end in the past belongs to the previous period, because the new one has not been read yet.
 */
export function ofMembers(period: 'current' | 'next'): string {
  const end = `max by (chain) (beaconchain_sync_committee_end_timestamp_seconds{${CHAIN}})`;
  const members = `max by (chain, group, validator) (beaconchain_watched_sync_committee_validator{${GROUP}, period="${period}"})`;
  return withExplorer(`1000 * ${members} * on (chain) group_left () (${end} + 98304 * (${end} < bool time()))`);
}

/** With the host of the explorer of its chain as a label. */
function withExplorer(expr: string): string {
  const host = (of: string, chain: string, name: string): string =>
    `label_replace(${of}, "explorer", "${name}", "chain", "${chain}")`;
  return host(host(expr, 'mainnet', 'beaconcha.in'), 'hoodi', 'hoodi.beaconcha.in');
}

/**
 * How much a counter of finalized epochs grew, by chain and these labels. In bars over a step and a scrape, which is
 * Grafana's rate interval: growth between the last scrape of one step and the first of the next belongs to the latter.
 */
export function grown(metric: string, window = '$__rate_interval', by = 'chain', more = ''): string {
  return `max by (${by}) (increase(beaconchain_${metric}{${CHAIN}${more && `, ${more}`}}[${window}]))`;
}

/** A counter of finalized epochs per block of them: exact however many epochs fall into the window. */
export function perBlock(metric: string): string {
  return `max by (chain) (rate(beaconchain_${metric}{${CHAIN}}[$__rate_interval]) / on (job, instance, chain) (sum by (job, instance, chain) (rate(beaconchain_slots_total{${CHAIN}, status="proposed"}[$__rate_interval])) > 0))`;
}

/** Share of slots of finalized epochs that have this status. */
export function slotShare(status: 'missed' | 'orphaned'): string {
  const rate = (more: string): string =>
    `sum by (job, instance, chain) (rate(beaconchain_slots_total{${CHAIN}${more}}[$__rate_interval]))`;
  return `max by (chain) (${rate(`, status="${status}"`)} / (${rate('')} > 0))`;
}

/** 0 instead of no value if nothing matches. */
export function orZero(expr: string): string {
  return `${expr} or vector(0)`;
}
