import { DUMPED_NOW } from '../../../src/commands/probe/impersonal.ts';
import {
  CHAINS,
  type Chain,
  EPOCHS_PER_DAY,
  EPOCHS_PER_SYNC_COMMITTEE_PERIOD,
  epochAt,
  SECONDS_PER_EPOCH,
  SLOTS_PER_EPOCH,
  slotTime,
} from '../../../src/lib/chain.ts';
import { SECONDS_PER_DAY } from '../../../src/lib/duration.ts';
import { isObject } from '../../../src/lib/is-object.ts';
import { isMilliseconds, type UnixMs } from '../../../src/lib/time.ts';

/** By how much the values of a field move. 0: it is neither a time nor a number of the chain. */
type Move = (field: string) => number;

/** The fields that count time on the chain, and by how much they grow in an epoch. */
const PER_EPOCH: readonly (readonly [field: RegExp, perEpoch: number])[] = [
  [/^(\w+_)?slot$/, SLOTS_PER_EPOCH],
  [/^(\w+_)?epoch$/, 1],
  [/^day$/, 1 / EPOCHS_PER_DAY],
  [/^period$/, 1 / EPOCHS_PER_SYNC_COMMITTEE_PERIOD],
  [/^(timestamp|exec_timestamp|day_start|day_end)$/, SECONDS_PER_EPOCH],
];

/** Moves data of a chain by whole epochs, so that they still fit its genesis. */
export function byEpochs(epochs: number): Move {
  return (field) => epochs * (PER_EPOCH.find(([pattern]) => pattern.test(field))?.[1] ?? 0);
}

/** Moves the times of machine records from the time of a dump to `now`, and their head slots with the chain. */
export function machinesTo(now: UnixMs, headEpochs: number): Move {
  const seconds = Math.floor(now / 1000) - DUMPED_NOW;
  return (field) => {
    if (field === 'sync_beacon_head_slot') return headEpochs * SLOTS_PER_EPOCH;
    return field === 'timestamp' || field === 'misc_node_boot_ts_seconds' ? seconds : 0;
  };
}

/** The value with its times moved. Their form stays: seconds or milliseconds, number or digits. */
export function moved(value: unknown, move: Move, field = ''): unknown {
  if (Array.isArray(value)) return value.map((item) => moved(item, move, field));
  if (isObject(value)) {
    // The bounds of `range.slot` are slots.
    const fieldOf = (name: string): string => (name === 'start' || name === 'end' ? field : name);
    return Object.fromEntries(
      Object.entries(value).map(([name, member]) => [name, moved(member, move, fieldOf(name))]),
    );
  }
  const by = move(field);
  if (by === 0) return value;
  if (typeof value === 'string' && /^\d+$/.test(value)) return String(moved(Number(value), move, field));
  if (typeof value !== 'number') return value;
  return value + by * (isMilliseconds(value) ? 1000 : 1);
}

/** How many epochs the block of this slot has to move until it is less than an epoch old. */
export function epochsToHead(chain: Chain, slot: number, now: UnixMs): number {
  return Math.floor((now / 1000 - slotTime(chain, slot)) / SECONDS_PER_EPOCH);
}

/** How many epochs this day has to move until it is the newest one that is over. */
export function epochsToNewestDay(chain: Chain, day: number, now: UnixMs): number {
  const current = Math.floor((now / 1000 - CHAINS[chain].genesis) / SECONDS_PER_DAY);
  return (current - 1 - day) * EPOCHS_PER_DAY;
}

/** How many epochs this sync committee period has to move until it is the current one. */
export function epochsToPeriod(chain: Chain, period: number, now: UnixMs): number {
  const current = Math.floor(epochAt(chain, now) / EPOCHS_PER_SYNC_COMMITTEE_PERIOD);
  return (current - period) * EPOCHS_PER_SYNC_COMMITTEE_PERIOD;
}
