import type { Account, AccountLimits, HeaderForm } from '../../../src/sandbox/account.ts';
import { MINUTE } from '../../support/time/timing.ts';
import type { Random } from '../random.ts';

/** How late the records of machines are. `one`: of the first machine. */
export interface Lag {
  readonly of: 'none' | 'one' | 'all';
  readonly ms: number;
}

/** The service as it is before anything happens. Plain data. */
export interface ServiceSetting {
  readonly seed: number;
  readonly key: string;
  readonly plan: AccountLimits;
  readonly month: Account['month'];
  readonly headers: HeaderForm;
  readonly buckets: Account['buckets'];
  /** Names of machines. */
  readonly machines: readonly string[];
  readonly lag: Lag;
  /** Share of the minutes for which the service kept nothing of a machine. */
  readonly missing: number;
  readonly pageSizeOver: 'each' | 'all';
  /** A page has no more records of an array than this, whatever was requested. */
  readonly longestPage: number;
  /** Share of the epochs with reorganisations, slashings and late finality. */
  readonly liveliness: number;
  /** Which names of an epoch or period are served; the others are refused with 400. */
  readonly views: { readonly latest: boolean; readonly finalized: boolean; readonly committee: boolean };
  /** From the end of a day until the service has it. */
  readonly dayDelayMs: number;
  /** The clock of the service, relative to the true time. */
  readonly clockAheadMs: number;
}

export function drawService(random: Random): ServiceSetting {
  const of: Lag['of'] = random.pick(['none', 'none', 'all', 'one']);
  return {
    seed: random.between(1, 1_000_000_000),
    key: 'key-0',
    plan: drawPlan(random.fork('plan')),
    month: random.pick(['calendar', 'thirty_days']),
    headers: drawHeaders(random.fork('headers')),
    buckets: random.pick(['one', 'one', 'version', 'endpoint']),
    machines: drawMachines(random.fork('machines')),
    lag: { of, ms: of === 'none' ? 0 : random.scale(1_000, 5 * MINUTE) },
    missing: random.happens(0.5) ? 0 : 0.1 * random.unit(),
    pageSizeOver: random.pick(['each', 'each', 'all']),
    longestPage: random.happens(0.4) ? 3 : 10,
    liveliness: random.pick([0, 0.1, 1]),
    views: { latest: random.happens(0.97), finalized: random.happens(0.97), committee: random.happens(0.9) },
    dayDelayMs: random.scale(20 * MINUTE, random.happens(0.8) ? 180 * MINUTE : 1_500 * MINUTE),
    clockAheadMs: random.happens(0.5) ? 0 : random.between(-5_000, 5_000),
  };
}

export function drawPlan(random: Random): AccountLimits {
  const perSecond = random.pick([1, 1, 2, 5, random.between(1, 10)]);
  const perMonth = random.pick([undefined, 1_000, random.scale(1_000, 1_000_000)]);
  if (perMonth === undefined) return { perSecond };
  return { perSecond, perMonth, ...(random.happens(0.2) ? { perHour: random.scale(60, perMonth) } : {}) };
}

const LEFT_OUT = [
  'ratelimit-limit',
  'ratelimit-remaining',
  'ratelimit-reset',
  'ratelimit-window',
  'ratelimit-bucket',
  'ratelimit-validapikey',
  'retry-after',
  'x-ratelimit-limit-minute',
  'x-ratelimit-remaining-second',
  'x-ratelimit-remaining-month',
];

function drawHeaders(random: Random): HeaderForm {
  if (random.happens(0.6)) return { sent: 'all', without: [] };
  if (random.happens(0.5)) return { sent: 'all', without: random.some(LEFT_OUT) };
  return { sent: random.pick(['basic', 'extended', 'fallback', 'none']), without: [] };
}

const ODD_NAMES = ['__proto__', 'a "quoted" \\ name', 'naïve ✓', 'constructor'];

function drawMachines(random: Random): string[] {
  const count = random.happens(0.04) ? 40 : random.pick([0, 1, 2, 3, 4, random.between(0, 12)]);
  return Array.from({ length: count }, (_, i) => (random.happens(0.05) ? ODD_NAMES[i] : undefined) ?? `m${i}`);
}
