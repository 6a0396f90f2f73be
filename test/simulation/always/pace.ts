import { MINUTE, SECOND } from '../../support/timing.ts';
import type { Scrape } from '../scrape.ts';
import { seriesNamed } from '../scrape.ts';
import type { World } from '../world.ts';
import type { Check } from './check.ts';
import { storeTroubleAt } from './circumstances.ts';
import { following, when } from './following.ts';
import { idOf, isDisturbance, isPaced } from './spells.ts';

/** A gap may be this many times the longest interval told in it. */
const MAX_GAP = 1.5;
/** A heartbeat of the scheduler, and the second after a start. */
const LATE_MS = 20 * SECOND;
/** A wait shorter than an interval is not announced. */
const UNTOLD_WAIT = 0.5;
/** A request that waits for the others goes first after this time (behaviour 11). */
const QUEUED_MS = MINUTE;
const BUSY = 0.7;

interface Paced {
  readonly process: number;
  /** True time of the last request, or since when nothing has disturbed the source. */
  readonly since: number;
  /** When the first scrape since then was. What was told before it, no scrape saw. */
  readonly seenAt: number;
  /** The longest interval told since, ms. */
  readonly toldMs: number;
  /** The latest next attempt told since, in true time, ms. */
  readonly nextAt: number;
}

/**
 * A source is polled within 1.5 times the interval it tells, or about when it says that it will (behaviour 7, 9). Not
 * judged: the time of a failure and of the first polls after it, of a start, a reload, a pause, a step of a clock, and
 * what others take from the account.
 */
export function toldIsMet(): Check {
  const known = new Map<string, Paced>();
  const lastSent = new Map<string, number>();
  let sent: number[] = [];
  let disturbedAt = Number.NEGATIVE_INFINITY;
  const follower = following('pace: what is told is met', (event) => {
    if (event.kind === 'sent') {
      lastSent.set(`${event.sent.process} ${event.sent.source}`, event.at);
      sent = [...sent.filter((at) => at > event.at - QUEUED_MS), event.at];
    }
    if (isDisturbance(event)) disturbedAt = event.at;
    return undefined;
  });

  function judge(scrape: Scrape, world: World, source: string, told: Told): string | undefined {
    const host = world.host(scrape.host);
    const id = `${scrape.process} ${source}`;
    const pausedUntil = host.process?.clock.resumesAt ?? 0;
    const since = Math.max(lastSent.get(id) ?? 0, disturbedAt, pausedUntil);
    const before = known.get(id);
    const isSame = before?.since === since && told.isUp;
    const nextAt = told.nextAt + scrape.at - scrape.ownAt;
    const now: Paced = {
      process: scrape.process,
      since,
      seenAt: isSame ? before.seenAt : scrape.at,
      toldMs: Math.max(told.intervalMs, isSame ? before.toldMs : 0),
      nextAt: Math.max(
        told.waitAt + scrape.at - scrape.ownAt,
        nextAt > scrape.at ? nextAt : 0,
        isSame ? before.nextAt : 0,
      ),
    };
    known.set(id, now);
    if (!isSame) return undefined;
    const gap = scrape.at - since;
    const { plan } = world.service.account;
    const hasQuota = plan.perMonth !== undefined || plan.perHour !== undefined;
    const rate = (plan.perSecond * world.exporter.utilization * QUEUED_MS) / SECOND;
    const isBusy = sent.filter((at) => at > scrape.at - QUEUED_MS).length + 1 > BUSY * rate;
    // What is told now may be rendered a while later.
    const late = LATE_MS + (isBusy ? QUEUED_MS : 0) + world.exporter.refreshMs;
    const longest = (MAX_GAP + (hasQuota ? UNTOLD_WAIT : 0)) * now.toldMs + late;
    if (scrape.at - now.seenAt <= longest || scrape.at <= now.nextAt + UNTOLD_WAIT * now.toldMs + late)
      return undefined;
    return `${source}: nothing for ${gap / SECOND} s from ${when(since, world)} on, told ${now.toldMs / SECOND} s`;
  }

  return {
    ...follower,
    onScrape(scrape, world) {
      follower.onMoment(world);
      // Replicas change their roles; the pace is the same.
      if (world.exporter.replicas > 0) return undefined;
      for (const [labels, seconds] of seriesNamed(scrape, 'beaconchain_source_interval_seconds')) {
        const source = idOf(labels);
        if (!isPaced(source)) continue;
        const of = (what: string): number => scrape.series.get(`beaconchain_source_${what}{${labels}}`) ?? 0;
        const told: Told = {
          intervalMs: seconds * SECOND,
          nextAt: of('next_attempt_timestamp_seconds') * SECOND,
          waitAt: of('quota_wait_end_timestamp_seconds') * SECOND,
          isUp: of('up') === 1,
        };
        const wrong = judge(scrape, world, source, told);
        if (wrong !== undefined) return wrong;
      }
      return undefined;
    },
  };
}

interface Told {
  readonly intervalMs: number;
  readonly nextAt: number;
  readonly waitAt: number;
  readonly isUp: boolean;
}

/** Requests; for the whole ms of the clocks. */
const TOLERANCE = 0.1;

/**
 * In any span of time a process sends no more than its share of the rate, plus the permits that it may use at once
 * (behaviour 7).
 */
export function shareOfRate(): Check {
  let process = 0;
  let last = 0;
  /** What was sent and is more than the rate alone allows: as the level of a leaky bucket. */
  let level = 0;
  let most = 0;
  let mostAtOnce = 0;
  /** When the plan changed, or a process started that may know only an earlier one, until an answer tells it. */
  let planAt = Number.POSITIVE_INFINITY;
  let perSecond: number | undefined;
  /** Of all plans so far. */
  let highest = 0;

  // Each process goes by the configuration that it has read.
  function restart({ story, exporter }: World): void {
    perSecond ??= story.setting.service.plan.perSecond;
    const rate = perSecond * Math.max(exporter.utilization, story.setting.exporter.utilization);
    level = 0;
    if (planAt < Number.POSITIVE_INFINITY) return;
    most = rate;
    mostAtOnce = 0;
  }

  return following('pace: no more than the share of the rate', (event, world) => {
    if (event.kind === 'reload' || event.kind === 'start') restart(world);
    highest = Math.max(highest, world.service.account.plan.perSecond, world.story.setting.service.plan.perSecond);
    const hasOldState = event.kind === 'start' && storeTroubleAt(world, event.host) > Number.NEGATIVE_INFINITY;
    // Until an answer tells of another plan, the limit may be that of an earlier one.
    if (event.kind === 'plan' || hasOldState) {
      most = Math.max(most, highest * world.exporter.utilization);
      mostAtOnce = Math.max(mostAtOnce, Math.ceil(highest) + 1);
      planAt = event.at;
      perSecond = world.service.account.plan.perSecond;
    }
    if (event.kind === 'head' && event.sent.at >= planAt && event.sent.head?.status === 200) {
      planAt = Number.POSITIVE_INFINITY;
      restart(world);
    }
    if (event.kind !== 'sent') return undefined;
    const { sent } = event;
    if (process !== sent.process) restart(world);
    perSecond ??= world.story.setting.service.plan.perSecond;
    most = Math.max(most, perSecond * world.exporter.utilization);
    level = Math.max(0, level - ((sent.at - last) / SECOND) * most) + 1;
    [process, last] = [sent.process, sent.at];
    // Each bucket of the service has its own limit.
    if (world.service.setting.buckets !== 'one') return undefined;
    mostAtOnce = Math.max(mostAtOnce, Math.ceil(perSecond) + 1);
    if (level <= mostAtOnce + TOLERANCE) return undefined;
    return `${level.toFixed(1)} requests more than the rate allows up to ${when(sent.at, world)}, ${mostAtOnce} may be sent at once`;
  });
}

/** In the end the plan allows everything: every source has its configured interval, and none waits (behaviour 9). */
export function intervalsAsConfigured(): Check {
  return {
    name: 'pace: everything as configured in the end',
    atEnd(world, scrapes) {
      const { sent } = world.service.setting.headers;
      // Without headers the program stays at one request a second, which may be too little.
      const isTold = sent === 'all' || sent === 'extended' || sent === 'basic';
      for (const scrape of scrapes) {
        for (const [labels, ratio] of seriesNamed(scrape, 'beaconchain_budget_stretch_ratio')) {
          if (isTold && ratio > 1.001) return `${scrape.host}: ${labels} is stretched by ${ratio}`;
        }
        for (const [labels, until] of seriesNamed(scrape, 'beaconchain_source_quota_wait_end_timestamp_seconds')) {
          if (until > scrape.ownAt / SECOND) return `${scrape.host}: ${labels} waits for the quota`;
        }
        if (scrape.series.get('beaconchain_api_access_revoked') !== 0) return `${scrape.host}: access is revoked`;
        if (scrape.series.get('beaconchain_api_key_valid') !== 1) return `${scrape.host}: the key is not valid`;
      }
      return undefined;
    },
  };
}
