import {
  CHAINS,
  type Chain,
  EPOCHS_PER_DAY,
  EPOCHS_PER_SYNC_COMMITTEE_PERIOD,
  epochAt,
} from '../../../src/lib/chain.ts';
import { MS_PER_DAY, SECONDS_PER_DAY } from '../../../src/lib/duration.ts';
import { between } from '../../../src/lib/random.ts';
import { epochsRange } from '../../../src/sandbox/chain-range.ts';
import { datapoints } from '../../../src/sandbox/daily-returns-data.ts';
import type { Random } from '../random.ts';
import type { ServiceSetting } from './setting.ts';

const WINDOW_DAYS: Readonly<Record<string, number>> = {
  '24h': 1,
  '7d': 7,
  '30d': 30,
  '90d': 90,
  all_time: Number.POSITIVE_INFINITY,
};
const SEATS = 512;

/** What the service answers by the clock alone: daily returns, and sync committees. */
export class Periods {
  readonly #setting: Pick<ServiceSetting, 'seed' | 'watched' | 'dayDelayMs'>;
  readonly #odd: { days: number; seats: number };
  readonly #random: Random;
  readonly #days = new Map<string, string>();
  /** Days that come at another time than usual, Unix ms. */
  readonly #dayComesAt = new Map<number, number>();
  /** Until this time the newest day is left out. */
  #olderDayUntil = Number.NEGATIVE_INFINITY;
  /** How late the next period is, for periods that begin before a time. */
  #periodDelay = { ms: 0, until: Number.NEGATIVE_INFINITY };

  constructor(setting: Pick<ServiceSetting, 'seed' | 'watched' | 'dayDelayMs' | 'odd'>, random: Random) {
    this.#setting = setting;
    this.#odd = { days: setting.odd.days, seats: setting.odd.seats };
    this.#random = random;
  }

  /** The next day of both chains comes this much later. */
  delayDay(ms: number, now: number): void {
    for (const chain of ['mainnet', 'hoodi'] as const) {
      const day = this.newestDay(chain, now) + 1;
      this.#dayComesAt.set(keyOf(chain, day), this.#usualTimeOf(chain, day) + ms);
    }
  }

  /** Until a time the newest day is missing. */
  showOlderDay(until: number): void {
    this.#olderDayUntil = until;
  }

  delayPeriod(ms: number, until: number): void {
    this.#periodDelay = { ms, until };
  }

  calm(): void {
    this.#dayComesAt.clear();
    this.#olderDayUntil = Number.NEGATIVE_INFINITY;
    this.#periodDelay = { ms: 0, until: Number.NEGATIVE_INFINITY };
    Object.assign(this.#odd, { days: 0, seats: 0 });
  }

  /** The newest day that the service has computed; an answer can be older. */
  newestDay(chain: Chain, now: number): number {
    let day = Math.floor((now / 1_000 - CHAINS[chain].genesis) / SECONDS_PER_DAY) - 1;
    while (now < (this.#dayComesAt.get(keyOf(chain, day)) ?? this.#usualTimeOf(chain, day))) day -= 1;
    return day;
  }

  period(chain: Chain, now: number): number {
    const late = now < this.#periodDelay.until ? this.#periodDelay.ms : 0;
    return Math.floor(epochAt(chain, now - late) / EPOCHS_PER_SYNC_COMMITTEE_PERIOD);
  }

  /** The validators of a committee. undefined: the service does not know it yet. */
  committee(chain: Chain, period: number, now: number): number[] | undefined {
    const current = this.period(chain, now);
    // The service learns of the next committee when the first epoch of the period is over.
    const newest = epochAt(chain, now) > current * EPOCHS_PER_SYNC_COMMITTEE_PERIOD ? current + 1 : current;
    if (period > newest) return undefined;
    const { seed, watched } = this.#setting;
    const own = watched.filter((validator) => between(0, 2, seed, period, validator, 8) === 0);
    const others = Array.from({ length: SEATS - own.length }, (_, seat) =>
      between(1_000, 900_000, seed, period, seat, 9),
    );
    // A validator can have more than one seat.
    return [...others.slice(0, 100), ...own, ...others.slice(100, -own.length || undefined), ...own];
  }

  /** undefined: a bad request. */
  periodBody(body: string, views: { committee: boolean }, now: number): string | undefined {
    const asked = JSON.parse(body);
    const chain = chainIn(asked);
    const selector = asked?.sync_committee_period ?? {};
    if (selector.view !== undefined && (selector.view !== 'latest' || !views.committee)) return undefined;
    const latest = this.period(chain, now);
    const period = selector.view === undefined ? selector.number : latest;
    if (!Number.isInteger(period) || period > latest + 1) return undefined;
    const first = period * EPOCHS_PER_SYNC_COMMITTEE_PERIOD;
    const range = epochsRange(chain, first, first + EPOCHS_PER_SYNC_COMMITTEE_PERIOD - 1);
    return JSON.stringify({ data: { period, finality: 'not_finalized' }, range });
  }

  /** undefined: a bad request. */
  committeeBody(chain: Chain, selector: string, now: number): string | undefined {
    const latest = this.period(chain, now);
    const period = selector === 'latest' ? latest : selector === 'next' ? latest + 1 : Number(selector);
    if (!Number.isInteger(period)) return undefined;
    const validators: unknown[] | undefined = this.committee(chain, period, now);
    if (!validators) return JSON.stringify({ status: 'OK', data: [] });
    if (this.#odd.seats > 0 && this.#random.happens(this.#odd.seats)) validators.push(null, -1, 'seat', {});
    const start_epoch = period * EPOCHS_PER_SYNC_COMMITTEE_PERIOD;
    const end_epoch = start_epoch + EPOCHS_PER_SYNC_COMMITTEE_PERIOD - 1;
    return JSON.stringify({ status: 'OK', data: { period, start_epoch, end_epoch, validators } });
  }

  /** undefined: a bad request. Ranges other than evaluation windows belong to other plans. */
  daysBody(body: string, now: number): string | undefined {
    const asked = JSON.parse(body);
    const chain = chainIn(asked);
    const count = WINDOW_DAYS[asked?.range?.evaluation_window];
    if (count === undefined) return undefined;
    const newest = this.newestDay(chain, now) - (now < this.#olderDayUntil ? 1 : 0);
    const cursor = Number(asked.cursor || newest);
    const oldest = Math.max(0, newest - count + 1, cursor - (asked.page_size ?? 10) + 1);
    const next = oldest > Math.max(0, newest - count + 1) ? String(oldest - 1) : '';
    const range = JSON.stringify(epochsRange(chain, oldest * EPOCHS_PER_DAY, (cursor + 1) * EPOCHS_PER_DAY - 1));
    return `{"data":[${this.#daysText(chain, cursor, oldest)}],"range":${range},"paging":{"next_cursor":"${next}"}}`;
  }

  #daysText(chain: Chain, newest: number, oldest: number): string {
    const key = `${chain} ${newest} ${oldest}`;
    let text = this.#days.get(key);
    if (text === undefined) {
      text = JSON.stringify(datapoints(this.#setting.seed, chain, newest, oldest)).slice(1, -1);
      this.#days.set(key, text);
    }
    if (this.#odd.days === 0 || !this.#random.happens(3 * this.#odd.days)) return text;
    const far = text.replaceAll('"day":', '"day":9');
    return `${this.#random.pick(['null', '{}', '"day"', '{"day":null}', text, far])},${text}`;
  }

  #usualTimeOf(chain: Chain, day: number): number {
    const delay = this.#setting.dayDelayMs * (0.5 + between(0, 1_000, this.#setting.seed, day, 10) / 1_000);
    return CHAINS[chain].genesis * 1_000 + (day + 1) * MS_PER_DAY + delay;
  }
}

function chainIn(asked: { chain?: unknown } | undefined): Chain {
  return asked?.chain === 'hoodi' ? 'hoodi' : 'mainnet';
}

function keyOf(chain: Chain, day: number): number {
  return chain === 'hoodi' ? -day - 1 : day;
}
