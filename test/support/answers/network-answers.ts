import { epochTime } from '../../../src/facts/chain.ts';
import { epochsRange } from '../../../src/sandbox/chain-world.ts';
import { performanceAnswer } from '../../../src/sandbox/duties.ts';
import { queues } from '../../../src/sandbox/queues.ts';
import { Sandbox } from '../../../src/sandbox/world.ts';

/** The example of the documentation. */
export const NETWORK_PERFORMANCE = performanceAnswer(
  {
    assigned: 216_000_000,
    included: 215_700_000,
    delay: 2_588_400,
    delayWithBlock: 1_725_600,
    correct: { head: 212_800_000, source: 215_500_000, target: 215_300_000 },
    valuable: { head: 212_700_000, source: 215_400_000, target: 215_200_000 },
    seats: 3_672_064,
    filled: 3_655_000,
    proposals: 7_200,
    proposed: 7_172,
    slashings: 0,
    slashed: 0,
    paid: 0n,
  },
  { total: 0.9951, attestation: 0.9949, proposal: 0.9962, sync_committee: 0.9958 },
  epochsRange('mainnet', 490_000, 490_224),
);

const { manual_withdrawal_queue, ...documented } = JSON.parse(
  queues(new Sandbox(), { chain: 'mainnet' }, epochTime('mainnet', 490_501) * 1000),
).data;

/** The example of the documentation, which has only the best known queues. */
export const DOCUMENTED_QUEUES = { data: documented };

/** With the queue of which the documentation has the name, and others of which nothing is known. */
export const QUEUES = {
  data: {
    ...documented,
    manual_withdrawal_queue,
    consolidation_queue: { balance: '64000000000000000000' },
    'Not a label': { count: 7 },
    withdrawal_sweep: { last_swept_validator_index: 7 },
  },
};

/** In the form before v2.1 (api-facts 11.3). */
export const LEGACY_QUEUES = {
  data: {
    deposit_queue: {
      churn: '256000000000000000000',
      deposit_count: 1_450,
      balance: '40000000000000000000000',
      estimated_processed_at: 1_795_236_311,
    },
    exit_queue: {
      churn: '256000000000000000000',
      validator_count: 400,
      balance: '12800000000000000000000',
      estimated_processed_at: 1_795_195_223,
    },
    withdrawal_sweep: { last_swept_validator_index: 7, estimated_sweep_delay: 8 },
    finality: 'finalized',
  },
};
