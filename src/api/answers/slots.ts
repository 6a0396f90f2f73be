import * as z from 'zod';

const Index = z.number().int().nonnegative();
const ZeroIfNone = Index.nullish().transform((count) => count ?? 0);
const Quantity = z.number().nonnegative().nullish();
/**
 * A number that is added up. Without a limit, absurd numbers (1e308) would add up to Infinity, which JSON cannot
 * represent.
 */
const Summand = z.number().nonnegative().max(Number.MAX_SAFE_INTEGER).nullish();
/** In lower case, because roots are compared. */
const Root = z.string().transform((root) => root.toLowerCase());

/** api-facts 5.1: scheduled (or missed and not yet final), proposed, missed, orphaned. */
const SlotStatus = z.union([z.string(), z.number().int().transform(String)]).pipe(z.enum(['0', '1', '2', '3']));

/** Indices are kept in typed arrays of 32 bits, in which a larger number would become another validator. */
function isValidatorIndex(value: unknown): value is number {
  return Number.isInteger(value) && Number(value) >= 0 && Number(value) < 2 ** 32;
}

/** As a number or as its digits. */
const ValidatorIndex = z.union([z.number(), z.string().regex(/^\d+$/).transform(Number)]).refine(isValidatorIndex);

/** Absent if the proposer is unknown. A row without a proposer is still valid for its slot. */
const Proposer = ValidatorIndex.optional().catch(undefined);

/** One row of an epoch: a slot can have several. Only the fields that are used. */
export const SlotRow = z
  .object({
    slot: Index,
    epoch: Index,
    status: SlotStatus,
    proposer: Proposer,
    blockroot: Root.nullish(),
    parentroot: Root.nullish(),
    attestationscount: ZeroIfNone,
    attesterslashingscount: ZeroIfNone,
    proposerslashingscount: ZeroIfNone,
    depositscount: ZeroIfNone,
    voluntaryexitscount: ZeroIfNone,
    withdrawalcount: ZeroIfNone,
    syncaggregate_participation: Quantity,
    /** 512 bits. Other text has no meaning, and the rest of the row is still valid. */
    syncaggregate_bits: z
      .string()
      .regex(/^0x[0-9a-f]{128}$/i)
      .nullish()
      .catch(undefined),
    exec_base_fee_per_gas: Quantity,
    exec_block_number: Quantity,
    exec_gas_limit: Quantity,
    exec_gas_used: Summand,
    exec_transactions_count: Summand,
  })
  .refine((row) => row.status !== '1' || row.blockroot, 'a proposed block must have a root');
export type SlotRow = z.infer<typeof SlotRow>;

/** v1 envelope (api-facts 5); an error with status 200 has `data: null`. */
export const V1List = z.object({ data: z.array(z.unknown()) });

/** One check for the list: a schema for each of up to 131,072 numbers would block the event loop for 250 ms. */
const Indices = z
  .custom<number[]>((value) => Array.isArray(value) && value.every(isValidatorIndex))
  .transform((list) => Uint32Array.from(list));

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

/** api-facts 8.1. Only the fields that are used. */
export const ProposerSlashing = z.object({ block_root: Root, proposerindex: ValidatorIndex });
