import type { dutiesIn } from '../../../src/sandbox/epoch-duties.ts';
import { rewardsFor } from '../../../src/sandbox/rewards.ts';

type Duties = ReturnType<typeof dutiesIn>[number];

/** What one validator adds in one epoch to each counter, by the name and label in a scrape. Amounts in wei. */
export type Added = Readonly<Record<string, bigint>>;

export function dutiesOf(one: Duties): Added {
  return {
    'attestations_total status="included"': BigInt(one.included),
    'attestations_total status="missed"': BigInt(one.assigned - one.included),
    'correct_votes_total vote="head"': BigInt(one.correct.head),
    'correct_votes_total vote="source"': BigInt(one.correct.source),
    'correct_votes_total vote="target"': BigInt(one.correct.target),
  };
}

export function rewardsOf(one: Duties, effective: bigint): Added {
  const { head, source, target, sync, proposal } = rewardsFor(one, effective);
  const included = proposal.attestation_inclusion_reward + proposal.sync_inclusion_reward;
  return {
    'rewards_ether_total duty="attestation"': head.reward + source.reward + target.reward,
    'rewards_ether_total duty="sync_committee"': sync.reward,
    'rewards_ether_total duty="proposal"': included + proposal.slashing_inclusion_reward,
    'rewards_ether_total duty="execution"': proposal.execution_layer_reward,
    'penalties_ether_total duty="attestation"': head.penalty + source.penalty + target.penalty,
    'penalties_ether_total duty="sync_committee"': sync.penalty,
    'missed_rewards_ether_total duty="attestation"': head.missed + source.missed + target.missed,
    'missed_rewards_ether_total duty="sync_committee"': sync.missed,
    'missed_rewards_ether_total duty="proposal"': proposal.missed_cl_reward + proposal.missed_el_reward,
  };
}
