import { type Chain, epochTime, SECONDS_PER_EPOCH } from '../facts/chain.ts';
import type { UnixMs } from '../toolkit/lib/time.ts';
import { headEpoch } from './chain-world.ts';
import type { Sandbox } from './world.ts';

/** POST /api/v2/ethereum/queues (api-facts 11.3), in the form of v2.1. The queues always have the same length. */
export function queues({ chains }: Sandbox, { chain }: { readonly chain: Chain }, now: UnixMs): string {
  const { deposits, topups, exits, withdrawals, churn } = chains[chain].queues;
  const after = (balance: bigint) => {
    const epoch = headEpoch(chain, now) + Number((balance + churn - 1n) / churn);
    return {
      estimated_processed_at: { epoch, timestamp: epochTime(chain, epoch) },
      churn: { amount: String(churn), interval_seconds: SECONDS_PER_EPOCH },
    };
  };
  const deposit_queue = {
    deposit_count: deposits.count,
    deposit_balance: String(deposits.balance),
    topup_count: topups.count,
    topup_balance: String(topups.balance),
    ...after(deposits.balance + topups.balance),
  };
  const exit_queue = { count: exits.count, balance: String(exits.balance), ...after(exits.balance) };
  const manual_withdrawal_queue = { count: withdrawals.count, balance: String(withdrawals.balance) };
  const data = { deposit_queue, exit_queue, manual_withdrawal_queue, finality: 'not_finalized' };
  return JSON.stringify({ data });
}
