import { ENDPOINTS } from '../../src/api/endpoints.ts';
import { NO_WAIT } from '../../src/budget/bucket.ts';
import type { Ledger } from '../../src/budget/ledger.ts';
import { type Attempt, type Entry, sourceId } from '../../src/scheduler/entry.ts';
import { DailyReturns } from '../../src/sources/daily-returns/index.ts';
import { Machines } from '../../src/sources/machines/state.ts';
import { Network } from '../../src/sources/network/index.ts';
import { Slashings } from '../../src/sources/slashings/state.ts';
import type { Source } from '../../src/sources/source.ts';
import { SyncCommittee } from '../../src/sources/sync-committee/index.ts';
import { Validators } from '../../src/sources/validators/state.ts';
import { datapoint } from '../support/answers/datapoint.ts';
import { nodeRecord, systemRecord, validatorRecord } from '../support/answers/machine-records.ts';
import { entryOf } from '../support/runs/known.ts';
import { DAY, HOUR, MINUTE, NOW } from '../support/time/timing.ts';

/** A name with all that a label value must survive. */
export const ODD_NAME = 'rack "7"\\Zürich\n机器 <b>{x="y"}</b> # EOF';

/** Every field that makes a series. */
const machines: Machines = Machines.parse({
  machines: [
    {
      name: 'node-a',
      system: systemRecord({ disk_node_io_seconds: 12345.678, exporter_version: '0.1.0' }),
      validator: validatorRecord({
        client_build: 44,
        exporter_version: '0.1.0',
        sync_eth2_fallback_configured: true,
        sync_eth2_fallback_connected: false,
      }),
      node: nodeRecord({
        network_libp2p_bytes_total_receive: 812345678901,
        network_libp2p_bytes_total_transmit: 712345678901,
        sync_eth1_fallback_configured: true,
        sync_eth1_fallback_connected: true,
        sync_eth2_fallback_configured: false,
      }),
      learned: { executionClient: ['lighthouse', '8.0.0'] },
    },
    { name: ODD_NAME, system: systemRecord({ machine: ODD_NAME, disk_node_bytes_free: 0, cpu_cores: 0.5 }) },
    // Silent since two hours: its values are withdrawn.
    { name: 'hoodi-1', node: nodeRecord({ machine: 'hoodi-1', timestamp: NOW - 2 * HOUR }) },
  ],
  dropped: 3,
});

/** As of a head slot; the counters are multiples of `scale`. */
function slashings(headSlot: number, scale: number): Slashings {
  const headEpoch = Math.floor(headSlot / 32);
  return Slashings.parse({
    head: {
      slot: headSlot,
      epoch: headEpoch,
      syncaggregate_participation: 0.9921875,
      exec_base_fee_per_gas: 20_662_807_983,
      exec_gas_used: 11_704_811,
      exec_gas_limit: 30_000_000,
      exec_transactions_count: 145,
      exec_block_number: 19_768_739,
    },
    headEpoch,
    finalizedEpoch: headEpoch - 2,
    isFinalityDue: false,
    scannedEpoch: headEpoch - 3,
    reads: [],
    seen: [['0xabc', headSlot - 1_800]],
    slashed: [
      [12_345, headSlot - 1_800],
      [70_000, headSlot - 1_800],
    ],
    proposerSlashed: [],
    slashedByStatus: [{ validator: 12_345, reportedSlot: (headEpoch - 55) * 32 }],
    namedSlots: [],
    recent: [],
    // The second is not on the list of mainnet, the first not on that of hoodi.
    missedProposals: [
      [12_345, headSlot - 900],
      [42, headSlot - 96],
    ],
    lastAttesterSlashingSlot: headSlot - 1_800,
    lastProposerSlashingSlot: headSlot - 28_800,
    totals: {
      slots: { proposed: 7_100 * scale, missed: 60 * scale, orphaned: 8 * scale },
      watchedProposals: { proposed: 11 * scale, missed: 2 * scale, orphaned: scale },
      syncDuties: { participated: 310 * scale, missed: 7 * scale },
      attestations: 56_800 * scale,
      deposits: 31 * scale,
      voluntaryExits: 12 * scale,
      withdrawals: 113_600 * scale,
      transactions: 1_234_567 * scale,
      gasUsed: 212_345_678_901 * scale,
      attesterSlashings: { double_vote: 2 * scale, surround_vote: scale, unknown: 0 },
      slashedValidators: 5 * scale,
      proposerSlashings: scale,
      skippedEpochs: 4 * scale,
    },
  });
}

const committee: SyncCommittee = SyncCommittee.parse({
  period: {
    number: 1_871,
    epoch: { start: 478_976, end: 479_231 },
    timestamp: { start: 1_790_750_807, end: 1_790_849_110 },
  },
});

/** One validator of the list of mainnet, offline for three epochs. */
const validators: Validators = Validators.parse({
  validators: [
    {
      index: 12_345,
      status: 'active_ongoing',
      online: false,
      balance: '32002422501000000000',
      effectiveBalance: '32000000000000000000',
      epoch: 479_021,
      askedAt: NOW - 30_000,
      offlineSince: 479_018,
    },
  ],
  duties: [
    {
      watch: '12345-12345',
      askedAt: NOW - 30_000,
      at: NOW - 12 * MINUTE,
      sums: {
        duties: {
          attestation: { assigned: 225, missed: 4, done: 221 },
          proposal: { assigned: 0, missed: 0, done: 0 },
          sync_committee: { assigned: 7_200, missed: 12, done: 7_188 },
        },
        scores: { total: 0.98, attestation: 0.9812, sync_committee: 0.9983 },
        votes: { head: 215, source: 221, target: 220 },
        inclusionDelay: 0.00904977,
      },
    },
  ],
  rewards: [
    {
      watch: '12345-12345',
      askedAt: NOW - 30_000,
      at: NOW - 12 * MINUTE,
      sums: {
        earned: { attestation: '2070000000000001', proposal: '0', sync_committee: '-118000000000000' },
        missed: { attestation: '36000000000000', proposal: '0', sync_committee: '590000000000000' },
        execution: '35087332222696592',
        penalties: '146000000000000',
        epoch: 479_019,
      },
    },
  ],
  committees: [
    { period: 1_871, seats: [7, 12_345, 500_000, 12_345] },
    { period: 1_872, seats: [9, 8] },
  ],
});

const network: Network = Network.parse({
  performance: {
    epoch: 479_018,
    sums: {
      duties: {
        attestation: { assigned: 216_000_000, missed: 300_000, done: 215_700_000 },
        proposal: { assigned: 7_200, missed: 28, done: 7_172 },
        sync_committee: { assigned: 3_672_064, missed: 17_064, done: 3_655_000 },
      },
      scores: { total: 0.9951, attestation: 0.9949, proposal: 0.9962, sync_committee: 0.9958 },
      votes: { head: 212_800_000, source: 215_500_000, target: 215_300_000 },
      inclusionDelay: 0.012,
    },
  },
  queues: {
    at: NOW - 30_000,
    deposit: { count: 1_200, balance: '38400000000000000000000', end: 1_790_935_000 },
    topup: { count: 250, balance: '1600000000000000000000', end: null },
    exit: { count: 400, balance: '12800000000000000000000', end: 1_790_894_000 },
  },
});

const VALUES: Readonly<Record<string, unknown>> = {
  machines,
  'daily_returns-mainnet': DailyReturns.parse({ newest: datapoint() }),
  'daily_returns-hoodi': DailyReturns.parse({ newest: datapoint({ day: 560, deposits: null, apr: {} }) }),
  'slashings-mainnet': slashings(15_328_803, 1),
  'slashings-hoodi': slashings(4_046_355, 3),
  'sync_committee-mainnet': committee,
  'validators-mainnet': validators,
  'network-mainnet': network,
};

/** How each source stands at `NOW`: most well, one failing, one not yet tried. */
export function entriesOf(sources: readonly Source[]): Map<string, Entry> {
  const tried = { durationMs: 1_250, lastAttemptAt: NOW - 30_000, lastSuccessAt: NOW - 28_750 };
  const failing: Partial<Attempt> = {
    failuresInARow: 2,
    lastSuccessAt: NOW - 10 * MINUTE,
    lastError: { at: NOW - 28_750, reason: 'timeout', message: 'epoch_slots: timeout (made up)' },
  };
  return new Map(
    sources.flatMap((source): [string, Entry][] => {
      const id = sourceId(source);
      const value = VALUES[id];
      if (value === undefined) return [];
      const isFailing = id === 'slashings-hoodi';
      const isDated = source.reads.some(({ endpoints }) => endpoints.some((one) => 'dated' in ENDPOINTS[one]));
      const behind = isDated && { behindMs: isFailing ? 17_640_000 : 0 };
      return [[id, entryOf(source, { ...tried, ...behind, ...(isFailing && failing) }, { value })]];
    }),
  );
}

/** An account on a plan with a quota, and a second bucket. */
export const ledger: Ledger = {
  buckets: {
    default: {
      limits: { second: 5, month: 100_000 },
      remaining: { second: 4, month: 87_654 },
      resetAt: NOW + 500,
      wait: NO_WAIT,
      firstUseAt: NOW - HOUR,
      month: { limit: 100_000, remaining: 87_654, own: 12_000, since: NOW - DAY },
    },
    'odd "bucket"': { limits: { second: 2, hour: 500 }, remaining: { second: 1 }, wait: NO_WAIT },
  },
  routes: {},
  otherRoutes: 'default',
  key: { fingerprint: '', standing: 'valid', since: NOW, mayProbe: false, validHeader: true },
};
