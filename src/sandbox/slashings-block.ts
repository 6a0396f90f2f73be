import type { Chain } from '../facts/chain.ts';
import { between, hexOf, unit } from '../toolkit/lib/random.ts';

/** Execution block number minus slot, about that of the real chains in 2025. */
const BLOCK_NUMBER_OFFSET: Record<Chain, number> = { mainnet: 10_774_538, hoodi: -40_000 };
const GAS_LIMIT = 60_000_000;

/** As long as the fields that the exporter does not read. A row of the service has about 4 kB. */
const UNREAD = { exec_logs_bloom: `0x${'0'.repeat(3_000)}` };

/** The root of the canonical block of a slot. */
export function rootOf(seed: number, slot: number): string {
  return hexOf(32, seed, slot, 2);
}

/** The fields of a block row (api-facts 5.1) that concern neither slashings nor the chain itself. */
export function blockFields(chain: Chain, seed: number, slot: number): object {
  const id = [seed, slot, 100];
  const silent = between(0, 15, 1, ...id);
  return {
    attestationscount: between(5, 8, 3, ...id),
    depositscount: 0,
    voluntaryexitscount: unit(4, ...id) < 0.05 ? between(1, 16, 5, ...id) : 0,
    withdrawalcount: 16,
    syncaggregate_bits: `0x${'ff'.repeat(62)}${((0xffff << silent) & 0xffff).toString(16)}`,
    syncaggregate_participation: (512 - silent) / 512,
    exec_base_fee_per_gas: baseFee(seed, slot),
    exec_block_number: slot + BLOCK_NUMBER_OFFSET[chain],
    exec_gas_limit: GAS_LIMIT,
    exec_gas_used: between(0.25 * GAS_LIMIT, 0.75 * GAS_LIMIT, 11, ...id),
    exec_transactions_count: between(80, 400, 12, ...id),
    ...UNREAD,
  };
}

/** Wei: a daily wave between 0.3 and 1.9 gwei, with noise. */
function baseFee(seed: number, slot: number): number {
  return Math.round(1e9 * (1 + 0.7 * Math.sin(slot / 1146) + 0.2 * unit(seed, slot, 101)));
}

/** The same fields without a block: counts are 0, the rest is null (api-facts 5.1). */
export const EMPTY_FIELDS = Object.fromEntries(
  Object.keys(blockFields('mainnet', 0, 0)).map((name) => [name, /count$|_participation$/.test(name) ? 0 : null]),
);
