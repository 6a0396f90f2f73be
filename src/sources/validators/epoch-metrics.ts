import { epochEnd } from '../../facts/chain.ts';
import { etherOf } from '../../facts/ether.ts';
import { groupLabel } from '../../facts/groups.ts';
import { watchedCount, watches } from '../../facts/watch.ts';
import type { Family, Labels, Sample } from '../../toolkit/exposition/family.ts';
import { MS_PER_HOUR } from '../../toolkit/lib/duration.ts';
import type { UnixMs } from '../../toolkit/lib/time.ts';
import { shownUntil } from '../ages.ts';
import { VOTES } from '../duties.ts';
import { family, sample, UNPROVEN } from '../families.ts';
import { validatorLabels } from '../slashed.ts';
import { LAST_EPOCHS } from './epoch-parts.ts';
import { MAX_NAMED, type ValidatorsOptions } from './options.ts';
import type { Ledger, OwnDuties, Validators } from './state.ts';

/** Misses count as recent for this long after the newest epoch. */
const RECENT_MS = 2 * MS_PER_HOUR;

/** A validator with missed attestations among its last counted epochs. */
export interface Missing {
  readonly validator: number;
  readonly missed: number;
  readonly until: UnixMs;
}

/** Validators that missed recently, the most first. Without slashed ones, which their owner had to stop. */
export function recentlyMissing(options: ValidatorsOptions, value: Validators, now: UnixMs): Missing[] {
  const { chain, watch, epochs } = options;
  const own = epochs === false ? [] : (value.epoch_duties?.validators ?? []);
  const slashed = new Set(value.validators.flatMap((one) => one.slashed?.validator ?? []));
  const missing = own.flatMap(([validator, newest, bits]): Missing[] => {
    const until = shownUntil({ at: epochEnd(chain, newest) }, RECENT_MS, now);
    const missed = bits.toString(2).replaceAll('0', '').length;
    const isShown = missed > 0 && watches(watch, validator) && !slashed.has(validator);
    return until !== undefined && isShown ? [{ validator, missed, until }] : [];
  });
  return missing.sort((a, b) => b.missed - a.missed || a.validator - b.validator);
}

/** The counters of every finalized epoch. */
export function epochFamilies(options: ValidatorsOptions, value: Validators, now: UnixMs): Family[] {
  const { chain, watch, groups, series, epochs } = options;
  const [duties, rewards] = epochs === false ? [] : [value.epoch_duties, value.epoch_rewards];
  const counter = (name: string, help: string, samples: readonly Sample[]): Family =>
    family(`watched_${name}`, `${help}. ${UNPROVEN}`, samples);
  const each = (ledger: Ledger | undefined, name: string, labels: Labels, pick = Number as (sum: string) => number) =>
    (ledger ? groups : []).flatMap(({ group }) => {
      const sum = ledger?.groups.find((one) => one.group === group)?.totals[name] ?? '0';
      return sample(chain, pick(sum), { ...groupLabel(group), ...labels });
    });
  const ether = (of: string, ...kinds: readonly string[]): Sample[] =>
    kinds.flatMap((duty) => each(rewards, `${of} ${duty}`, { duty }, etherOf));
  const isNamed = watchedCount(watch) <= series;
  const own = <T extends readonly [number, ...unknown[]]>(all: readonly T[] | undefined, pick: (one: T) => number) =>
    (all ?? []).flatMap((one) =>
      watches(watch, one[0]) ? sample(chain, pick(one), validatorLabels(groups, one[0])) : [],
    );
  const perPart = (pick: (ledger: Ledger) => number | undefined): Sample[] => [
    ...sample(chain, duties && pick(duties), { part: 'epoch_duties' }),
    ...sample(chain, rewards && pick(rewards), { part: 'epoch_rewards' }),
  ];
  return [
    counter(
      'attestations_total',
      'Attestations of the watched validators in the counted epochs (data[].duties.attestation)',
      ['included', 'missed'].flatMap((status) => each(duties, status, { status })),
    ),
    counter(
      'correct_votes_total',
      'Correct votes in the attestations of the watched validators in the counted epochs (data[].duties.attestation.correct_*)',
      VOTES.flatMap((vote) => each(duties, vote, { vote })),
    ),
    counter(
      'rewards_ether_total',
      'Rewards of the watched validators in the counted epochs, before penalties; execution: those of proposals on the execution layer (attestation.*.reward, sync_committee.reward, proposal.*_reward)',
      ether('rewards', 'attestation', 'sync_committee', 'proposal', 'execution'),
    ),
    counter(
      'penalties_ether_total',
      'Penalties of the watched validators in the counted epochs (attestation.*.penalty, attestation.inactivity_leak_penalty, sync_committee.penalty)',
      ether('penalties', 'attestation', 'sync_committee'),
    ),
    counter(
      'missed_rewards_ether_total',
      'Rewards that the watched validators missed in the counted epochs; for proposals an estimate of the service (attestation.*.missed_reward, sync_committee.missed_reward, proposal.missed_*_reward)',
      ether('missed', 'attestation', 'sync_committee', 'proposal'),
    ),
    counter(
      'validator_missed_attestations_total',
      `Attestations that a watched validator missed in the counted epochs. Above validators.series only the ${MAX_NAMED} that missed last`,
      own(isNamed ? duties?.validators : lastMissing(duties?.validators), ([, , , missed]) => missed),
    ),
    counter(
      'validator_rewards_ether_total',
      'Rewards of a watched validator in the counted epochs, before penalties; absent above validators.series (data[].total_reward)',
      own(isNamed ? rewards?.validators : [], ([, wei]) => etherOf(wei)),
    ),
    counter(
      'validator_penalties_ether_total',
      'Penalties of a watched validator in the counted epochs; absent above validators.series (data[].total_penalty)',
      own(isNamed ? rewards?.validators : [], ([, , wei]) => etherOf(wei)),
    ),
    counter(
      'validator_recent_missed_attestations',
      `Attestations that a watched validator missed in its last ${LAST_EPOCHS} counted epochs; absent at 0, if slashed, or if the newest is over 2 hours old. Only the ${MAX_NAMED} highest per chain`,
      recentlyMissing(options, value, now)
        .slice(0, MAX_NAMED)
        .flatMap(({ validator, missed, until }) => sample(chain, missed, validatorLabels(groups, validator), until)),
    ),
    counter(
      'unread_validator_epochs_total',
      'Validators without which a finalized epoch was counted, because their rows were missing for an hour, unreadable or repeated',
      perPart(({ unread }) => unread),
    ),
    counter(
      'counted_epoch',
      'Newest epoch that was counted for the watched validators',
      perPart(({ counted }) => counted),
    ),
    counter(
      'skipped_epochs_total',
      'Finalized epochs that were not counted for the watched validators, because they were older than validators.catch_up',
      perPart(({ skipped }) => skipped),
    ),
  ];
}

function lastMissing(all: readonly OwnDuties[] = []): OwnDuties[] {
  return all
    .filter(([, , , , last]) => last !== null)
    .sort(([a, , , , lastOfA], [b, , , , lastOfB]) => (lastOfB ?? 0) - (lastOfA ?? 0) || a - b)
    .slice(0, MAX_NAMED);
}
