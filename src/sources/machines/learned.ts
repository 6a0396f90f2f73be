import { isDeepStrictEqual } from 'node:util';
import { type MachineRecord, type NodeRecord, PROCESSES } from '../../api/answers/machines.ts';
import { CHAIN_NAMES, CHAINS, type Chain, SECONDS_PER_SLOT } from '../../facts/chain.ts';
import { CLOCK_AHEAD_SECONDS } from '../../toolkit/lib/clock.ts';
import { SECONDS_PER_DAY } from '../../toolkit/lib/duration.ts';
import type { Seconds, UnixMs, UnixSeconds } from '../../toolkit/lib/time.ts';
import { THRESHOLDS } from '../conditions.ts';
import { learnFromCounters, ofOnePusher } from './counters.ts';
import type { Learned, Machine, NodeHead } from './state.ts';

/** The machine after newer records, in any order. @param now When they were read. Undefined to accept any time */
export function afterRecords(before: Machine, records: readonly MachineRecord[], now?: UnixMs): Machine {
  const sorted = records.toSorted(([, a], [, b]) => a.timestamp - b.timestamp);
  return sorted.reduce((machine, one) => afterRecord(machine, one, now), before);
}

/**
 * Whether a record is further ahead than clocks differ. Such a record counts with the time of its reading. If the held record is ahead too,
 * our own clock was set back: then only a clock that was fast before is fast.
 */
export function isOfFastClock({ learned, ...held }: Machine, [process, record]: MachineRecord, now?: UnixMs): boolean {
  return isAhead(record, now) && !(isAhead(held[process], now) && learned?.ahead?.[process] === undefined);
}

function isAhead<R extends { timestamp: UnixSeconds }>(record: R | undefined, now = Infinity): record is R {
  return record !== undefined && record.timestamp > now / 1000 + CLOCK_AHEAD_SECONDS;
}

export function afterRecord(before: Machine, one: MachineRecord, now?: UnixMs): Machine {
  const [process, record] = one;
  const { [process]: was, ...ahead } = before.learned?.ahead ?? {};
  const { [process]: until = 0, ...queued } = before.learned?.queued ?? {};
  const { [process]: held } = before;
  const isFast = isOfFastClock(before, one, now);
  // No time is taken back that was shown.
  const counted = isFast
    ? { ...record, timestamp: isAhead(held, now) ? held.timestamp : Math.floor(Number(now) / 1000) }
    : record;
  const last = Math.max(until, isFast ? record.timestamp : 0);
  const {
    ahead: _,
    queued: __,
    ...rest
  } = learn(before, [process, counted] as MachineRecord, isFast || was !== undefined);
  const learned: Learned = {
    ...rest,
    ...someOf('ahead', isFast ? { ...ahead, [process]: record.timestamp } : ahead),
    ...someOf('queued', last > counted.timestamp ? { ...queued, [process]: last } : queued),
  };
  return { ...before, [process]: counted, learned };
}

/** Leaves empty ones out of the state: hardly any clock is fast. */
function someOf(name: 'ahead' | 'queued', times: NonNullable<Learned['ahead']>): Learned {
  return Object.keys(times).length > 0 ? { [name]: times } : {};
}

/** How far the machine's clock is ahead, if these records show it. */
export function secondsAhead({ learned, ...records }: Partial<Machine>): Seconds {
  const { ahead = {} } = learned ?? {};
  return Math.max(0, ...PROCESSES.map((one) => (ahead[one] ?? 0) - (records[one]?.timestamp ?? ahead[one] ?? 0)));
}

function learn(machine: Machine, one: MachineRecord, isFast: boolean): Learned {
  const learned = learnFromCounters(machine, one, isFast);
  return one[0] === 'node' ? learnFromNode(learned, one[1]) : learned;
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

/** At least two pushes, which come once a minute. */
const MIN_PAIR_SECONDS = 120;
/** Two nodes under one name take turns, so another chain counts only after so long without a head of the known chain. */
const OTHER_CHAIN_SECONDS = 600;
const SLOTS_PER_DAY = SECONDS_PER_DAY / SECONDS_PER_SLOT;
/** Prysm's own pusher says synced only in the slot of the head, so a head this close to the clock needs no flag. */
const NEAR_SLOTS = THRESHOLDS.head_lag_slots;
/** A head waits for late and missed blocks, then moves several slots at once. */
const UNEVEN_SLOTS = 5;

/**
 * The chain on which both heads are within a day of the clock (if the node does not say that it is synced: close to the clock), and between
 * which the node moved at the speed of the chain. A syncing node can say that it is synced (Prysm, Nimbus and Lodestar do), but moves a
 * hundred times as fast.
 */
function chainFollowed(before: NodeHead, head: NodeHead): Chain | undefined {
  const expected = (head.at - before.at) / SECONDS_PER_SLOT;
  if (Math.abs(head.slot - before.slot - expected) > Math.max(UNEVEN_SLOTS, expected / 2)) return undefined;
  const slots = before.isSynced && head.isSynced ? SLOTS_PER_DAY : NEAR_SLOTS;
  const chain = chainInStep(head, slots);
  return chain === chainInStep(before, slots) ? chain : undefined;
}

/** The chain whose clock is within `slots` of the head. */
export function chainInStep(head: NodeHead, slots = SLOTS_PER_DAY): Chain | undefined {
  return CHAIN_NAMES.find((chain) => Math.abs(slotsBehind(chain, head)) <= slots);
}

/** How far a head is behind the clock of the chain. */
export function slotsBehind(chain: Chain, { at, slot }: NodeHead): number {
  return (at - CHAINS[chain].genesis) / SECONDS_PER_SLOT - slot;
}

/**
 * The machine without meaningless values, which become null. The "no" of a client that never reported a connected execution client means
 * nothing: today's Teku and Lighthouse always say no (api-facts 1.6).
 */
export function trusted(machine: Machine, now: UnixMs): Machine {
  const { node, learned, ...others } = ofOnePusher(machine, now);
  const hasSaidConnected = node && isDeepStrictEqual(learned?.executionClient, clientOf(node));
  return { ...others, learned, node: node && !hasSaidConnected ? { ...node, sync_eth1_connected: null } : node };
}

function clientOf({ client_name, client_version }: NodeRecord): [name: string, version: string] {
  return [client_name ?? '', client_version ?? ''];
}
