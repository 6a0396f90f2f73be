import type { RewardsAnswer } from '../../api/answers/validators.ts';
import type { Chain } from '../../facts/chain.ts';
import { etherOf } from '../../facts/ether.ts';
import type { Family, Labels, Sample } from '../../toolkit/exposition/family.ts';
import { DUTIES, VOTES } from '../duties.ts';
import { family, sample, UNPROVEN } from '../families.ts';
import { weiOfAll } from '../sums.ts';
import type { FreshSums, PerDuty, Rewards } from './state.ts';

type Data = RewardsAnswer['data'];
type Amounts = readonly (string | null | undefined)[];

const EARNED: Readonly<Record<keyof PerDuty, (data: Data) => Amounts>> = {
  attestation: ({ attestation }) => [attestation?.total],
  proposal: ({ proposal }) => [
    proposal?.attestation_inclusion_reward,
    proposal?.sync_inclusion_reward,
    proposal?.slashing_inclusion_reward,
  ],
  sync_committee: ({ sync_committee }) => [sync_committee?.total],
};

const MISSED: Readonly<Record<keyof PerDuty, (data: Data) => Amounts>> = {
  attestation: ({ attestation }) => VOTES.map((vote) => attestation?.[vote]?.missed_reward),
  proposal: ({ proposal }) => [proposal?.missed_cl_reward, proposal?.missed_el_reward],
  sync_committee: ({ sync_committee }) => [sync_committee?.missed_reward],
};

export function rewardsOf(answers: readonly RewardsAnswer[]): Rewards {
  const sum = (amountsOf: (data: Data) => Amounts): string | undefined =>
    weiOfAll(answers.flatMap(({ data }) => amountsOf(data)));
  const perDuty = (of: typeof EARNED): PerDuty => Object.fromEntries(DUTIES.map((duty) => [duty, sum(of[duty])]));
  return {
    earned: perDuty(EARNED),
    missed: perDuty(MISSED),
    missedVotes: Object.fromEntries(
      VOTES.map((vote) => [vote, sum(({ attestation }) => [attestation?.[vote]?.missed_reward])]),
    ),
    execution: sum(({ proposal }) => [proposal?.execution_layer_reward]),
    penalties: sum(({ total_penalty }) => [total_penalty]),
    leak: sum(({ attestation }) => [attestation?.inactivity_leak_penalty]),
    epoch: answers.length > 0 ? Math.min(...answers.map(({ range }) => range.epoch)) : undefined,
  };
}

export function rewardFamilies(
  chain: Chain,
  shown: readonly { readonly labels: Labels; readonly rewards: FreshSums<Rewards> | undefined }[],
): Family[] {
  const gauge = (name: string, help: string, samples: readonly Sample[]): Family =>
    family(`watched_validators_${name}`, `${help}. ${UNPROVEN}`, samples);
  const each = (pick: (rewards: Rewards) => string | undefined, more: Labels = {}): Sample[] =>
    shown.flatMap(({ labels, rewards }) => {
      const wei = rewards && pick(rewards.sums);
      return wei === undefined ? [] : sample(chain, etherOf(wei), { ...labels, ...more }, rewards?.until);
    });
  const byDuty = (of: 'earned' | 'missed'): Sample[] =>
    DUTIES.flatMap((duty) => each((rewards) => rewards[of][duty], { duty }));
  const epochs = shown.flatMap(({ rewards }) => rewards?.sums.epoch ?? []);
  const until = Math.min(...shown.flatMap(({ rewards }) => rewards?.until ?? []));
  return [
    gauge(
      'rewards_ether',
      'Consensus rewards minus penalties of the watched validators in the last 24 hours (attestation.total, sync_committee.total, proposal.attestation_inclusion_reward, proposal.sync_inclusion_reward, proposal.slashing_inclusion_reward)',
      byDuty('earned'),
    ),
    gauge(
      'execution_rewards_ether',
      'Execution rewards of the watched validators in the last 24 hours (proposal.execution_layer_reward)',
      each(({ execution }) => execution),
    ),
    gauge(
      'penalties_ether',
      'Penalties of the watched validators in the last 24 hours, as a positive number (total_penalty)',
      each(({ penalties }) => penalties),
    ),
    gauge(
      'missed_rewards_ether',
      'Rewards that the watched validators missed in the last 24 hours; for proposals an estimate of the service (attestation.head.missed_reward, attestation.source.missed_reward, attestation.target.missed_reward, sync_committee.missed_reward, proposal.missed_cl_reward, proposal.missed_el_reward)',
      byDuty('missed'),
    ),
    gauge(
      'missed_vote_rewards_ether',
      'Rewards that the watched validators missed in the last 24 hours by vote: a lost head means late, a lost target broken (attestation.head.missed_reward, attestation.source.missed_reward, attestation.target.missed_reward)',
      VOTES.flatMap((vote) => each(({ missedVotes }) => missedVotes[vote], { vote })),
    ),
    gauge(
      'inactivity_penalties_ether',
      'Inactivity penalties of the watched validators in the last 24 hours, as a positive number (attestation.inactivity_leak_penalty)',
      each(({ leak }) => leak),
    ),
    gauge(
      'rewards_epoch',
      'Last epoch of the oldest shown rewards (range.epoch.end)',
      sample(chain, epochs.length > 0 ? Math.min(...epochs) : undefined, {}, until),
    ),
  ];
}
