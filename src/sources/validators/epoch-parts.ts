import type * as z from 'zod';
import { EpochDutiesRow, EpochRewardsRow } from '../../api/answers/epochs.ts';
import { VOTES } from '../duties.ts';
import { weiOfAll } from '../sums.ts';
import type { Ledger, OwnDuties, OwnRewards, Validators } from './state.ts';

/** What to count of each row of an epoch. */
export interface EpochPart<Row, Own> {
  /** Also its key in the value. */
  readonly name: 'epoch_duties' | 'epoch_rewards';
  readonly endpoint: 'validators_performance_list' | 'validators_rewards_list';
  readonly row: z.ZodType<Row>;
  /** What a row adds to the counters of its group. Undefined if unknown, which adds nothing. */
  added(row: Row): readonly (readonly [counter: string, amount: bigint | undefined])[];
  /** What to keep of a validator before its first row. */
  none(validator: number, epoch: number): Own;
  /** What to keep of one validator after a row. Undefined for nothing. */
  own(validator: number, row: Row, before: Own | undefined, epoch: number): Own | undefined;
  /** The value with this ledger. */
  with(value: Validators, ledger: Ledger & { readonly validators: Own[] }): Validators;
  of(value: Validators): (Ledger & { readonly validators: readonly Own[] }) | undefined;
}

export const LAST_EPOCHS = 10;

export const EPOCH_DUTIES: EpochPart<EpochDutiesRow, OwnDuties> = {
  name: 'epoch_duties',
  endpoint: 'validators_performance_list',
  row: EpochDutiesRow,
  added({ duties }) {
    const { attestation: own } = duties ?? {};
    const counts = [own?.included, own?.missed, own?.correct_head, own?.correct_source, own?.correct_target];
    const names = ['included', 'missed', ...VOTES];
    return names.map((name, i) => [name, counts[i] == null ? undefined : BigInt(counts[i])] as const);
  },
  none: (validator, epoch) => [validator, epoch, 0, 0, null],
  own(validator, { duties }, before, epoch) {
    const { assigned, missed } = duties?.attestation ?? {};
    if (missed == null || assigned === 0) return before;
    const [, newest, recent, all, lastMissed] = before ?? this.none(validator, epoch);
    // After a gap, earlier misses are not recent.
    const bits = (((epoch - newest > LAST_EPOCHS ? 0 : recent) << 1) | Number(missed > 0)) & (2 ** LAST_EPOCHS - 1);
    // Beyond this the state could not be read.
    const sum = Math.min(all + missed, Number.MAX_SAFE_INTEGER);
    return [validator, epoch, bits, sum, missed > 0 ? epoch : lastMissed];
  },
  with: (value, epoch_duties) => ({ ...value, epoch_duties }),
  of: ({ epoch_duties }) => epoch_duties,
};

type Maybe = string | null | undefined;

const DUTY_AMOUNTS: Readonly<Record<string, (row: EpochRewardsRow) => readonly Maybe[]>> = {
  'rewards attestation': ({ attestation: own }) => VOTES.map((vote) => own?.[vote]?.reward),
  'rewards sync_committee': ({ sync_committee }) => [sync_committee?.reward],
  'rewards proposal': ({ proposal }) => [
    proposal?.attestation_inclusion_reward,
    proposal?.sync_inclusion_reward,
    proposal?.slashing_inclusion_reward,
  ],
  'rewards execution': ({ proposal }) => [proposal?.execution_layer_reward],
  'penalties attestation': ({ attestation: own }) => [
    ...VOTES.map((vote) => own?.[vote]?.penalty),
    own?.inactivity_leak_penalty,
  ],
  'penalties sync_committee': ({ sync_committee }) => [sync_committee?.penalty],
  'missed attestation': ({ attestation: own }) => VOTES.map((vote) => atLeastNone(own?.[vote]?.missed_reward)),
  'missed sync_committee': ({ sync_committee }) => [atLeastNone(sync_committee?.missed_reward)],
  'missed proposal': ({ proposal }) => [proposal?.missed_cl_reward, proposal?.missed_el_reward].map(atLeastNone),
};

/** An estimate below 0 counts as 0, so that no counter falls. */
function atLeastNone(estimate: Maybe): Maybe {
  return estimate?.startsWith('-') ? '0' : estimate;
}

export const EPOCH_REWARDS: EpochPart<EpochRewardsRow, OwnRewards> = {
  name: 'epoch_rewards',
  endpoint: 'validators_rewards_list',
  row: EpochRewardsRow,
  added: (row) =>
    Object.entries(DUTY_AMOUNTS).map(([name, amounts]) => {
      const wei = weiOfAll(amounts(row));
      return [name, wei === undefined ? undefined : BigInt(wei)] as const;
    }),
  none: (validator) => [validator, '0', '0'],
  own(validator, { total_reward, total_penalty }, before, epoch) {
    const sum = (all: string, more: Maybe): string => String(BigInt(all) + BigInt(more ?? 0));
    const [, rewards, penalties] = before ?? this.none(validator, epoch);
    return [validator, sum(rewards, total_reward), sum(penalties, total_penalty)];
  },
  with: (value, epoch_rewards) => ({ ...value, epoch_rewards }),
  of: ({ epoch_rewards }) => epoch_rewards,
};
