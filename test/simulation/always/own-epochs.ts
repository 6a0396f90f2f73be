import { dutiesIn } from '../../../src/sandbox/epoch-duties.ts';
import { rewardsFor } from '../../../src/sandbox/rewards.ts';
import { validatorAt } from '../../../src/sandbox/validator.ts';
import { type Scrape, valueIn } from '../scrape.ts';
import type { World } from '../world.ts';
import type { Check } from './check.ts';

/** Each counter as written in a scrape, and what one validator adds to it. Amounts are in wei. */
type Added = Readonly<Record<string, bigint>>;

function dutiesOf(one: ReturnType<typeof dutiesIn>[number]): Added {
  return {
    'attestations_total status="included"': BigInt(one.included),
    'attestations_total status="missed"': BigInt(one.assigned - one.included),
    'correct_votes_total vote="head"': BigInt(one.correct.head),
    'correct_votes_total vote="source"': BigInt(one.correct.source),
    'correct_votes_total vote="target"': BigInt(one.correct.target),
  };
}

function rewardsOf(one: ReturnType<typeof dutiesIn>[number], effective: bigint): Added {
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

/** From the least to the most of each counter, after the epochs up to `counted`. */
interface Point {
  readonly counted: number;
  readonly low: Added;
  readonly high: Added;
}

const WEI = 1e18;
/** Sums of doubles in the exposition are rounded. */
const ROUNDING = 1e-9;

class PartHistory {
  readonly #part: 'epoch_duties' | 'epoch_rewards';
  /** Counting begins with an epoch that was final at some time: where it may have begun. */
  #points: readonly Point[] | undefined;
  #left = 0;

  constructor(part: 'epoch_duties' | 'epoch_rewards') {
    this.#part = part;
  }

  /** @param lists Every list of watched validators that was configured. @param mayPause Whether it may be off for a while */
  see(scrape: Scrape, world: World, lists: readonly (readonly number[])[], mayPause: boolean): string | undefined {
    const [chain = 'mainnet'] = world.exporter.chains;
    const view = world.service.chain(chain, scrape.at).chain;
    const told = (name: string): number | undefined =>
      valueIn(scrape, `beaconchain_watched_${name}`, `chain="${chain}",part="${this.#part}"`);
    const counted = told('counted_epoch');
    if (counted === undefined) return undefined;
    if (counted > view.finalized)
      return `${this.#part}: epoch ${counted} is counted, but only ${view.finalized} is final`;
    const first = view.finalizedAtStart;
    this.#points ??= Array.from({ length: counted - first + 2 }, (_, i) => ({
      counted: first - 2 + i,
      low: {},
      high: {},
    }));
    // What was skipped, or counted without rows, is in the counters in part. A failed poll can skip long before the next epoch counts.
    const left = Number(told('skipped_epochs_total')) + Number(told('unread_validator_epochs_total'));
    const isSure = left === this.#left && !mayPause;
    if (this.#points.some((one) => one.counted < counted)) this.#left = left;
    const points = this.#points.map((from) => this.#extend(from, counted, isSure, lists, world));
    this.#points = points.filter((one) => this.#wrong(one, scrape, chain) === undefined);
    const [nearest] = points;
    return this.#points.length === 0 && nearest ? this.#wrong(nearest, scrape, chain) : undefined;
  }

  #extend(from: Point, counted: number, isSure: boolean, lists: readonly (readonly number[])[], world: World): Point {
    let { low, high } = from;
    for (let epoch = from.counted + 1; epoch <= counted; epoch += 1) {
      const sums = lists.map((list) => this.#truth(list, epoch, world));
      high = added(
        high,
        mostOf(sums, (a, b) => a > b),
      );
      if (isSure)
        low = added(
          low,
          mostOf(sums, (a, b) => a < b),
        );
    }
    return { counted, low, high };
  }

  #truth(list: readonly number[], epoch: number, { service, exporter }: World): Added {
    const world = service.sandbox.chains[exporter.chains[0] ?? 'mainnet'];
    const validators = list.flatMap((index) => validatorAt(world, index, epoch) ?? []);
    const duties = dutiesIn(world, validators, epoch);
    const each = duties.map((one, i) =>
      this.#part === 'epoch_duties' ? dutiesOf(one) : rewardsOf(one, validators[i]?.balances.effective ?? 0n),
    );
    return each.reduce(added, {});
  }

  #wrong({ low, high, counted }: Point, scrape: Scrape, chain: string): string | undefined {
    for (const [counter, most] of Object.entries(high)) {
      const [name = '', labels = ''] = counter.split(' ');
      const value = valueIn(scrape, `beaconchain_watched_${name}`, `chain="${chain}",${labels}`) ?? 0;
      const unit = name.includes('ether') ? WEI : 1;
      const [from, to] = [Number(low[counter] ?? 0n) / unit, Number(most) / unit];
      if (value < from - ROUNDING || value > to + ROUNDING)
        return `${counter} is ${value}, not ${from} to ${to}, with epoch ${counted} counted`;
    }
    return undefined;
  }
}

function added(one: Added, other: Added): Added {
  const names = new Set([...Object.keys(one), ...Object.keys(other)]);
  return Object.fromEntries([...names].map((name) => [name, (one[name] ?? 0n) + (other[name] ?? 0n)]));
}

function mostOf(all: readonly Added[], isMore: (a: bigint, b: bigint) => boolean): Added {
  const names = new Set(all.flatMap(Object.keys));
  const best = (name: string): bigint =>
    all.map((one) => one[name] ?? 0n).reduce((best, one) => (isMore(one, best) ? one : best));
  return Object.fromEntries([...names].map((name) => [name, best(name)]));
}

/** The counters of every epoch are at any time those of the world, of the epochs that are counted. */
export function ownEpochsCounted(): Check {
  const parts = [new PartHistory('epoch_duties'), new PartHistory('epoch_rewards')];
  const lists = new Map<string, readonly number[]>();
  let [mayPause, isMoved] = [false, false];
  let chain: string | undefined;
  return {
    name: 'validators: every final epoch is counted once',
    onEvent(event) {
      if (event.kind !== 'start' && event.kind !== 'reload') return undefined;
      const { watch, epochs, chains } = event.exporter;
      lists.set(String(watch), watch);
      mayPause ||= epochs !== true || watch.length === 0;
      chain ??= chains[0];
      isMoved ||= chains[0] !== chain;
      return undefined;
    },
    onScrape(scrape, world) {
      // The list is for the first chain.
      if (isMoved || lists.size === 0) return undefined;
      return parts.map((one) => one.see(scrape, world, [...lists.values()], mayPause)).find((one) => one !== undefined);
    },
  };
}
