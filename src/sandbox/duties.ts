import { type Chain, EPOCHS_PER_DAY, epochTime, SLOTS_PER_EPOCH } from '../facts/chain.ts';
import type { UnixMs } from '../toolkit/lib/time.ts';
import type { AggregateBody } from './body.ts';
import { epochsRange, headEpoch, isMissed, proposerOf, wei } from './chain-world.ts';
import { existing, silentEpochs } from './validators.ts';
import type { Sandbox } from './world.ts';

/** How many of the included votes are correct, and what one earns, in gwei as in published samples (api-facts 11.1). */
const VOTES = {
  head: { correct: 0.985, gwei: 2_408 },
  source: { correct: 0.999, gwei: 2_437 },
  target: { correct: 0.997, gwei: 4_526 },
} as const;
/**
 * What a block earns, in gwei: a thousandth of published samples, because the validators of the demo propose thousands of
 * times as often as real ones.
 */
const BLOCK = { attestations: 43_947, signatures: 1_617, execution: 35_087 } as const;
const SLOTS_PER_DAY = EPOCHS_PER_DAY * SLOTS_PER_EPOCH;

type Day = Readonly<Record<'assigned' | 'included' | 'blocks' | 'proposed', number>>;

/** About those of mainnet. */
const DAY_OF_NETWORK: Day = { assigned: 216_000_000, included: 215_697_600, blocks: SLOTS_PER_DAY, proposed: 7_128 };

/** POST /api/v2/ethereum/validators/performance-aggregate (api-facts 10.2). Every evaluation window is that of a day. */
export function performance(sandbox: Sandbox, asked: AggregateBody, now: UnixMs): string {
  return performanceAnswer(asked.chain, dayOf(sandbox, asked, now), now);
}

/** POST /api/v2/ethereum/performance-aggregate (api-facts 11.2): all validators of the chain. */
export function networkPerformance(_: Sandbox, { chain }: { readonly chain: Chain }, now: UnixMs): string {
  return performanceAnswer(chain, DAY_OF_NETWORK, now);
}

function performanceAnswer(chain: Chain, { assigned, included, blocks, proposed }: Day, now: UnixMs): string {
  const score = included / assigned;
  const proposal = blocks === 0 ? null : proposed / blocks;
  const votes = Object.entries(VOTES).map(([vote, { correct }]) => [`correct_${vote}`, Math.floor(included * correct)]);
  const attestation = {
    included,
    assigned,
    missed: assigned - included,
    ...Object.fromEntries(votes),
    avg_inclusion_delay: included === 0 ? null : 0.012,
  };
  const data = {
    beaconscore: { total: score, attestation: score, proposal, sync_committee: null },
    duties: {
      attestation,
      sync_committee: { successful: 0, assigned: 0, missed: 0 },
      proposal: { successful: proposed, assigned: blocks, missed: blocks - proposed, included_slashings: 0 },
    },
  };
  return JSON.stringify({ data, range: rangeOf(chain, now) });
}

/**
 * POST /api/v2/ethereum/validators/rewards-aggregate (api-facts 11.1), without the sums and details that the exporter
 * does not read. A missed vote for source or target costs what a correct one earns.
 */
export function rewards(sandbox: Sandbox, asked: AggregateBody, now: UnixMs): string {
  const { assigned, included, blocks, proposed } = dayOf(sandbox, asked, now);
  const { head, source, target } = VOTES;
  const missedVotes = assigned - included;
  const penalty = missedVotes * (source.gwei + target.gwei);
  const missedBlocks = blocks - proposed;
  const { attestations, signatures, execution } = BLOCK;
  const data = {
    total_penalty: wei(penalty),
    attestation: {
      total: wei(included * (head.gwei + source.gwei + target.gwei) - penalty),
      head: { missed_reward: wei(missedVotes * head.gwei) },
      source: { missed_reward: wei(missedVotes * source.gwei) },
      target: { missed_reward: wei(missedVotes * target.gwei) },
    },
    sync_committee: { total: wei(0), missed_reward: wei(0) },
    proposal: {
      execution_layer_reward: wei(proposed * execution),
      attestation_inclusion_reward: wei(proposed * attestations),
      sync_inclusion_reward: wei(proposed * signatures),
      slashing_inclusion_reward: wei(0),
      missed_cl_reward: wei(missedBlocks * (attestations + signatures)),
      missed_el_reward: wei(missedBlocks * execution),
    },
  };
  return JSON.stringify({ data, range: rangeOf(asked.chain, now) });
}

function dayOf(sandbox: Sandbox, { chain, validator }: AggregateBody, now: UnixMs): Day {
  const world = sandbox.chains[chain];
  const all = existing(sandbox, validator.validator_identifiers);
  const { slot, epoch } = rangeOf(chain, now);
  const assigned = all.length * EPOCHS_PER_DAY;
  const missed = all.reduce((sum, index) => sum + silentEpochs(world, index, epoch.end, EPOCHS_PER_DAY), 0);
  const slots = Array.from({ length: SLOTS_PER_DAY }, (_, i) => slot.start + i);
  const asked = new Set(all);
  const own = slots.filter((at) => asked.has(proposerOf(world, at)));
  const proposed = own.filter((at) => !isMissed(world, at)).length;
  return { assigned, included: assigned - missed, blocks: own.length, proposed };
}

/** The finalized epochs of the last day. */
function rangeOf(chain: Chain, now: UnixMs) {
  const last = headEpoch(chain, now) - 2;
  return epochsRange(chain, last + 1 - EPOCHS_PER_DAY, last);
}

/** Ether that leaves a queue in an epoch. */
const CHURN = 256;

/** POST /api/v2/ethereum/queues (api-facts 11.3). The queues always have the same length. */
export function queues(_: Sandbox, { chain }: { readonly chain: Chain }, now: UnixMs): string {
  const endOf = (ether: number) => {
    const epoch = headEpoch(chain, now) + Math.ceil(ether / CHURN);
    return { estimated_processed_at: { epoch, timestamp: epochTime(chain, epoch) } };
  };
  const deposits = { deposit_count: 1_200, deposit_balance: wei(38_400e9) };
  const topups = { topup_count: 250, topup_balance: wei(1_600e9) };
  return JSON.stringify({
    data: {
      deposit_queue: { ...deposits, ...topups, ...endOf(40_000) },
      exit_queue: { count: 400, balance: wei(12_800e9), ...endOf(12_800) },
    },
  });
}
