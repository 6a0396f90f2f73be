import * as z from 'zod';
import type { RewardsAnswer } from '../../api/answers/validators.ts';
import { etherOf } from '../../facts/ether.ts';
import type { Family, Labels, Sample } from '../../toolkit/exposition/family.ts';
import { DUTIES } from '../duties.ts';
import { family, UNPROVEN } from '../families.ts';

/** A sum of wei over many answers, as a decimal string. */
const Sum = z.string().regex(/^-?\d{1,40}$/);
const PerDuty = z.partialRecord(z.enum(DUTIES), Sum);

/** What some validators earned and missed in the last 24 hours. Persisted. What is not known of all of them is absent. */
export const Rewards = z.object({
  /** On the consensus layer, rewards minus penalties. */
  earned: PerDuty,
  missed: PerDuty,
  execution: Sum.exactOptional(),
  penalties: Sum.exactOptional(),
  /** The last epoch of the oldest answer. */
  epoch: z.number().exactOptional(),
});
export type Rewards = z.infer<typeof Rewards>;

type Data = RewardsAnswer['data'];
type Amounts = readonly (string | null | undefined)[];
type Duty = (typeof DUTIES)[number];

const EARNED: Readonly<Record<Duty, (data: Data) => Amounts>> = {
  attestation: ({ attestation }) => [attestation?.total],
  proposal: ({ proposal }) => [
    proposal?.attestation_inclusion_reward,
    proposal?.sync_inclusion_reward,
    proposal?.slashing_inclusion_reward,
  ],
  sync_committee: ({ sync_committee }) => [sync_committee?.total],
};

const MISSED: Readonly<Record<Duty, (data: Data) => Amounts>> = {
  attestation: ({ attestation }) =>
    [attestation?.head, attestation?.source, attestation?.target].map((vote) => vote?.missed_reward),
  proposal: ({ proposal }) => [proposal?.missed_cl_reward, proposal?.missed_el_reward],
  sync_committee: ({ sync_committee }) => [sync_committee?.missed_reward],
};

/** Pure. The sums over several answers. */
export function rewardsOf(answers: readonly RewardsAnswer[]): Rewards {
  const sum = (amountsOf: (data: Data) => Amounts): string | undefined =>
    sumOf(answers.flatMap(({ data }) => amountsOf(data)));
  const perDuty = (amounts: typeof EARNED): z.infer<typeof PerDuty> =>
    Object.fromEntries(
      DUTIES.flatMap((duty) => {
        const wei = sum(amounts[duty]);
        return wei === undefined ? [] : [[duty, wei]];
      }),
    );
  const execution = sum(({ proposal }) => [proposal?.execution_layer_reward]);
  const penalties = sum(({ total_penalty }) => [total_penalty]);
  return {
    earned: perDuty(EARNED),
    missed: perDuty(MISSED),
    ...(execution !== undefined && { execution }),
    ...(penalties !== undefined && { penalties }),
    ...(answers.length > 0 && { epoch: Math.min(...answers.map(({ range }) => range.epoch)) }),
  };
}

/** Exact. Undefined if there is none, or one of them is not known. */
function sumOf(amounts: Amounts): string | undefined {
  const known = amounts.filter((wei) => wei != null);
  if (known.length === 0 || known.length < amounts.length) return undefined;
  return String(known.reduce((sum, wei) => sum + BigInt(wei), 0n));
}

/** Those whose rewards are shown. */
interface Shown {
  readonly labels: Labels;
  readonly rewards: Rewards;
}

export function rewardFamilies(chain: string, shown: readonly Shown[]): Family[] {
  const ether = (labels: Labels, wei: string | undefined): Sample[] =>
    wei === undefined ? [] : [{ labels, value: etherOf(wei) }];
  const one = (name: string, help: string, pick: (rewards: Rewards) => string | undefined): Family =>
    family(
      `watched_validators_${name}`,
      `${help}. ${UNPROVEN}`,
      shown.flatMap(({ labels, rewards }) => ether(labels, pick(rewards))),
    );
  const each = (name: string, help: string, pick: (rewards: Rewards) => Rewards['earned']): Family =>
    family(
      `watched_validators_${name}`,
      `${help}. ${UNPROVEN}`,
      shown.flatMap(({ labels, rewards }) => DUTIES.flatMap((duty) => ether({ ...labels, duty }, pick(rewards)[duty]))),
    );
  const epochs = shown.flatMap(({ rewards: { epoch } }) => epoch ?? []);
  return [
    each(
      'rewards_ether',
      'Rewards minus penalties of the watched validators on the consensus layer in the last 24 hours; can be negative (attestation.total, sync_committee.total; of proposals attestation_, sync_ and slashing_inclusion_reward)',
      ({ earned }) => earned,
    ),
    one(
      'execution_rewards_ether',
      'Rewards of the watched validators on the execution layer in the last 24 hours (proposal.execution_layer_reward)',
      ({ execution }) => execution,
    ),
    one(
      'penalties_ether',
      'Penalties of the watched validators in the last 24 hours, as a positive number (total_penalty)',
      ({ penalties }) => penalties,
    ),
    each(
      'missed_rewards_ether',
      'Rewards that the watched validators missed in the last 24 hours; of proposals the estimate of the service (attestation.head, source and target.missed_reward, sync_committee.missed_reward, proposal.missed_cl_reward and missed_el_reward)',
      ({ missed }) => missed,
    ),
    family(
      'watched_validators_rewards_epoch',
      `Last epoch of the 24 hours of the oldest answer about rewards that is shown (range.epoch.end). ${UNPROVEN}`,
      epochs.length > 0 ? [{ labels: { chain }, value: Math.min(...epochs) }] : [],
    ),
  ];
}
