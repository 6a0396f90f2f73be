import * as z from 'zod';
import {
  Count,
  Index,
  isValidatorIndex,
  List,
  orOdd,
  Quantity,
  Root,
  Share,
  ValidatorIndex as ValidatorNumber,
} from './fields.ts';

const ZeroIfNone = Count.nullish().transform((count) => count ?? 0);
/** Null if unreadable: there may be some. */
const Announced = orOdd(ZeroIfNone, null);

/** api-facts 5.1: scheduled (or missed and not yet final), proposed, missed, orphaned. */
const STATUSES = ['0', '1', '2', '3'] as const;

/** An unknown status counts as scheduled, so the exporter reads the slot again. */
const SlotStatus = z
  .union([z.string(), z.int().transform(String)])
  .nullable()
  .transform((status) => STATUSES.find((one) => one === status) ?? '0');

/** A number, or a text of digits. */
const ValidatorIndex = z.union([ValidatorNumber, z.string().regex(/^\d+$/).transform(Number).pipe(ValidatorNumber)]);

/** One row of an epoch, with the fields that the exporter uses. A slot can have several rows. */
export const SlotRow = z
  .object({
    slot: Index,
    epoch: Index,
    status: SlotStatus,
    /** Some slots have none; the row still counts for its slot. */
    proposer: ValidatorIndex.nullish(),
    blockroot: Root.nullish(),
    parentroot: Root.nullish(),
    attestationscount: ZeroIfNone,
    attesterslashingscount: Announced,
    proposerslashingscount: Announced,
    depositscount: ZeroIfNone,
    voluntaryexitscount: ZeroIfNone,
    withdrawalcount: ZeroIfNone,
    syncaggregate_participation: Share.nullish(),
    /** 512 bits. */
    syncaggregate_bits: z
      .string()
      .regex(/^0x[0-9a-f]{128}$/i)
      .nullish(),
    exec_base_fee_per_gas: Quantity.nullish(),
    exec_block_number: Count.nullish(),
    exec_gas_limit: Count.nullish(),
    exec_gas_used: Count.nullish(),
    exec_transactions_count: Count.nullish(),
  })
  .refine((row) => row.status !== '1' || row.blockroot, 'a proposed block must have a root');
export type SlotRow = z.infer<typeof SlotRow>;

/** v1 envelope (api-facts 5); an error with status 200 has `data: null`. */
export const V1List = z.object({ data: List });

/** One check for the list: a schema for each of up to 131,072 numbers would block the event loop for 250 ms. */
const Indices = z
  .custom<number[]>((value) => Array.isArray(value) && value.every(isValidatorIndex))
  .transform((list) => Uint32Array.from(list));

/** api-facts 5.2. Without signatures, which do not identify a slashing. */
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

/** api-facts 8.1. */
export const ProposerSlashing = z.object({ block_root: Root, proposerindex: ValidatorIndex });
