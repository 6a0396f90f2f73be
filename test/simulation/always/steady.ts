import { MINUTE, SECOND } from '../../support/timing.ts';
import { type Scrape, seriesNamed, valueIn } from '../scrape.ts';
import type { Sent } from '../traffic.ts';
import type { World } from '../world.ts';
import { type Check, when } from './check.ts';

/** What a scrape told of one source. Times by the clock of the world, Unix ms. */
interface Told {
  readonly at: number;
  readonly intervalMs: number;
  readonly attempts: number;
  readonly lastAt: number;
  /** It waits for the quota. */
  readonly waits: boolean;
}

/** The sources that follow an interval; the others follow their data. */
function toldBySource(scrape: Scrape): Map<string, Told> {
  const sources = new Map<string, Told>();
  for (const [labels, seconds] of seriesNamed(scrape, 'beaconchain_source_interval_seconds')) {
    if (!/machines|slashings/.test(labels)) continue;
    const of = (what: string): number => scrape.series.get(`beaconchain_source_${what}{${labels}}`) ?? 0;
    sources.set(labels, {
      at: scrape.at,
      intervalMs: SECOND * seconds,
      attempts: of('attempts_total'),
      lastAt: SECOND * of('last_attempt_timestamp_seconds'),
      waits: of('quota_wait_end_timestamp_seconds') > 0,
    });
  }
  return sources;
}

/**
 * Checks that judge the trouble of a steady story as a whole, when it is over: nothing but the limits decides how the
 * program polls.
 */
function overall(name: string, judge: (past: Past, world: World) => string | undefined): Check {
  const past: Past = { told: new Map(), sent: [], last: undefined };
  return {
    name,
    onEvent(event, { story, isCalm }) {
      if (story.steady && !isCalm && event.kind === 'sent') past.sent.push(event.sent);
      return undefined;
    },
    onScrape(scrape, { story, isCalm }) {
      if (!story.steady || isCalm) return undefined;
      past.last = scrape;
      for (const [id, told] of toldBySource(scrape)) past.told.set(id, [...(past.told.get(id) ?? []), told]);
      return undefined;
    },
    atEnd: (world) => (past.last && past.sent.length > 0 ? judge(past, world) : undefined),
  };
}

interface Past {
  readonly told: Map<string, readonly Told[]>;
  readonly sent: Sent[];
  last: Scrape | undefined;
}

/** The part of a story in which the pace is steady. Before it the program learns. At the end of a quota single requests matter. */
function steadyPart(told: readonly Told[], { story }: World, until = 0.9): readonly Told[] {
  const from = story.start + 0.4 * story.lengthMs;
  return told.filter(({ at, lastAt }) => lastAt >= from && at <= story.start + until * story.lengthMs);
}

/** In a steady state the intervals told differ by less. */
const STEADY_RATIO = 1.25;
const FEWEST_GAPS = 3;
const MET_WITHIN = 0.05;

/** In a steady state the mean time between two polls is the interval told (behaviour 7). */
export function intervalsMet(): Check {
  return overall('pace: the mean time between polls is the interval told', ({ told: all }, world) => {
    const { exporter, service } = world.story.setting;
    for (const [id, moments] of world.story.steady === 'plain' ? all : []) {
      const told = steadyPart(moments, world);
      const [first, last] = [told[0], told.at(-1)];
      if (!first || !last || told.some(({ waits }) => waits)) continue;
      const intervals = told.map(({ intervalMs }) => intervalMs);
      const gaps = last.attempts - first.attempts;
      if (gaps < FEWEST_GAPS || Math.max(...intervals) > STEADY_RATIO * Math.min(...intervals)) continue;
      const met = (last.lastAt - first.lastAt) / gaps;
      const mean = intervals.reduce((sum, one) => sum + one, 0) / intervals.length;
      // Polls differ by whole requests: by those of a finalized pass of each chain, and for few of them by a part of a poll.
      const requestMs = SECOND / (service.plan.perSecond * exporter.utilization);
      const passMs = exporter.chains.length * 3 * requestMs;
      // Once an hour a sweep looks for late records on up to 30 pages (behaviour 12).
      const lateMs = id.includes('machines') ? 30 * requestMs : 0;
      const odd = Math.max(0.25 / (gaps + 1), passMs / mean / gaps, lateMs / mean / gaps);
      if (Math.abs(met / mean - 1) > MET_WITHIN + odd)
        return `${id}: told ${mean / SECOND} s, met ${met / SECOND} s in ${gaps} polls`;
    }
    return undefined;
  });
}

const USED = 0.9;
/** In the first minutes the program overestimates polls. */
const USED_AT_FIRST = 0.85;
const FIRST_MS = 15 * MINUTE;
const FEWEST_SWEEPS = 3;

/** Where the rate is what stretches the intervals, it is used but for what the latency leaves idle (behaviour 7). */
export function rateUsed(): Check {
  return overall('pace: no request is left unsent where the rate is too low', (past, world) => {
    const { steady, setting, lengthMs } = world.story;
    const { plan } = setting.service;
    if (steady !== 'plain' || plan.perMonth !== undefined) return undefined;
    const sweeps = steadyPart(past.told.get('source="machines"') ?? [], world, 1);
    const isStretched = sweeps.every(({ intervalMs }) => intervalMs > 1_020 * setting.exporter.intervals.machines);
    // From the start of one sweep to that of another.
    const begun = [...new Set(sweeps.map(({ lastAt }) => lastAt))];
    const [from = 0, to = 0] = [begun[0], begun.at(-1)];
    if (!isStretched || begun.length < FEWEST_SWEEPS || to - from < 2 * MINUTE) return undefined;
    const sent = past.sent.filter(({ at }) => at >= from && at < to);
    const latency = sent.reduce((sum, { at, endedAt = at }) => sum + endedAt - at, 0) / Math.max(1, sent.length);
    // A permit is free a second after its answer.
    const byPermits = Math.max(1, Math.floor(plan.perSecond)) / ((SECOND + latency) / SECOND);
    const allowed = ((to - from) / SECOND) * Math.min(plan.perSecond * setting.exporter.utilization, byPermits);
    if (sent.length >= (lengthMs < FIRST_MS ? USED_AT_FIRST : USED) * allowed - 1) return undefined;
    return `only ${((100 * sent.length) / allowed).toFixed(1)} % of the usable rate is used`;
  });
}

const SPENT = 0.97;
/** A quota up to this may be that of a trial, which ends after 30 days. */
const TRIAL = 1_000;

/** Where the quota is what stretches the intervals, the share is spent when the month ends (behaviour 9). */
export function quotaSpent(): Check {
  return overall('pace: no quota is left at the end of the month', (past, world) => {
    const { steady, start, lengthMs, setting, events } = world.story;
    const { perMonth } = setting.service.plan;
    if ((steady !== 'plain' && steady !== 'renewed') || perMonth === undefined || perMonth <= TRIAL) return undefined;
    const end = start + lengthMs;
    if (new Date(end).getUTCMonth() === new Date(end + 2 * MINUTE).getUTCMonth()) return undefined;
    const renewedAt = start + (events.find(({ kind }) => kind === 'renewal')?.at ?? 0);
    const begun = renewedAt + 0.1 * (end - renewedAt);
    const sweeps = past.told.get('source="machines"')?.filter(({ at }) => at >= begun) ?? [];
    if (!sweeps.every(({ intervalMs }) => intervalMs > 1_020 * setting.exporter.intervals.machines)) return undefined;
    const allowed = Math.floor(perMonth * setting.exporter.utilization);
    const spent = past.sent.filter(({ at, head }) => at >= renewedAt && head?.status === 200);
    const pages = spent.filter(({ endpoint }) => endpoint === 'machine_metrics').length;
    const perSweep = pages / (Number(sweeps.at(-1)?.attempts) - Number(sweeps[0]?.attempts) + 1);
    // The rest may be too small for one more poll of each source.
    if (spent.length >= SPENT * allowed - 2 - 1.3 * perSweep) return undefined;
    return `only ${spent.length} of ${allowed} requests are spent`;
  });
}

/** Nothing is refused in a steady world, also where others use the account as every day (behaviour 8, 10). */
export function nothingRefused(): Check {
  return overall('pace: a steady world refuses nothing', ({ told, sent, last }, world) => {
    const { steady, events, setting } = world.story;
    if (steady === 'exhausted') return undefined;
    // A burst of others can take all of one second.
    const refused = sent.find(({ counted }) => (counted?.refusedBy ?? 'second') !== 'second');
    if (refused) return `${refused.endpoint} is refused at ${when(refused.at, world)}`;
    if (steady !== 'shared' || !last) return undefined;
    const waiting = [...told].find(([, moments]) => moments.some(({ waits }) => waits));
    if (waiting) return `${waiting[0]} has waited for the quota`;
    const what = events[0]?.what as { times: number; requests: number } | undefined;
    const used = (what?.times ?? 0) * (what?.requests ?? 0);
    const shown = valueIn(last, 'beaconchain_ratelimit_used_by_others', 'bucket="default",window="month"') ?? 0;
    // The newest answer is from before the last ones of others.
    return Math.abs(shown - used) <= 0.05 * Number(setting.service.plan.perMonth)
      ? undefined
      : `others have used ${used}, and ${shown} are told`;
  });
}

/** An exhausted quota is a wait, not an interval: the interval told does not grow (behaviour 9a). */
export function stretchedByNothing(): Check {
  return overall('pace: no interval is stretched by nothing', ({ told: all }, { story }) => {
    if (story.steady !== 'exhausted') return undefined;
    const takenAt = story.start + (story.events[0]?.at ?? 0);
    for (const [id, told] of all) {
      const before = told.filter(({ at }) => at <= takenAt && at > story.start + 0.1 * story.lengthMs);
      const longest = Math.max(...before.map(({ intervalMs }) => intervalMs));
      const stretched = told.find(({ at, intervalMs }) => at > takenAt && intervalMs > 1.05 * longest);
      if (before.length > 0 && stretched)
        return `${id}: told ${stretched.intervalMs / SECOND} s where nothing is left, ${longest / SECOND} s before`;
    }
    return undefined;
  });
}

/** Requests; for the whole ms of the clocks. */
const TOLERANCE = 0.1;

/** In any span of time no more is sent than the share of the rate, plus the permits that may be used at once (behaviour 7). */
export function shareOfRate(): Check {
  return overall('pace: no more than the share of the rate', ({ sent }, world) => {
    const { exporter, service } = world.story.setting;
    const { perSecond } = service.plan;
    // What was sent and is more than the rate alone allows: as the level of a leaky bucket.
    let [level, last] = [0, 0];
    for (const { at } of sent) {
      level = Math.max(0, level - ((at - last) / SECOND) * perSecond * exporter.utilization) + 1;
      last = at;
      if (level > Math.ceil(perSecond) + 1 + TOLERANCE)
        return `${level.toFixed(1)} requests more than the rate allows up to ${when(at, world)}`;
    }
    return undefined;
  });
}
