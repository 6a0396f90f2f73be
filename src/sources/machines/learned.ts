import { isDeepStrictEqual } from 'node:util';
import { type MachineRecord, type NodeRecord, PROCESSES, type SystemRecord } from '../../api/answers/machines.ts';
import { CHAIN_NAMES, CHAINS, type Chain, SECONDS_PER_SLOT } from '../../facts/chain.ts';
import { MS_PER_HOUR, SECONDS_PER_DAY } from '../../toolkit/lib/duration.ts';
import type { Seconds, UnixMs } from '../../toolkit/lib/time.ts';
import { THRESHOLDS } from '../conditions.ts';
import type { Boots, Learned, Machine, NodeHead } from './state.ts';

/** The machine after newer records, in any order. */
export function afterRecords(before: Machine, records: readonly MachineRecord[]): Machine {
  const byOwn = records.toSorted(([, a, own = a.timestamp], [, b, of = b.timestamp]) => own - of);
  return byOwn.reduce(afterRecord, before);
}

export function afterRecord(before: Machine, one: MachineRecord): Machine {
  const [process, record, own] = one;
  const { ahead = {}, ...learned } = learn(before, one);
  const { [process]: _, ...others } = ahead;
  const after = own === undefined ? others : { ...others, [process]: own };
  const isAhead = Object.keys(after).length > 0;
  return { ...before, [process]: record, learned: { ...learned, ...(isAhead && { ahead: after }) } };
}

/**
 * By how much the clock of the machine is fast, if these records show it.
 * @param records Those that count
 */
export function secondsAhead(records: Partial<Machine>, { ahead = {} }: Learned = {}): Seconds | undefined {
  const each = PROCESSES.flatMap((one) => (ahead[one] && records[one] ? [ahead[one] - records[one].timestamp] : []));
  return each.length > 0 ? Math.max(...each) : undefined;
}

function learn({ learned = {}, system }: Machine, record: MachineRecord): Learned {
  if (record[0] === 'node') return learnFromNode(learned, record[1]);
  if (record[0] === 'validator') return learned;
  return learnFromBoots(learnFromNetwork(learned, system, record[1]), system, record[1]);
}

function learnFromNode(learned: Learned, node: NodeRecord): Learned {
  const after = node.sync_eth1_connected ? { ...learned, executionClient: clientOf(node) } : learned;
  const { sync_beacon_head_slot: slot, timestamp: at } = node;
  if (slot == null) return after;
  const head = { at, slot, isSynced: node.sync_eth2_synced ?? false };
  const { head: before, chain: known } = learned;
  const own = chainInStep(head, head.isSynced ? SLOTS_PER_DAY : NEAR_SLOTS);
  if (!head.isSynced && !own) return after;
  const wait = known && known !== own ? OTHER_CHAIN_SECONDS : MIN_PAIR_SECONDS;
  if (before && at - before.at < wait) return after;
  const chain = before && chainFollowed(before, head);
  return { ...after, head, ...(chain && { chain }) };
}

/** Pushes come once a minute, so this is at least two of them. */
const MIN_PAIR_SECONDS = 120;
/** Two nodes under one name take turns: another chain counts only after so long without a head of the known one. */
const OTHER_CHAIN_SECONDS = 600;
const SLOTS_PER_DAY = SECONDS_PER_DAY / SECONDS_PER_SLOT;
/** Prysm's own pusher says synced only in the slot of the head, so a head this near the clock needs no flag. */
const NEAR_SLOTS = THRESHOLDS.head_lag_slots;
/** A head waits for late and missed blocks, and then moves several slots at once. */
const UNEVEN_SLOTS = 5;

/**
 * The chain on which both heads are within a day of the clock, or near it if the node does not say that it is synced, if
 * the node moved from one to the other at the speed of the chain. A node that syncs can say that it is synced (Prysm, Nimbus and Lodestar do), but moves a hundred times as
 * fast.
 */
function chainFollowed(before: NodeHead, head: NodeHead): Chain | undefined {
  const expected = (head.at - before.at) / SECONDS_PER_SLOT;
  if (Math.abs(head.slot - before.slot - expected) > Math.max(UNEVEN_SLOTS, expected / 2)) return undefined;
  const slots = before.isSynced && head.isSynced ? SLOTS_PER_DAY : NEAR_SLOTS;
  const chain = chainInStep(head, slots);
  return chain === chainInStep(before, slots) ? chain : undefined;
}

/** The chain whose clock the head is so near. */
export function chainInStep(head: NodeHead, slots = SLOTS_PER_DAY): Chain | undefined {
  return CHAIN_NAMES.find((chain) => Math.abs(slotsBehind(chain, head)) <= slots);
}

/** How far a head is behind the clock of the chain. */
export function slotsBehind(chain: Chain, { at, slot }: NodeHead): number {
  return (at - CHAINS[chain].genesis) / SECONDS_PER_SLOT - slot;
}

/** Lodestar recomputes its boot time for each record (api-facts 1.3). */
const SAME_BOOT_SECONDS = 5;
const WITHHELD_SECONDS = 600;
const HOUR_SECONDS = MS_PER_HOUR / 1000;
const NETWORK_COUNTERS = ['network_node_bytes_total_receive', 'network_node_bytes_total_transmit'] as const;

/**
 * Network counters that fall although the machine was not rebooted can belong to another container of the machine: two
 * processes under one name each push the counters of their own interface, and the service keeps either.
 */
function learnFromNetwork(learned: Learned, held: SystemRecord | undefined, record: SystemRecord): Learned {
  const booted = (one: SystemRecord | undefined): number => one?.misc_node_boot_ts_seconds ?? Number.NaN;
  const isSameBoot = Math.abs(booted(record) - booted(held)) <= SAME_BOOT_SECONDS;
  const isLess = NETWORK_COUNTERS.some((field) => (record[field] ?? Number.NaN) < (held?.[field] ?? Number.NaN));
  if (!isSameBoot || !isLess) return learned;
  const { timestamp: at } = record;
  const isAgain = learned.networkFell && at - learned.networkFell.at <= HOUR_SECONDS;
  return { ...learned, networkFell: { at, until: at + (isAgain ? HOUR_SECONDS : WITHHELD_SECONDS) } };
}

/** NTP and Lodestar move a boot time by seconds. */
const OTHER_BOOT_SECONDS = 60;

/**
 * A boot time that steps back is that of another host under the same name, or of a board without a clock chip, which
 * steps forth to a new value when it has the time. Only two hosts come back to the same value, again and again.
 */
function learnFromBoots(learned: Learned, held: SystemRecord | undefined, record: SystemRecord): Learned {
  const boots = held ? bootsAfter(learned.boots, held, record) : learned.boots;
  if (!boots || record.timestamp >= boots.until) return learned;
  return { ...learned, boots: { ...boots, disk: fullerDisk(boots.disk, record) } };
}

function bootsAfter(known: Boots | undefined, held: SystemRecord, record: SystemRecord): Boots | undefined {
  const [before, boot] = [held.misc_node_boot_ts_seconds, record.misc_node_boot_ts_seconds];
  // A reboot comes after the record before it.
  if (!before || !boot || Math.abs(boot - before) <= OTHER_BOOT_SECONDS || boot >= held.timestamp) return known;
  const { from = 0, returnedAt = 0, isShared = false, until = 0, disk } = known ?? {};
  const { timestamp: at } = record;
  const isBack = boot < before;
  const isReturn = !isBack && Math.abs(boot - from) <= SAME_BOOT_SECONDS;
  const isAgain = isReturn && at - returnedAt <= SECONDS_PER_DAY;
  const withheldSeconds = isBack || at >= until ? WITHHELD_SECONDS : 0;
  return {
    from: isBack ? before : from,
    returnedAt: isReturn ? at : returnedAt,
    isShared: isAgain || (isShared && at < until),
    until: Math.max(until, at + (isAgain ? SECONDS_PER_DAY : withheldSeconds)),
    disk,
  };
}

/** The fuller disk of two hosts. Pushers of 60 and 62 s under one name take turns of half an hour. */
function fullerDisk(known: Boots['disk'], record: SystemRecord): Boots['disk'] {
  const { timestamp: at, misc_node_boot_ts_seconds: boot } = record;
  const { disk_node_bytes_free: free, disk_node_bytes_total: total } = record;
  if (boot == null || free == null || !total) return known;
  const isOther = known && at - known.at <= HOUR_SECONDS && Math.abs(boot - known.boot) > SAME_BOOT_SECONDS;
  return isOther && known.free / known.total <= free / total ? known : { at, boot, free, total };
}

export function isNetworkWithheld({ learned }: Partial<Machine>, now: UnixMs): boolean {
  return learned?.networkFell !== undefined && now < learned.networkFell.until * 1000;
}

/** The boot times of a machine if its counters are withheld at `now` because of them. */
function bootsAt({ learned }: Partial<Machine>, now: UnixMs): Boots | undefined {
  return learned?.boots && now < learned.boots.until * 1000 ? learned.boots : undefined;
}

export function isNameShared(machine: Partial<Machine>, now: UnixMs): boolean {
  return bootsAt(machine, now)?.isShared ?? false;
}

const NO_NETWORK = { network_node_bytes_total_receive: null, network_node_bytes_total_transmit: null };
/** Values that count from the boot of one host, and its time. */
const NO_COUNTERS = {
  ...NO_NETWORK,
  misc_node_boot_ts_seconds: null,
  cpu_node_system_seconds_total: null,
  cpu_node_user_seconds_total: null,
  cpu_node_iowait_seconds_total: null,
  cpu_node_idle_seconds_total: null,
  disk_node_io_seconds: null,
  disk_node_reads_total: null,
  disk_node_writes_total: null,
} as const satisfies Partial<SystemRecord>;

function systemInstead(machine: Machine, now: UnixMs): Partial<SystemRecord> | undefined {
  const boots = bootsAt(machine, now);
  if (!boots) return isNetworkWithheld(machine, now) ? NO_NETWORK : undefined;
  if (!boots.isShared || !boots.disk) return NO_COUNTERS;
  return { ...NO_COUNTERS, disk_node_bytes_free: boots.disk.free, disk_node_bytes_total: boots.disk.total };
}

/**
 * The machine without meaningless values: null gives no sample. The "no" of a client that never said that its execution
 * client is connected means nothing: today's Teku and Lighthouse always say no (api-facts 1.6).
 */
export function trusted(machine: Machine, now: UnixMs): Machine {
  const { system, node, learned } = machine;
  const instead = system && systemInstead(machine, now);
  const hasSaidConnected = node && isDeepStrictEqual(learned?.executionClient, clientOf(node));
  return {
    ...machine,
    ...(instead && { system: { ...system, ...instead } }),
    ...(node && !hasSaidConnected && { node: { ...node, sync_eth1_connected: null } }),
  };
}

function clientOf({ client_name, client_version }: NodeRecord): [name: string, version: string] {
  return [client_name ?? '', client_version ?? ''];
}
