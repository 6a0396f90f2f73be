import {
  CHAIN_NAMES,
  CHAINS,
  type Chain,
  EPOCHS_PER_SYNC_COMMITTEE_PERIOD as EPOCHS_PER_PERIOD,
  epochAt,
  SECONDS_PER_EPOCH,
} from '../../../src/lib/chain.ts';
import { MINUTE } from '../../support/timing.ts';
import { type Scrape, seriesNamed, valueIn } from '../scrape.ts';
import type { World } from '../world.ts';
import type { Check } from './check.ts';
import { Successes } from './circumstances.ts';
import { following } from './following.ts';
import { Losses } from './losses.ts';

const PERIOD = 'beaconchain_sync_committee_period';
const SECONDS_PER_PERIOD = EPOCHS_PER_PERIOD * SECONDS_PER_EPOCH;
const SLACK_MS = MINUTE;

/** The period that is shown has begun, is whole, and is never followed by an earlier one; members are those of it. */
export function committeesShown(): Check {
  const shown = new Map<string, number>();
  const whole = new Set<string>();
  const successes = new Successes();
  const losses = new Losses();
  /** The latest time that a clock has shown, Unix ms. Replicas go by the clock of Redis. */
  let latestOwn = Number.NEGATIVE_INFINITY;
  const follower = following('sync committee: the current period, and its members', (event, world) => {
    // A replica whose own clock is set is ahead by as much until it hears from Redis.
    if (event.kind === 'step' && world.redis) latestOwn = Math.max(latestOwn, world.redis.now() + event.byMs);
    return undefined;
  });
  return {
    ...follower,
    onScrape(scrape, world) {
      follower.onMoment(world);
      successes.see(scrape, world);
      latestOwn = Math.max(latestOwn, scrape.ownAt, world.redis?.now() ?? latestOwn);
      if (losses.mayStepBack(scrape.host, world))
        for (const chain of CHAIN_NAMES) shown.delete(`${scrape.host} ${chain}`);
      for (const chain of world.lastRead.chains) {
        const wrong = periodWrong(scrape, chain, world) ?? membersWrong(scrape, chain, world);
        if (wrong) return `${scrape.host}: ${chain}: ${wrong}`;
      }
      return undefined;
    },
    atEnd(world, scrapes) {
      for (const scrape of scrapes) {
        for (const chain of world.exporter.chains) {
          const source = `source="sync_committee",chain="${chain}"`;
          const isDue = successes.areDue(scrape, source) || isPutOff(scrape, source);
          const wrong = isDue ? periodLate(scrape, chain, world) : undefined;
          if (wrong) return `${scrape.host}: ${chain}: ${wrong}`;
        }
      }
      return undefined;
    },
  };

  function periodWrong(scrape: Scrape, chain: Chain, world: World): string | undefined {
    const { service } = world;
    const read = (name: string): number | undefined =>
      valueIn(scrape, `beaconchain_sync_committee_${name}`, `chain="${chain}"`);
    const period = read('period');
    const key = `${scrape.host} ${chain}`;
    const before = shown.get(key);
    const isGone = period === undefined && !world.hasChangedChains;
    if (before !== undefined && (isGone || Number(period) < before))
      return `period ${before} was shown, and then ${period}`;
    const id = `${key} ${scrape.process} ${period}`;
    if (period === undefined || whole.has(id)) return undefined;
    shown.set(key, period);
    const current = Math.floor(epochAt(chain, scrape.at) / EPOCHS_PER_PERIOD);
    // Where `latest` is refused, a clock that is ahead asks for a period ahead, which is known to the service.
    if (period > current && period <= Math.floor(epochAt(chain, latestOwn) / EPOCHS_PER_PERIOD)) return undefined;
    if (period > current)
      return `period ${period} is shown, but ${service.periods.period(chain, scrape.at)} is the latest`;
    const start = CHAINS[chain].genesis + period * SECONDS_PER_PERIOD;
    const first = period * EPOCHS_PER_PERIOD;
    const parts = { start_epoch: first, end_epoch: first + EPOCHS_PER_PERIOD - 1, start_timestamp_seconds: start };
    for (const [name, expected] of Object.entries(parts))
      if (read(name) !== expected) return `${name} of period ${period} is ${read(name)}, not ${expected}`;
    whole.add(id);
    return undefined;
  }
}

/** Whether the next poll comes much later than the interval says, for no reason that is told. */
function isPutOff(scrape: Scrape, source: string): boolean {
  const told = (name: string): number => valueIn(scrape, `beaconchain_source_${name}`, source) ?? 0;
  if (told('up') !== 1 || told('quota_wait_end_timestamp_seconds') > 0) return false;
  return told('next_attempt_timestamp_seconds') - scrape.ownAt / 1_000 > 2 * told('interval_seconds');
}

const LONGEST_AWAITED_MS = 30 * MINUTE;

/** Known five minutes after its start, or in the calm, and then within two intervals. */
function periodLate(scrape: Scrape, chain: Chain, world: World): string | undefined {
  const source = `source="sync_committee",chain="${chain}"`;
  const interval = 1_000 * (valueIn(scrape, 'beaconchain_source_interval_seconds', source) ?? 0);
  const current = Math.floor(epochAt(chain, scrape.at) / EPOCHS_PER_PERIOD);
  if ((valueIn(scrape, PERIOD, `chain="${chain}"`) ?? 0) >= current) return undefined;
  const start = 1_000 * (CHAINS[chain].genesis + current * SECONDS_PER_PERIOD);
  const due = Math.max(start + 5 * MINUTE, world.calmSince) + 2 * interval + SLACK_MS;
  // The calm lasts long enough to see whether a short interval brings it.
  const isAwaited = interval <= LONGEST_AWAITED_MS && scrape.at > start + 5 * MINUTE;
  return scrape.at > due || isAwaited ? `period ${current} has begun, and is not shown` : undefined;
}

/** Shown members are the watched ones of a committee that the service knows. */
function membersWrong(scrape: Scrape, chain: Chain, { service, story, exporter }: World): string | undefined {
  const name = 'beaconchain_watched_sync_committee_validators';
  const period = valueIn(scrape, PERIOD, `chain="${chain}"`);
  if (period === undefined || String(exporter.watch) !== String(story.setting.exporter.watch)) return undefined;
  const watched = chain === exporter.chains[0] ? exporter.watch : [];
  const expected = (number: number): string => {
    const committee = service.periods.committee(chain, number, Number.POSITIVE_INFINITY) ?? [];
    return String(watched.filter((one) => committee.includes(one)));
  };
  for (const which of ['current', 'next'] as const) {
    const count = valueIn(scrape, name, `chain="${chain}",period="${which}"`);
    if (count === undefined) continue;
    const own: number[] = [];
    for (const [labels] of seriesNamed(scrape, 'beaconchain_watched_sync_committee_validator')) {
      const [, validator] = new RegExp(`^chain="${chain}",period="${which}",validator="(\\d+)"$`).exec(labels) ?? [];
      if (validator !== undefined) own.push(Number(validator));
    }
    // At the end of the period that was read the next one becomes the current one, before it is read.
    const possible = which === 'current' ? [period, period + 1] : [period + 1, period + 2];
    const shown = String(own.sort((a, b) => a - b));
    if (own.length !== count) return `${count} watched members of the ${which} period, but series of ${shown}`;
    if (!possible.some((number) => expected(number) === shown))
      return `watched members of the ${which} period are ${shown}, not ${possible.map(expected).join(' or ')}`;
  }
  return undefined;
}
