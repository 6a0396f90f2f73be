import { type Duties, VOTES, type Votes } from './epoch-duties.ts';
import { ETHER, GWEI } from './validators-world.ts';

/** Wei. Missed: what a perfect duty would have earned more. */
export interface Earned {
  readonly reward: bigint;
  readonly penalty: bigint;
  readonly missed: bigint;
}

/** What validators earned by duty in any number of epochs. The amounts of proposals have the service's names. */
export interface Rewards extends Readonly<Record<keyof Votes | 'sync', Earned>> {
  readonly proposal: Readonly<Record<ProposalReward, bigint>>;
}

export const PROPOSAL_REWARDS = [
  'execution_layer_reward',
  'attestation_inclusion_reward',
  'sync_inclusion_reward',
  'slashing_inclusion_reward',
] as const;
type ProposalReward = (typeof PROPOSAL_REWARDS)[number] | 'missed_cl_reward' | 'missed_el_reward';

/** What a correct vote earns with 32 ether, in gwei as in published samples (api-facts 11.1). */
const VOTE: Votes = { head: 2_408, source: 2_437, target: 4_526 };
const SEAT = 13_000;
/**
 * What a block earns, in gwei: a thousandth of published samples, because the validators of the demo propose thousands of
 * times as often as real ones.
 */
const BLOCK = { attestations: 43_947, signatures: 1_617, execution: 35_087 } as const;
/** For each validator that a block slashes (consensus-specs, WHISTLEBLOWER_REWARD_QUOTIENT_ELECTRA). */
const SLASHED = (32n * ETHER) / 4096n;

/** What these duties earned validators with this effective balance each. */
export function rewardsFor(duties: Duties, effective: bigint): Rewards {
  const { assigned, valuable, seats, filled, proposals, proposed, slashed, paid } = duties;
  const amount = (count: number, gwei: number): bigint => BigInt(count) * BigInt(gwei) * GWEI;
  // Rewards grow with whole ethers of the balance.
  const scaled = (count: number, gwei: number): bigint => (amount(count, gwei) / 32n) * (effective / ETHER);
  const voted = (vote: keyof Votes): Earned => {
    const missed = scaled(assigned - valuable[vote], VOTE[vote]);
    // A wrong vote for the head costs nothing.
    return { reward: scaled(valuable[vote], VOTE[vote]), penalty: vote === 'head' ? 0n : missed, missed };
  };
  const empty = amount(seats - filled, SEAT);
  const missedBlocks = proposals - proposed;
  return {
    head: voted('head'),
    source: voted('source'),
    target: voted('target'),
    sync: { reward: amount(filled, SEAT), penalty: empty, missed: empty },
    proposal: {
      execution_layer_reward: paid,
      attestation_inclusion_reward: amount(proposed, BLOCK.attestations),
      sync_inclusion_reward: amount(proposed, BLOCK.signatures),
      slashing_inclusion_reward: BigInt(slashed) * SLASHED,
      missed_cl_reward: amount(missedBlocks, BLOCK.attestations + BLOCK.signatures),
      missed_el_reward: amount(missedBlocks, BLOCK.execution),
    },
  };
}

export function addedUp(all: readonly Rewards[]): Rewards {
  const sum = (of: (one: Rewards) => bigint): bigint => all.reduce((total, one) => total + of(one), 0n);
  const part = (which: keyof Votes | 'sync'): Earned => ({
    reward: sum((one) => one[which].reward),
    penalty: sum((one) => one[which].penalty),
    missed: sum((one) => one[which].missed),
  });
  const proposal = (which: ProposalReward): bigint => sum((one) => one.proposal[which]);
  return {
    head: part('head'),
    source: part('source'),
    target: part('target'),
    sync: part('sync'),
    proposal: {
      execution_layer_reward: proposal('execution_layer_reward'),
      attestation_inclusion_reward: proposal('attestation_inclusion_reward'),
      sync_inclusion_reward: proposal('sync_inclusion_reward'),
      slashing_inclusion_reward: proposal('slashing_inclusion_reward'),
      missed_cl_reward: proposal('missed_cl_reward'),
      missed_el_reward: proposal('missed_el_reward'),
    },
  };
}

export function proposalReward({ proposal }: Pick<Rewards, 'proposal'>): bigint {
  return PROPOSAL_REWARDS.reduce((sum, name) => sum + proposal[name], 0n);
}

/** From 0 to 1; null without such a duty. */
export interface Scores {
  readonly total: number | null;
  readonly attestation: number | null;
  readonly proposal: number | null;
  readonly sync_committee: number | null;
}

/** (reward - penalty) / (reward + missed), which is what a published sample shows. */
export function scoresOf(rewards: Rewards): Scores {
  const { sync, proposal } = rewards;
  const votes = VOTES.map((vote) => rewards[vote]);
  const missed = proposal.missed_cl_reward + proposal.missed_el_reward;
  const proposals: Earned = { reward: proposalReward(rewards), penalty: 0n, missed };
  return {
    total: scoreOf([...votes, sync, proposals]),
    attestation: scoreOf(votes),
    proposal: scoreOf([proposals]),
    sync_committee: scoreOf([sync]),
  };
}

function scoreOf(parts: readonly Earned[]): number | null {
  const sum = (of: (one: Earned) => bigint): bigint => parts.reduce((total, one) => total + of(one), 0n);
  const possible = sum(({ reward, missed }) => reward + missed);
  if (possible === 0n) return null;
  const millionths = (sum(({ reward, penalty }) => reward - penalty) * 1_000_000n) / possible;
  return Math.max(0, Number(millionths) / 1e6);
}
