import {
  CHAINS,
  type Chain,
  EPOCHS_PER_DAY,
  EPOCHS_PER_SYNC_COMMITTEE_PERIOD,
  epochAt,
} from '../../../src/facts/chain.ts';
import { between } from '../../../src/toolkit/lib/random.ts';
import { datapoint } from '../../support/answers/datapoint.ts';
import { rangeOf } from '../../support/answers/validators.ts';
import { DAY } from '../../support/time/timing.ts';
import type { ServiceSetting } from './setting.ts';

/** What the service answers by the clock alone: daily returns, and periods of sync committees. */
export class Periods {
  readonly #setting: ServiceSetting;
  /** Until this time the newest day is left out. */
  #olderDayUntil = Number.NEGATIVE_INFINITY;

  constructor(setting: ServiceSetting) {
    this.#setting = setting;
  }

  /** Until a time the newest day is missing. */
  showOlderDay(until: number): void {
    this.#olderDayUntil = until;
  }

  calm(): void {
    this.#olderDayUntil = Number.NEGATIVE_INFINITY;
  }

  /** The newest day that the service has computed; an answer can be older. */
  newestDay(chain: Chain, now: number): number {
    const { seed, dayDelayMs } = this.#setting;
    const start = CHAINS[chain].genesis * 1_000;
    const comesAt = (day: number): number =>
      start + (day + 1) * DAY + dayDelayMs * (0.5 + between(0, 1_000, seed, day, 10) / 1_000);
    let day = Math.floor((now - start) / DAY) - 1;
    while (now < comesAt(day)) day -= 1;
    return day;
  }

  /** The rewards of a day, wei. */
  rewardsOf(chain: Chain, day: number): string {
    const draw = (n: number): string => String(between(1e8, 1e9, this.#setting.seed, CHAINS[chain].genesis, day, n));
    return `${draw(11)}${draw(12)}000`;
  }

  period(chain: Chain, now: number): number {
    return Math.floor(epochAt(chain, now) / EPOCHS_PER_SYNC_COMMITTEE_PERIOD);
  }

  /** undefined: a bad request. */
  periodBody(body: string, views: ServiceSetting['views'], now: number): string | undefined {
    const asked = JSON.parse(body);
    const chain = chainIn(asked);
    const selector = asked?.sync_committee_period ?? {};
    if (selector.view !== undefined && (selector.view !== 'latest' || !views.committee)) return undefined;
    const latest = this.period(chain, now);
    const period = selector.view === undefined ? selector.number : latest;
    if (!Number.isInteger(period) || period > latest + 1) return undefined;
    const first = period * EPOCHS_PER_SYNC_COMMITTEE_PERIOD;
    const range = rangeOf(first, first + EPOCHS_PER_SYNC_COMMITTEE_PERIOD - 1, chain);
    return JSON.stringify({ data: { period, finality: 'not_finalized' }, range });
  }

  /** undefined: a bad request. The program asks for the newest day alone. */
  daysBody(body: string, now: number): string | undefined {
    const asked = JSON.parse(body);
    if (asked?.range?.evaluation_window !== '24h') return undefined;
    const chain = chainIn(asked);
    const day = this.newestDay(chain, now) - (now < this.#olderDayUntil ? 1 : 0);
    const day_start = CHAINS[chain].genesis + day * 86_400;
    const total = this.rewardsOf(chain, day);
    const rewards = { total, consensus_layer: total, execution_layer: '0' };
    const data = [datapoint({ day, day_start, day_end: day_start + 86_400, rewards })];
    const range = rangeOf(day * EPOCHS_PER_DAY, (day + 1) * EPOCHS_PER_DAY - 1, chain);
    return JSON.stringify({ data, range, paging: { next_cursor: '' } });
  }
}

function chainIn(asked: { chain?: unknown } | undefined): Chain {
  return asked?.chain === 'hoodi' ? 'hoodi' : 'mainnet';
}
