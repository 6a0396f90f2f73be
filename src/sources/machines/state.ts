import * as z from 'zod';
import { NodeRecord, PROCESSES, SystemRecord, ValidatorRecord } from '../../api/answers/machines.ts';
import { CHAIN_NAMES } from '../../facts/chain.ts';
import type { UnixSeconds } from '../../toolkit/lib/time.ts';

/** A head of a node that said that it is synced, or that was near the clock of a chain. */
const NodeHead = z.object({
  /** Unix seconds. */
  at: z.number(),
  slot: z.number(),
  isSynced: z.boolean().exactOptional(),
});
export type NodeHead = z.infer<typeof NodeHead>;

/** Boot times that are not all of one host. Unix seconds; 0 for none. */
const Boots = z.object({
  /** The boot time before the last step back, and when it last returned to that value. */
  from: z.number(),
  returnedAt: z.number(),
  /** Whether it returned twice in a day. */
  isShared: z.boolean(),
  /** Until when to withhold the counters of the system. */
  until: z.number(),
});
export type Boots = z.infer<typeof Boots>;

/** Facts from earlier records of a machine that help to interpret its newest ones. */
export const Learned = z.object({
  /** The chain that its own node follows. */
  chain: z.enum(CHAIN_NAMES).exactOptional(),
  /** The head to compare the next ones with. */
  head: NodeHead.exactOptional(),
  /** Name and version of the client that last reported a connected execution client. */
  executionClient: z.tuple([z.string(), z.string()]).exactOptional(),
  /** When another pusher last reported these counters, and until when to withhold them (Unix seconds). `size`: that of the disk. */
  fell: z.record(z.string(), z.object({ at: z.number(), until: z.number() })).exactOptional(),
  boots: Boots.exactOptional(),
  /** The record whose gauges to show while pushers of the host take turns. */
  fuller: SystemRecord.exactOptional(),
  /** The times of the held records by the machine's fast clock. The records count with the time of a sweep. */
  ahead: z.partialRecord(z.enum(PROCESSES), z.number()).exactOptional(),
  /** The latest times of records by a fast clock: until then the service has them, even once the clock is right. */
  queued: z.partialRecord(z.enum(PROCESSES), z.number()).exactOptional(),
});
export type Learned = z.infer<typeof Learned>;

/** The newest record of each process of one machine. */
export const Machine = z.object({
  /** The label: see `machineName`. */
  name: z.string(),
  system: SystemRecord.optional(),
  validator: ValidatorRecord.optional(),
  node: NodeRecord.optional(),
  learned: Learned.optional(),
});
export type Machine = z.infer<typeof Machine>;

/** A list instead of an object by name, because a machine may be called `__proto__`. */
export const Machines = z.object({
  machines: z.array(Machine),
  /** How many names the last sweep left out because of `machines.max`. */
  dropped: z.number(),
  /** When the last sweep that read all new records began; Unix seconds. */
  beganAt: z.number().optional(),
  /** When the last sweep that looked for late records began; Unix ms. */
  lateAt: z.number().optional(),
  /** Unknown names that are expected or listed, and when each was requested (Unix ms). 0 if not yet. */
  asked: z.array(z.tuple([z.string(), z.number()])).optional(),
});
export type Machines = z.infer<typeof Machines>;

/** The time of the newest record of any process. 0 without one. */
export function lastSeen(records: Partial<Machine>): UnixSeconds {
  return Math.max(...PROCESSES.map((process) => records[process]?.timestamp ?? 0));
}
