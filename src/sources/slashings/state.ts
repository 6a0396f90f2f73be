import * as z from 'zod';
import { Wei } from '../../api/answers/fields.ts';
import type { SlotRow } from '../../api/answers/slots.ts';
import { Index, Slashed } from '../slashed.ts';

const Figure = z.number().nonnegative().nullish();

export interface EpochRows {
  readonly epoch: number;
  /** The canonical row of each slot, ascending. */
  readonly rows: readonly SlotRow[];
  /** Every row, including those of forks. */
  readonly allRows: readonly SlotRow[];
}

export const KINDS = ['double_vote', 'surround_vote', 'unknown'] as const;
export type Kind = (typeof KINDS)[number];

export const SLOT_STATUSES = ['proposed', 'missed', 'orphaned'] as const;

/** The outcome of a slot that was assigned to a watched validator. */
const Proposal = z.object({ slot: Index, validator: Index, status: z.enum(SLOT_STATUSES) });
export type Proposal = z.infer<typeof Proposal>;

/** The shown fields of the newest canonical block, named as in the response. */
export const Head = z.object({
  slot: Index,
  epoch: Index,
  syncaggregate_participation: Figure,
  exec_base_fee_per_gas: Figure,
  exec_gas_used: Figure,
  exec_gas_limit: Figure,
  exec_transactions_count: Figure,
  exec_block_number: Figure,
});
export type Head = z.infer<typeof Head>;

const Total = z.number().nonnegative();

const PerStatus = z.object({ proposed: Total, missed: Total, orphaned: Total });

const SlashingTotals = z.object({
  slots: PerStatus,
  watchedProposals: PerStatus,
  /** Seats of watched validators in sync committees. */
  syncDuties: z.object({ participated: Total, missed: Total }),
  attestations: Total,
  deposits: Total,
  voluntaryExits: Total,
  withdrawals: Total,
  transactions: Total,
  gasUsed: Total,
  attesterSlashings: z.object({ double_vote: Total, surround_vote: Total, unknown: Total }),
  slashedValidators: Total,
  proposerSlashings: Total,
  skippedEpochs: Total,
});
export type SlashingTotals = z.infer<typeof SlashingTotals>;

/** A slashing as shown, with some of its validators if there are very many. */
const RecentSlashing = z.object({
  slot: Index,
  kind: z.enum([...KINDS, 'proposer']),
  /** The watched ones first. */
  validators: z.array(Index),
  count: Index,
});
export type RecentSlashing = z.infer<typeof RecentSlashing>;

/** What the builder paid, or the fees of the transactions if the proposer built the block. */
export const PAYMENTS = ['mev', 'fees'] as const;

/** A block of a watched validator with an unread payment. */
const OpenBlock = z.object({
  slot: Index,
  validator: Index,
  /** On the execution layer. */
  number: Index,
  /** How long it has been tried. Absent before the first try. */
  triedMs: z.number().exactOptional(),
});
export type OpenBlock = z.infer<typeof OpenBlock>;

/** A block of a watched validator and its payment. Null if unknown. */
const OwnBlock = z.object({
  slot: Index,
  validator: Index,
  kind: z.enum(PAYMENTS),
  wei: Wei.nullable(),
  recipient: z.string().nullable(),
});
export type OwnBlock = z.infer<typeof OwnBlock>;

/** A sum of wei, as a decimal string. */
const Sum = z.string().regex(/^\d{1,40}$/);

const OwnBlocks = z.object({
  /** By slot, like `last`. */
  open: z.array(OpenBlock),
  last: z.array(OwnBlock),
  unread: Total,
  /** By the group at the time of reading. `''` for none. */
  earned: z.array(z.object({ group: z.string(), mev: Sum, fees: Sum })),
});
export type OwnBlocks = z.infer<typeof OwnBlocks>;

const Tried = z.object({ epochMs: z.number(), namesMs: z.number() });
export type Tried = z.infer<typeof Tried>;

export const Slashings = z.object({
  head: Head.optional(),
  /** The latest epoch in the last response. */
  headEpoch: Index.optional(),
  /** Whether the last response about the latest epoch was an empty list. */
  wasHeadEmpty: z.boolean().optional(),
  /** The epoch that has just ended, until it is read once more by number. */
  passedEpoch: Index.optional(),
  finalizedEpoch: Index.optional(),
  /** Whether the head epoch has advanced since the finalized view was last read. */
  isFinalityDue: z.boolean().optional(),
  /** When the finalized view was last read (Unix ms). */
  finalityReadAt: z.number().optional(),
  /** The epochs of each stop that are beyond `catch_up`, ascending. Skipped in turn, which lost finality delays. */
  stops: z.array(z.object({ from: z.number().int(), to: z.number().int() })),
  /** Set while responses name a lower finality: the epoch of the last one, and the time of the first (Unix ms). */
  lowerFinality: z.object({ epoch: Index, since: z.number(), answers: z.number() }).optional(),
  /** Every finalized epoch up to this one is counted, or counted as skipped. -1 before the first epoch of a chain. */
  scannedEpoch: z.number().int().min(-1).optional(),
  /** How long the next epoch, and the names of its slashed proposers, have been tried. Both may run at once. */
  tried: Tried.optional(),
  /** Blocks above the scanned epoch whose slashings were requested. */
  reads: z.array(z.object({ slot: Index, root: z.string(), tries: z.number(), complete: z.boolean() })),
  /** Identities of counted slashings, each with the slot in which it was first seen. */
  seen: z.array(z.tuple([z.string(), Index])),
  /** Counted validators, each with the slot in which it was first seen slashed. */
  slashed: z.array(z.tuple([Index, Index])),
  /** Validators slashed as a proposer, each with the slot of the block that included it. */
  proposerSlashed: z.array(z.tuple([Index, Index])),
  /** The watched validators that are slashed by their last status. */
  slashedByStatus: z.array(Slashed),
  /** Slots above the scanned epoch whose slashed proposers are known. */
  namedSlots: z.array(Index),
  /** Members of the counted period, in committee order. Empty if unreadable. */
  committee: z.object({ period: Index, seats: z.array(Index) }).optional(),
  /** Watched validators, each with the slot of its newest missed or orphaned proposal. */
  missedProposals: z.array(z.tuple([Index, Index])),
  ownBlocks: OwnBlocks,
  /** The last slashings by slot, ascending. */
  recent: z.array(RecentSlashing),
  lastAttesterSlashingSlot: Index.optional(),
  lastProposerSlashingSlot: Index.optional(),
  totals: SlashingTotals,
});
export type Slashings = z.infer<typeof Slashings>;
