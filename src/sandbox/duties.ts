import { type Chain, EPOCHS_PER_DAY } from '../facts/chain.ts';
import type { UnixMs } from '../toolkit/lib/time.ts';
import { type AggregateBody, type EpochBody, pageOf } from './body.ts';
import { epochsRange, finalizedEpoch, headEpoch } from './chain-world.ts';
import { type Duties, dutiesOver, networkDutiesIn, summed } from './epoch-duties.ts';
import { Refusal } from './refusal.ts';
import { addedUp, type Earned, proposalReward, type Rewards, rewardsFor, type Scores, scoresOf } from './rewards.ts';
import { known } from './validators.ts';
import { ETHER } from './validators-world.ts';
import type { Sandbox } from './world.ts';

type Range = ReturnType<typeof epochsRange>;

/** POST /api/v2/ethereum/validators/performance-aggregate (api-facts 10.2). Every evaluation window is that of a day. */
export function performance(sandbox: Sandbox, asked: AggregateBody, now: UnixMs): string {
  const { duties, rewards, range } = dayOf(sandbox, asked, now);
  return JSON.stringify(performanceAnswer(duties, scoresOf(rewards), range));
}

/** POST /api/v2/ethereum/validators/rewards-aggregate (api-facts 11.1). */
export function rewards(sandbox: Sandbox, asked: AggregateBody, now: UnixMs): string {
  const { duties, rewards: earned, range } = dayOf(sandbox, asked, now);
  if (!hasDuty(duties)) throw new Refusal(404);
  return JSON.stringify(rewardsAnswer(earned, range));
}

/** A member of a sync committee has seats even after its exit. */
function hasDuty({ assigned, seats }: Duties): boolean {
  return assigned + seats > 0;
}

/** POST /api/v2/ethereum/validators/performance-list (api-facts 11.5). */
export function epochPerformance(sandbox: Sandbox, asked: EpochBody, now: UnixMs): string {
  return epochPage(sandbox, asked, now, ({ duties, rewards }, range) =>
    performanceAnswer(duties, scoresOf(rewards), range),
  );
}

/** POST /api/v2/ethereum/validators/rewards-list (api-facts 11.5). */
export function epochRewards(sandbox: Sandbox, asked: EpochBody, now: UnixMs): string {
  return epochPage(sandbox, asked, now, ({ rewards }, range) => rewardsAnswer(rewards, range));
}

interface OwnEpoch {
  readonly duties: Duties;
  readonly rewards: Rewards;
}

/** A row for each validator with a duty. An epoch that is not final is not found. */
function epochPage(
  sandbox: Sandbox,
  asked: EpochBody,
  now: UnixMs,
  answerOf: (own: OwnEpoch, range: Range) => { readonly data: object },
): string {
  const { chain, validator, epoch } = asked;
  const world = sandbox.chains[chain];
  if (epoch > finalizedEpoch(world, now)) throw new Refusal(404);
  const validators = known(sandbox, world, validator.validator_identifiers, headEpoch(chain, now));
  const range = epochsRange(chain, epoch, epoch);
  const { page, paging } = pageOf(asked, now, () => {
    const duties = dutiesOver(world, validators, { start: epoch, end: epoch });
    return validators.flatMap(({ index, publicKey, balances }, i) => {
      const own = duties[i];
      if (!own || !hasDuty(own)) return [];
      const { data } = answerOf({ duties: own, rewards: rewardsFor(own, balances.effective) }, range);
      return [{ validator: { index, public_key: publicKey }, ...data }];
    });
  });
  return JSON.stringify({ data: page, paging, range });
}

/** POST /api/v2/ethereum/performance-aggregate (api-facts 11.2): all validators of the chain. */
export function networkPerformance({ chains }: Sandbox, { chain }: { readonly chain: Chain }, now: UnixMs): string {
  const range = lastDay(chain, now);
  const epochs = Array.from({ length: EPOCHS_PER_DAY }, (_, i) => range.epoch.start + i);
  const duties = summed(epochs.map((epoch) => networkDutiesIn(chains[chain], epoch)));
  return JSON.stringify(performanceAnswer(duties, scoresOf(rewardsFor(duties, 32n * ETHER)), range));
}

function dayOf(sandbox: Sandbox, { chain, validator }: AggregateBody, now: UnixMs) {
  const world = sandbox.chains[chain];
  const range = lastDay(chain, now);
  const validators = known(sandbox, world, validator.validator_identifiers, range.epoch.end);
  const duties = dutiesOver(world, validators, range.epoch);
  const earned = validators.map(({ balances }, i) => rewardsFor(duties[i] ?? summed([]), balances.effective));
  return { duties: summed(duties), rewards: addedUp(earned), range };
}

/** The finalized epochs of the last day. */
function lastDay(chain: Chain, now: UnixMs): Range {
  const last = headEpoch(chain, now) - 2;
  return epochsRange(chain, last + 1 - EPOCHS_PER_DAY, last);
}

export function performanceAnswer(duties: Duties, beaconscore: Scores, range: Range) {
  const { assigned, included, correct, valuable, seats, filled, proposals, proposed, slashings } = duties;
  const meanOf = (slots: number): number | null => (included === 0 ? null : slots / included);
  const attestation = {
    included,
    assigned,
    missed: assigned - included,
    correct_head: correct.head,
    correct_source: correct.source,
    correct_target: correct.target,
    valuable_correct_head: valuable.head,
    valuable_correct_source: valuable.source,
    valuable_correct_target: valuable.target,
    avg_inclusion_delay: meanOf(duties.delay),
    avg_inclusion_delay_excluding_missed_slots: meanOf(duties.delayWithBlock),
  };
  const sync_committee = { successful: filled, assigned: seats, missed: seats - filled };
  const missed = proposals - proposed;
  const proposal = { successful: proposed, assigned: proposals, missed, included_slashings: slashings };
  return { data: { beaconscore, duties: { attestation, sync_committee, proposal }, finality: 'finalized' }, range };
}

export function rewardsAnswer({ head, source, target, sync, proposal }: Rewards, range: Range) {
  const votes = { head, source, target };
  const parts = [head, source, target, sync];
  const sum = (of: (one: Earned) => bigint): bigint => parts.reduce((total, one) => total + of(one), 0n);
  const reward = sum((one) => one.reward) + proposalReward({ proposal });
  const penalty = sum((one) => one.penalty);
  const missed = sum((one) => one.missed) + proposal.missed_cl_reward + proposal.missed_el_reward;
  const data = {
    total: reward - penalty,
    total_reward: reward,
    total_penalty: penalty,
    total_missed: missed,
    attestation: {
      total: Object.values(votes).reduce((total, one) => total + one.reward - one.penalty, 0n),
      head: partOf(head),
      source: partOf(source),
      target: partOf(target),
      inactivity_leak_penalty: 0n,
      inclusion_delay: null,
    },
    sync_committee: partOf(sync),
    proposal: { total: proposalReward({ proposal }), ...proposal },
    finality: 'finalized',
  };
  return { data: asTexts(data), range };
}

function partOf({ reward, penalty, missed }: Earned) {
  return { total: reward - penalty, reward, penalty, missed_reward: missed };
}

function asTexts(data: object): Record<string, unknown> {
  return JSON.parse(JSON.stringify(data, (_, value) => (typeof value === 'bigint' ? String(value) : value)));
}
