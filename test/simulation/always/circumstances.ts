import { type Chain, EPOCHS_PER_DAY, SECONDS_PER_EPOCH } from '../../../src/lib/chain.ts';
import { type Scrape, seriesNamed, valueIn } from '../scrape.ts';
import type { World } from '../world.ts';

/** A scarce budget can have been the reason for what is seen this much later. */
const REMEMBERED_MS = 2 * 3_600_000;

/** What has been the case so far and makes a difference for what must hold. */
export class Circumstances {
  now = 0;
  catchUpDays = Number.POSITIVE_INFINITY;
  /** The clock of some process was wrong, so that for it an hour may have been shorter. */
  wasClockStepped = false;
  /** Every list of watched validators that was configured for a chain. It is for the first one. */
  readonly #watchLists = new Map<Chain, (readonly number[])[]>();
  /** When the budget did not allow to read every epoch. */
  readonly #scarceAt = new Map<Chain, number>();

  see(world: World): undefined {
    const { watch, catchUpDays } = world.exporter;
    this.now = world.clock.now();
    this.catchUpDays = Math.min(this.catchUpDays, catchUpDays);
    for (const [i, chain] of world.exporter.chains.entries()) {
      const list = i === 0 ? watch : [];
      const lists = this.#watchLists.get(chain) ?? [];
      if (!lists.some((one) => String(one) === String(list))) lists.push(list);
      this.#watchLists.set(chain, lists);
    }
    if (world.hosts.some(({ clockOffsetMs }) => clockOffsetMs !== 0)) this.wasClockStepped = true;
  }

  seeScrape(scrape: Scrape, world: World): void {
    this.see(world);
    const { chains, intervals } = world.lastRead;
    const { setting } = world.story;
    const hasQuota = [setting.service.plan, world.service.account.plan].some(({ perMonth }) => perMonth !== undefined);
    for (const chain of chains) {
      const labels = `source="slashings",chain="${chain}"`;
      const told = valueIn(scrape, 'beaconchain_source_interval_seconds', labels) ?? 0;
      const waits = valueIn(scrape, 'beaconchain_source_quota_wait_end_timestamp_seconds', labels) ?? 0;
      // The first poll of the next month is planned before an answer tells its limits.
      if (waits > 0 && isScarce(world)) this.#scarceAt.set(chain, this.now);
      if (told > SECONDS_PER_EPOCH && (hasQuota || told > 1.05 * intervals.slashings))
        this.#scarceAt.set(chain, this.now);
    }
  }

  /** Every list of watched validators that was configured for a chain. */
  watchLists(chain: Chain): readonly (readonly number[])[] {
    return this.#watchLists.get(chain) ?? [[]];
  }

  /** Whether the budget allows to skip epochs. */
  maySkip(chain: Chain): boolean {
    return this.now - (this.#scarceAt.get(chain) ?? Number.NEGATIVE_INFINITY) < REMEMBERED_MS;
  }
}

/** When something was last wrong with what keeps the state. */
export function storeTroubleAt(world: World, host: string): number {
  if (world.exporter.replicas === 0) return world.host(host).diskTroubleAt;
  return Math.max(world.redisTroubleAt, world.host(host).redisTroubleAt);
}

/** Whether the month is too small to read every epoch of every chain once. */
function isScarce({ lastRead: exporter, story, service }: World): boolean {
  const { perMonth = Number.POSITIVE_INFINITY } = story.setting.service.plan;
  const smallest = Math.min(perMonth, service.account.plan.perMonth ?? Number.POSITIVE_INFINITY);
  // A part is for the machines.
  return (smallest * exporter.utilization) / 31 < 2 * EPOCHS_PER_DAY * exporter.chains.length;
}

/** Which sources have succeeded since the trouble ended. Others may still wait, as they tell. */
export class Successes {
  readonly #before = new Map<string, number>();

  see(scrape: Scrape, world: World): void {
    if (world.isCalm) return;
    for (const [labels, attempts] of seriesNamed(scrape, 'beaconchain_source_attempts_total'))
      this.#before.set(`${scrape.host} ${labels}`, attempts);
  }

  /** Whether a poll was made in the calm, and succeeded; also if one should have been made long ago. */
  areDue(scrape: Scrape, labels: string): boolean {
    const read = (name: string): number => valueIn(scrape, `beaconchain_source_${name}`, labels) ?? 0;
    const polls = read('attempts_total') - (this.#before.get(`${scrape.host} ${labels}`) ?? 0);
    if (polls > 0 && read('up') === 1) return true;
    return read('next_attempt_timestamp_seconds') < scrape.ownAt / 1_000 - 300;
  }
}
