import { DAY, HOUR, MINUTE, SECOND } from '../support/timing.ts';
import { USUAL } from './exporter-setting.ts';
import type { Random } from './random.ts';
import { NO_FAULTS } from './service/network.ts';
import { calmService, type Plan } from './service/setting.ts';
import type { Story, StoryEvent } from './story.ts';

/** Sweeps in a span in which the rate is the limit: some to learn how long they take, some to check the interval. */
const SWEEPS = 30;
const REQUESTS = 100;
const MAX_REQUESTS = 400;
/** A smaller quota may be that of a trial, which ends after 30 days and not with the month. */
const MORE_THAN_TRIAL = 1_050;
/** Requests of a sweep per machine, including repeated reads, and of the slashings of a chain a day. */
const REQUESTS_PER_MACHINE = 0.115;
const SLASHINGS_PER_DAY = 1_780;

/**
 * A world in which only the limits of the account decide how the program polls: nothing fails, and at most new machines
 * appear. The quota is that of the story, so that a short one spends all of it.
 */
export function drawSteady(seed: number, random: Random): Story {
  if (random.happens(0.15)) return drawShared(seed, random);
  const { perSecond, perDay } = drawAllowed(random);
  // The rate is the limit where requests wanted and requests allowed are about the same.
  const isByRate = perDay === undefined && random.happens(0.8);
  const machines = isByRate || random.happens(0.3) ? random.between(40, 95) : random.between(0, 12);
  const chains = random.pick([['mainnet'], ['mainnet', 'hoodi']] as const);
  const perSweep = Math.ceil(1 + machines * REQUESTS_PER_MACHINE);
  const wanted = 1_440 * perSweep + chains.length * SLASHINGS_PER_DAY;
  const fitting = wanted / (0.6 + 0.7 * random.unit()) / perSecond / 86_400;
  const share = isByRate ? Math.min(0.9, fitting) : random.pick([0.9, 0.3 + 0.6 * random.unit()]);
  const utilization = Math.round(1_000 * share) / 1_000;
  const byRate = perSecond * utilization * 86_400;
  const allowed = Math.min(wanted, byRate, (perDay ?? Number.POSITIVE_INFINITY) * utilization);
  const few = byRate < wanted && byRate <= allowed ? Math.min(SWEEPS * perSweep, MAX_REQUESTS) : REQUESTS;
  const requests = perDay !== undefined && random.happens(0.3) ? MORE_THAN_TRIAL * utilization : few;
  const lengthMs = Math.round(Math.min(4 * DAY, Math.max(11 * MINUTE, (requests / allowed) * DAY)));
  // A second before the month ends, or in the middle of a month, where there are no special cases.
  const monthEnd = Date.UTC(2026, random.between(1, 24));
  const start = random.happens(0.7) ? monthEnd - lengthMs - SECOND : monthEnd - 15 * DAY;
  const perMonth = perDay === undefined ? {} : { perMonth: Math.ceil((perDay * (monthEnd - start)) / DAY) };
  const plan: Plan = { perSecond, ...perMonth };
  const service = calmService({ seed, plan, machines: Array.from({ length: machines }, (_, i) => `m${i}`) });
  const network = { latency: { low: random.between(20, 200), high: random.between(200, 400) }, faults: NO_FAULTS };
  const story = { seed, start, lengthMs, setting: { service, network, exporter: { ...USUAL, chains, utilization } } };
  const newcomers: StoryEvent[] = Array.from({ length: random.between(0, 2) }, (_, i) => ({
    at: Math.round(random.unit() * lengthMs),
    kind: 'machine appears',
    what: { name: `new-${i}` },
  }));
  const drawn = random.unit();
  const at = (share: number): number => Math.round(share * lengthMs);
  if (plan.perMonth !== undefined && drawn < 0.35) {
    const taken = { at: at(0.2 + 0.6 * random.unit()), kind: 'others at once', what: { requests: plan.perMonth } };
    return { ...story, steady: 'exhausted', events: [taken] };
  }
  if (plan.perMonth !== undefined && drawn < 0.55) {
    const renewed = { at: at(0.3 + 0.4 * random.unit()), kind: 'renewal', what: { waitMs: 0 } };
    return { ...story, steady: 'renewed', events: [renewed] };
  }
  return { ...story, steady: 'plain', events: newcomers.sort((a, b) => a.at - b.at) };
}

/** The last days of a month in which others use the same share of the quota each day. */
function drawShared(seed: number, random: Random): Story {
  const perMonth = random.between(1_100, 1_800);
  const [lengthMs, everyMs] = [8 * DAY, 2 * HOUR];
  const times = lengthMs / everyMs;
  const requests = Math.round(((0.25 + 0.25 * random.unit()) * perMonth) / times);
  return {
    seed,
    start: Date.UTC(2026, random.between(1, 24)) - lengthMs - SECOND,
    lengthMs,
    setting: {
      service: calmService({ seed, plan: { perSecond: 5, perMonth } }),
      network: { latency: { low: 50, high: 300 }, faults: NO_FAULTS },
      exporter: USUAL,
    },
    steady: 'shared',
    events: [{ at: SECOND, kind: 'others for hours', what: { times, everyMs, requests } }],
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
