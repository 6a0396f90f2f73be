import { z } from 'zod';

const Index = z.number().int().nonnegative();
const Count = Index.nullish().transform((count) => count ?? 0);
const Quantity = z.number().nonnegative().nullish();
/** What is summed up: sums of numbers that are no counts (1e308) grow beyond what JSON can hold, and the state with them. */
const Summand = z.number().nonnegative().max(Number.MAX_SAFE_INTEGER).nullish();
/** Compared, never shown: one spelling. */
const Root = z.string().transform((root) => root.toLowerCase());

/** api-facts 5.1: scheduled (or missed and not yet final), proposed, missed, orphaned. */
const Status = z.union([z.string(), z.number().int().transform(String)]).pipe(z.enum(['0', '1', '2', '3']));

/** One row of an epoch: a slot can have several. Only the fields that are used. */
export const SlotRow = z
  .object({
    slot: Index,
    epoch: Index,
    status: Status,
    blockroot: Root.nullish(),
    parentroot: Root.nullish(),
    attestationscount: Count,
    attesterslashingscount: Count,
    proposerslashingscount: Count,
    depositscount: Count,
    voluntaryexitscount: Count,
    withdrawalcount: Count,
    syncaggregate_participation: Quantity,
    exec_base_fee_per_gas: Quantity,
    exec_block_number: Quantity,
    exec_gas_limit: Quantity,
    exec_gas_used: Summand,
    exec_transactions_count: Summand,
  })
  .refine((row) => row.status !== '1' || row.blockroot, 'a proposed block has a root');
export type SlotRow = z.infer<typeof SlotRow>;

/** v1 envelope (api-facts 5); an error on a 200 has `data: null` and is no answer. */
export const V1List = z.object({ data: z.array(z.unknown()) });

/** Validators fill typed arrays of 32 bits: what is beyond would come out as another validator. */
function isValidatorIndex(value: unknown): boolean {
  return Number.isInteger(value) && Number(value) >= 0 && Number(value) < 2 ** 32;
}

/** In one check: a schema for each of up to 131,072 numbers holds up the event loop for a quarter of a second. */
const IndexList = z.custom<number[]>((value) => Array.isArray(value) && value.every(isValidatorIndex));

/** Around 2020 the lists came as `{8230,16888}` (api-facts 5.2). */
const Indices = z
  .union([
    IndexList,
    z
      .string()
      .regex(/^\{[\d,]*\}$/)
      .transform((list) => (list === '{}' ? [] : list.slice(1, -1).split(',').map(numberOf)))
      .pipe(IndexList),
  ])
  .transform((list) => Uint32Array.from(list));

/** NaN for nothing, which Number takes for 0. */
function numberOf(digits: string): number {
  return digits === '' ? Number.NaN : Number(digits);
}

/** api-facts 5.2. Signatures do not identify a slashing and are not read. */
export const AttesterSlashing = z.object({
  attestation1_beaconblockroot: Root,
  attestation1_index: Index,
  attestation1_indices: Indices,
  attestation1_slot: Index,
  attestation1_source_epoch: Index,
  attestation1_source_root: Root,
  attestation1_target_epoch: Index,
  attestation1_target_root: Root,
  attestation2_beaconblockroot: Root,
  attestation2_index: Index,
  attestation2_indices: Indices,
  attestation2_slot: Index,
  attestation2_source_epoch: Index,
  attestation2_source_root: Root,
  attestation2_target_epoch: Index,
  attestation2_target_root: Root,
  block_root: Root,
  block_slot: Index,
});
export type AttesterSlashing = z.infer<typeof AttesterSlashing>;

export const KINDS = ['double_vote', 'surround_vote', 'unknown'] as const;
export type Kind = (typeof KINDS)[number];

export const SLOT_STATUSES = ['proposed', 'missed', 'orphaned'] as const;

const Head = z.object({
  slot: Index,
  epoch: Index,
  participation: Quantity,
  baseFeeWei: Quantity,
  gasUsed: Quantity,
  gasLimit: Quantity,
  transactions: Quantity,
  executionBlock: Quantity,
});
export type Head = z.infer<typeof Head>;

const Total = z.number().nonnegative();

/** One look at the finalized view. */
const Look = z.object({
  epoch: Index,
  /** Unix ms. */
  readAt: z.number(),
  /** The latest epoch as the same poll read it. */
  head: Index.optional(),
});
export type Look = z.infer<typeof Look>;

const Totals = z.object({
  slots: z.object({ proposed: Total, missed: Total, orphaned: Total }),
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
export type Totals = z.infer<typeof Totals>;

/** A slashing as it is shown: of very many validators only some are named. */
const RecentSlashing = z.object({
  slot: Index,
  kind: z.enum(KINDS),
  /** The watched ones first. */
  validators: z.array(Index),
  count: Index,
});
export type RecentSlashing = z.infer<typeof RecentSlashing>;

/** All that is known of one chain. Persisted as it is. */
export const Slashings = z.object({
  /** Unix ms of the last poll. */
  polledAt: z.number().optional(),
  /** Unix ms of the last head pass, and of the last one that brought something. */
  headPassAt: z.number().optional(),
  headReadAt: z.number().optional(),
  head: Head.optional(),
  /** The newest epoch that the API reported. */
  headEpoch: Index.optional(),
  /** An older one that the last answer gave; believed when the next answer says so too. */
  headClaim: Index.optional(),
  /**
   * The epoch that passed, to be read once more by number, whether that has brought an answer from before its end, and
   * how many answers were of no use.
   */
  reread: Index.optional(),
  rereadEarly: z.boolean().optional(),
  rereadTries: z.number().optional(),
  finalizedEpoch: Index.optional(),
  /** The head epoch at which the finalized view was last read. */
  finalizedReadAtHead: Index.optional(),
  /** When finality was there: Unix ms, and the head epoch where it was read. How far it may have moved is told by that. */
  finalizedFrom: z.object({ readAt: z.number(), head: Index.optional(), isLate: z.boolean() }).optional(),
  /** What the last look said and nothing else explains; believed when the next look says so too. */
  finalizedClaim: Look.optional(),
  /** Every finalized epoch up to this one is counted (or counted as skipped); -1 before the first of a chain. */
  scannedEpoch: z.number().int().min(-1).optional(),
  /** The scanned epoch is beyond the finalized one, and beyond our clock, since (Unix ms). */
  scannedAheadSince: z.number().optional(),
  /** The next epoch could not be read completely since (Unix ms). */
  stuckSince: z.number().optional(),
  /** Blocks above the scanned epoch whose slashings were asked for. */
  reads: z.array(z.object({ slot: Index, root: z.string(), tries: z.number(), complete: z.boolean() })),
  /** Identities of counted slashings with the slot of their first sight. */
  seen: z.array(z.tuple([z.string(), Index])),
  /** Counted validators with the slot of their first sight. */
  slashed: z.array(z.tuple([Index, Index])),
  /** The last slashings by slot, ascending. */
  recent: z.array(RecentSlashing).default([]),
  lastAttesterSlashingSlot: Index.optional(),
  lastProposerSlashingSlot: Index.optional(),
  totals: Totals,
});
export type Slashings = z.infer<typeof Slashings>;
