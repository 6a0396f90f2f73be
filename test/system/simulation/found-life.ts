import type { PlanLimits } from '../../../src/lib/plans.ts';
import { DAY, MINUTE } from '../../support/timing.ts';

/** Sweeps in a span in which the rate is the limit: some to learn how long they take, some to check the interval. */
const SWEEPS = 13;
/** Requests of a sweep per machine, including repeated reads, and of the slashings of a chain a day. */
const REQUESTS_PER_MACHINE = 0.115;
const SLASHINGS_PER_DAY = 1_780;

/** Other programs on the account. `share`: of the quota of the month, or of the limit per second without one. */
export interface Others {
  readonly kind: 'none' | 'steady' | 'begins' | 'ends' | 'bursts';
  readonly share: number;
  /** When they begin, end or burst, as a part of the span. */
  readonly at: number;
}

/** The random choices from which a life of the program is made. */
export interface Draw {
  readonly limits: PlanLimits;
  readonly utilization: number;
  /** With a large fleet, in place of `utilization`: requests wanted divided by requests allowed by the rate. */
  readonly fit?: number | undefined;
  readonly chains: 1 | 2;
  readonly machines: number;
  /** By how much records are late, of all machines or of one in 25. */
  readonly lag: { readonly ms: number; readonly ofAll: boolean };
  readonly latencyMs: number;
  readonly others: Others;
  /** When new machines appear, as parts of the span. */
  readonly newcomers: readonly number[];
  readonly month: number;
  /** When the month ends, as a part of the span. `later`: after it. */
  readonly monthEnds: 1 | 0.5 | 'later';
  /** The program has run and spent its share since the month began. Otherwise it starts with a full quota. */
  readonly hasRun: boolean;
  readonly seed: number;
}

/** A span in the life of the program and the account. Times are Unix ms. */
export interface Life extends Draw {
  readonly start: number;
  readonly end: number;
  readonly monthStart: number;
  readonly monthEnd: number;
  /** Requests of the others per day, bursts apart. */
  readonly othersPerDay: number;
  /** Requests per day: as configured, within all limits, within the limit per second alone. And requests per sweep. */
  readonly perDay: {
    readonly wanted: number;
    readonly allowed: number;
    readonly byRate: number;
    readonly perSweep: number;
  };
}

/** Months with 31, 28 and 29 days, and the last one of a year. */
const MONTH_ENDS = [
  [2026, 10],
  [2027, 2],
  [2028, 2],
  [2027, 0],
] as const;

const REQUESTS = 90;
const MAX_REQUESTS = 450;
const MAX_MS = 4 * DAY;
const MIN_MS = 11 * MINUTE;
/** The program reserves half a day more than the others are expected to use. */
const SPARE_DAYS = 0.5;
/** The life that a draw stands for. */
export function lifeOf(drawn: Draw): Life {
  const [year, month] = MONTH_ENDS[drawn.month] ?? MONTH_ENDS[0];
  const monthStart = Date.UTC(year, month - 1, 1);
  const monthEnd = Date.UTC(year, month, 1);
  const monthDays = (monthEnd - monthStart) / DAY;
  const { perSecond, perMonth = Number.POSITIVE_INFINITY } = drawn.limits;
  const perSweep = Math.ceil(1 + drawn.machines * REQUESTS_PER_MACHINE);
  const wanted = 1_440 * perSweep + drawn.chains * SLASHINGS_PER_DAY;
  const fitting = drawn.fit === undefined ? undefined : wanted / drawn.fit / perSecond / 86_400;
  const utilization = drawn.machines < 30 || fitting === undefined ? drawn.utilization : Math.min(0.9, fitting);
  const byRate = perSecond * utilization * 86_400;
  const theirs = drawn.others.kind === 'none' ? 0 : drawn.others.share;
  const expected = drawn.others.kind === 'steady' || drawn.others.kind === 'ends' ? theirs : 0;
  const left = perMonth * Math.min(utilization, 1 - expected * (1 + SPARE_DAYS / monthDays));
  const allowed = Math.min(byRate, left / monthDays);
  const requests = byRate < wanted && byRate <= allowed ? Math.min(SWEEPS * perSweep, MAX_REQUESTS) : REQUESTS;
  const span = Math.round(Math.min(MAX_MS, Math.max(MIN_MS, (requests / Math.min(wanted, allowed)) * DAY)));
  // In the middle of a month there are no special cases.
  const start = drawn.monthEnds === 'later' ? monthEnd - 15 * DAY : Math.round(monthEnd - span * drawn.monthEnds);
  // Scales a full quota for the rest of a month, so that it allows as many requests per day.
  const toSpend = drawn.hasRun ? 1 : (monthEnd - start) / DAY / monthDays;
  const limits =
    perMonth < Number.POSITIVE_INFINITY ? { perSecond, perMonth: Math.ceil(perMonth * toSpend) } : { perSecond };
  return {
    ...drawn,
    utilization,
    limits,
    start,
    end: start + span,
    monthStart,
    monthEnd,
    othersPerDay: perMonth < Number.POSITIVE_INFINITY ? (theirs * perMonth) / monthDays : theirs * perSecond * 86_400,
    perDay: { wanted, allowed, byRate, perSweep },
  };
}
