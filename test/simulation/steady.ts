import { DAY, HOUR, MINUTE } from '../support/timing.ts';
import { type ExporterSetting, USUAL } from './exporter-setting.ts';
import type { Random } from './random.ts';
import { NO_FAULTS } from './service/network.ts';
import { calmSetting, type Plan } from './service/setting.ts';
import type { Setting, StoryEvent } from './story.ts';

/** The world of a steady story, and how much of a month it covers. */
export interface Steady {
  readonly setting: Setting;
  readonly start: number;
  readonly lengthMs: number;
  readonly events: readonly StoryEvent[];
}

/** Sweeps in a span in which the rate is the limit: some to learn how long they take, some to check the interval. */
export const SWEEPS = 13;
const REQUESTS = 100;
const MAX_REQUESTS = 400;
/** A smaller quota may be that of a trial, which ends after 30 days and not with the month. */
const MORE_THAN_TRIAL = 1_050;
const MAX_MS = 4 * DAY;
/** The share of the steady stories in which others use the account too. */
const SHARED = 0.15;
const SHARED_DAYS = 8;
const OTHERS_EVERY_MS = 2 * HOUR;
/** The only event of such a story. */
export const OTHERS = 'others for hours';
const MIN_MS = 11 * MINUTE;
/** Requests of a sweep per machine, including repeated reads. */
export const REQUESTS_PER_MACHINE = 0.115;
export const SLASHINGS_PER_DAY = 1_780;

/**
 * A world in which only the limits of the account decide how the program polls: nothing fails, and at most new machines
 * appear. The quota is that of the story, so that a short one spends all of it.
 */
export function drawSteady(random: Random, seed: number): Steady {
  if (random.happens(SHARED)) return drawShared(random, seed);
  const { perSecond, perDay } = drawAllowed(random);
  // The rate is the limit where requests wanted and requests allowed are about the same.
  const isByRate = perDay === undefined && random.happens(0.8);
  const isLarge = isByRate || random.happens(0.3);
  const count = isLarge ? random.between(40, 95) : random.between(0, 12);
  const chains = random.pick([['mainnet'], ['mainnet', 'hoodi']] as const);
  const perSweep = Math.ceil(1 + count * REQUESTS_PER_MACHINE);
  const wanted = 1_440 * perSweep + chains.length * SLASHINGS_PER_DAY;
  const share = random.pick([0.9, 0.3 + 0.6 * random.unit()]);
  const fitting = wanted / (0.6 + 0.7 * random.unit()) / perSecond / 86_400;
  const utilization = rounded(isByRate ? Math.min(0.9, fitting) : share);
  const byRate = perSecond * utilization * 86_400;
  const allowed = Math.min(wanted, byRate, (perDay ?? Number.POSITIVE_INFINITY) * utilization);
  const few = byRate < wanted && byRate <= allowed ? Math.min(SWEEPS * perSweep, MAX_REQUESTS) : REQUESTS;
  const requests = perDay !== undefined && random.happens(0.3) ? MORE_THAN_TRIAL * utilization : few;
  const lengthMs = Math.round(Math.min(MAX_MS, Math.max(MIN_MS, (requests / allowed) * DAY)));
  // A second before the month ends, or in the middle of a month, where there are no special cases.
  const monthEnd = Date.UTC(2026, random.between(1, 24));
  const start = random.happens(0.7) ? monthEnd - lengthMs - 1_000 : monthEnd - 15 * DAY;
  const plan: Plan =
    perDay === undefined ? { perSecond } : { perSecond, perMonth: Math.ceil((perDay * (monthEnd - start)) / DAY) };
  const exporter: ExporterSetting = { ...USUAL, chains, utilization };
  const service = calmSetting({
    seed,
    plan,
    machines: Array.from({ length: count }, (_, i) => `m${i}`),
    lag: { of: random.pick(['none', 'all', 'one', 'one']), ms: random.between(0, 298_000) },
  });
  const network = { latency: { low: random.between(20, 200), high: random.between(200, 400) }, faults: NO_FAULTS };
  const newcomers: StoryEvent[] = Array.from({ length: random.between(0, 2) }, (_, i) => ({
    at: Math.round(random.unit() * lengthMs),
    kind: 'machine appears',
    what: { name: `new-${i}` },
  }));
  // An exhausted quota is a wait for its renewal.
  const taken: StoryEvent[] =
    plan.perMonth !== undefined && random.happens(0.35)
      ? [{ at: Math.round(0.8 * random.unit() * lengthMs), kind: 'others at once', what: { requests: plan.perMonth } }]
      : [];
  const renewed: StoryEvent[] =
    plan.perMonth !== undefined && taken.length === 0 && random.happens(0.3)
      ? [{ at: Math.round((0.3 + 0.4 * random.unit()) * lengthMs), kind: 'renewal', what: { waitMs: 0 } }]
      : [];
  const events = [...newcomers, ...taken, ...renewed];
  return {
    setting: { service, network, exporter },
    start,
    lengthMs,
    events: events.toSorted((a, b) => a.at - b.at),
  };
}

/**
 * The last days of a month in which others use the same share of the quota each day. The program needs three days to learn of
 * it.
 */
function drawShared(random: Random, seed: number): Steady {
  const perMonth = random.between(1_100, 1_800);
  const lengthMs = SHARED_DAYS * DAY;
  const times = (SHARED_DAYS * DAY) / OTHERS_EVERY_MS;
  const requests = Math.round(((0.25 + 0.25 * random.unit()) * perMonth) / times);
  return {
    setting: {
      service: calmSetting({ seed, plan: { perSecond: 5, perMonth } }),
      network: { latency: { low: 50, high: 300 }, faults: NO_FAULTS },
      exporter: USUAL,
    },
    start: Date.UTC(2026, random.between(1, 24)) - lengthMs - 1_000,
    lengthMs,
    events: [{ at: 1_000, kind: OTHERS, what: { times, everyMs: OTHERS_EVERY_MS, requests } }],
  };
}

/** The limit per second, and the quota as requests a day. */
function drawAllowed(random: Random): { readonly perSecond: number; readonly perDay?: number } {
  // With a large fleet this rate is too low at a usual utilization.
  if (random.happens(0.35)) return { perSecond: 1 };
  const perSecond = random.pick([1, 1, 2, 5, random.between(1, 10)]);
  // As often the part of the range in which slashings reduce their coverage step by step.
  const exponent = random.happens(0.5) ? 3 + 3 * random.unit() : 3.9 + random.unit();
  return { perSecond, perDay: 10 ** exponent / 30 };
}

/** So that a story is readable. */
function rounded(share: number): number {
  return Math.round(share * 1_000) / 1_000;
}
