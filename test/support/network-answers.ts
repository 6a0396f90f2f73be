/** As api-facts 11.2 has it. */
export const NETWORK_PERFORMANCE = {
  data: {
    beaconscore: { total: 0.9951, attestation: 0.9949, proposal: 0.9962, sync_committee: 0.9958 },
    duties: {
      attestation: {
        included: 215_700_000,
        assigned: 216_000_000,
        missed: 300_000,
        correct_head: 212_800_000,
        correct_source: 215_500_000,
        correct_target: 215_300_000,
        valuable_correct_head: 212_700_000,
        valuable_correct_source: 215_400_000,
        valuable_correct_target: 215_200_000,
        avg_inclusion_delay: 0.012,
        avg_inclusion_delay_excluding_missed_slots: 0.008,
      },
      sync_committee: { successful: 3_655_000, assigned: 3_672_064, missed: 17_064 },
      proposal: { successful: 7_172, assigned: 7_200, missed: 28, included_slashings: 0 },
    },
    finality: 'finalized',
  },
  range: {
    slot: { start: 15_680_000, end: 15_687_199 },
    epoch: { start: 490_000, end: 490_224 },
    timestamp: { start: 1_794_984_023, end: 1_795_070_422 },
  },
};

/** As api-facts 11.3 has it: in the form of v2.1, with a queue of which nothing is known, and in the form before it. */
const CHURN = { amount: '256000000000000000000', interval_seconds: 384 };
export const QUEUES = {
  data: {
    deposit_queue: {
      deposit_count: 1_200,
      deposit_balance: '38400000000000000000000',
      topup_count: 250,
      topup_balance: '1600000000000000000000',
      estimated_processed_at: { epoch: 490_657, timestamp: 1_795_236_311 },
      churn: CHURN,
    },
    exit_queue: {
      count: 400,
      balance: '12800000000000000000000',
      estimated_processed_at: { epoch: 490_550, timestamp: 1_795_195_223 },
      churn: CHURN,
    },
    manual_withdrawal_queue: { count: 'many', balance: null },
    finality: 'not_finalized',
  },
};
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
