import { epochTime, SECONDS_PER_EPOCH } from '../facts/chain.ts';
import type { UnixMs } from '../toolkit/lib/time.ts';
import type { QueuesBody } from './body.ts';
import { epochOf, headSlot } from './chain-world.ts';
import type { Sandbox } from './world.ts';

const ETHER = '0'.repeat(18);
/** Ether that leaves a queue in an epoch. */
const CHURN = 256;

/** POST /api/v2/ethereum/queues (api-facts 11.3). The queues always have the same length. */
export function queues(_: Sandbox, { chain }: QueuesBody, now: UnixMs): string {
  const endOf = (ether: number) => {
    const epoch = epochOf(headSlot(chain, now)) + Math.ceil(ether / CHURN);
    const churn = { amount: `${CHURN}${ETHER}`, interval_seconds: SECONDS_PER_EPOCH };
    return { estimated_processed_at: { epoch, timestamp: epochTime(chain, epoch) }, churn };
  };
  const deposits = { deposit_count: 1_200, deposit_balance: `38400${ETHER}` };
  const topups = { topup_count: 250, topup_balance: `1600${ETHER}` };
  return JSON.stringify({
    data: {
      deposit_queue: { ...deposits, ...topups, ...endOf(40_000) },
      exit_queue: { count: 400, balance: `12800${ETHER}`, ...endOf(12_800) },
      finality: 'not_finalized',
    },
  });
}
