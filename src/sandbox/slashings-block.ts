import { type Chain, slotTime } from '../lib/chain.ts';
import { between, hexOf, unit } from '../lib/random.ts';

const GRAFFITI = [
  '',
  'Lighthouse/v8.0.0-e3ee7fe',
  'teku/v25.11.0',
  'Nimbus/v25.11.0-1a2b3c-stateofus',
  'Lodestar-v1.36.0/lodestar',
  'solo staker <3',
  'TK7569',
];
const ODD_GRAFFITI = ['ⓢⓣⓐⓚⓔ 🦓', '"quoted\\" \n{label="x"}', 'INVALID_UTF8_STRING'];
const INVALID_BYTES = `0x${'ff00c3'.repeat(10)}fe00`;
const BUILDERS = ['beaverbuild.org', 'Titan (titanbuilder.xyz)', 'geth', 'rsync-builder.xyz'];

/** Execution block number minus slot, about that of the real chains in 2025. */
const BLOCK_NUMBER_OFFSET: Record<Chain, number> = { mainnet: 10_774_538, hoodi: -40_000 };
const GAS_LIMIT = 60_000_000;

/** The root of the canonical block of a slot. */
export function rootOf(seed: number, slot: number): string {
  return hexOf(32, seed, slot, 2);
}

/** The fields of a block row (api-facts 5.1) that concern neither slashings nor the chain itself. */
export function blockFields(chain: Chain, seed: number, slot: number, parent: number): object {
  const id = (slotOf: number): readonly number[] => [seed, slotOf, 100];
  const silent = between(0, 15, 1, ...id(slot));
  return {
    stateroot: hexOf(32, 2, ...id(slot)),
    attestationscount: between(5, 8, 3, ...id(slot)),
    depositscount: 0,
    voluntaryexitscount: unit(4, ...id(slot)) < 0.05 ? between(1, 16, 5, ...id(slot)) : 0,
    withdrawalcount: 16,
    eth1data_blockhash: hexOf(32, 6, ...id(slot)),
    eth1data_depositroot: hexOf(32, 7, ...id(slot)),
    eth1data_depositcount: 2_045_305,
    ...graffiti(seed, slot),
    randaoreveal: hexOf(96, 8, ...id(slot)),
    signature: hexOf(96, 9, ...id(slot)),
    syncaggregate_bits: `0x${'ff'.repeat(62)}${((0xffff << silent) & 0xffff).toString(16)}`,
    syncaggregate_signature: hexOf(96, 10, ...id(slot)),
    syncaggregate_participation: (512 - silent) / 512,
    exec_base_fee_per_gas: baseFee(seed, slot),
    exec_block_number: slot + BLOCK_NUMBER_OFFSET[chain],
    exec_gas_limit: GAS_LIMIT,
    exec_gas_used: between(0.25 * GAS_LIMIT, 0.75 * GAS_LIMIT, 11, ...id(slot)),
    exec_timestamp: slotTime(chain, slot),
    exec_transactions_count: between(80, 400, 12, ...id(slot)),
    exec_block_hash: hexOf(32, 13, ...id(slot)),
    exec_parent_hash: hexOf(32, 13, ...id(parent)),
    exec_random: hexOf(32, 14, ...id(slot)),
    exec_receipts_root: hexOf(32, 15, ...id(slot)),
    exec_state_root: hexOf(32, 16, ...id(slot)),
    exec_logs_bloom: hexOf(256, 17, ...id(slot)),
    exec_extra_data: `0x${Buffer.from(pick(BUILDERS, 18, ...id(slot))).toString('hex')}`,
    exec_fee_recipient: hexOf(20, 19, ...id(slot)),
  };
}

/** Wei: a daily wave between 0.3 and 1.9 gwei, with noise. */
function baseFee(seed: number, slot: number): number {
  return Math.round(1e9 * (1 + 0.7 * Math.sin(slot / 1146) + 0.2 * unit(seed, slot, 101)));
}

/** Text from unknown proposers, sometimes with characters that are hard to handle (api-facts 5.1). */
function graffiti(seed: number, slot: number): object {
  const text = pick(unit(seed, slot, 102) < 0.03 ? ODD_GRAFFITI : GRAFFITI, seed, slot, 103);
  const bytes = `0x${Buffer.from(text).toString('hex').padEnd(64, '0')}`;
  return { graffiti: text === 'INVALID_UTF8_STRING' ? INVALID_BYTES : bytes, graffiti_text: text };
}

function pick(choices: readonly string[], ...parts: readonly number[]): string {
  return choices[between(0, choices.length - 1, ...parts)] ?? '';
}

/** The same fields without a block: null, except for counts and text (api-facts 5.1). */
export const EMPTY_FIELDS = Object.fromEntries(
  Object.keys(blockFields('mainnet', 0, 0, 0)).map((name) => [name, emptyOf(name)]),
);

function emptyOf(name: string): 0 | '' | null {
  if (name === 'graffiti_text') return '';
  return /count$|_participation$/.test(name) ? 0 : null;
}
