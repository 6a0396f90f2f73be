import { MINUTE } from '../../support/timing.ts';
import type { ExporterSetting } from '../exporter-setting.ts';
import type { Scrape } from '../scrape.ts';
import { seriesNamed } from '../scrape.ts';
import type { Plan } from '../service/setting.ts';
import type { Sent, TrafficEvent } from '../traffic.ts';
import type { World } from '../world.ts';
import type { Check } from './check.ts';
import { following } from './following.ts';

/** What a process tells of a source. Times are Unix ms by its clock. */
export interface Told {
  readonly intervalMs: number;
  readonly attempts: number;
  readonly failures: number;
  /** When its last poll began. */
  readonly lastAt: number;
  /** How long its last poll took, with the waits for the budget. */
  readonly durationMs: number;
  readonly isUp: boolean;
  /** It waits for the quota. */
  readonly waits: boolean;
}

/** What a process tells at one time. */
export interface Moment {
  readonly at: number;
  readonly ownAt: number;
  /** By source: its name, and its chain after a dash. */
  readonly sources: ReadonlyMap<string, Told>;
}

/** A time in which nothing disturbs one process: only the limits decide how it polls. */
export interface Spell {
  /** True time, Unix ms. */
  readonly since: number;
  readonly end: number;
  readonly moments: readonly Moment[];
  readonly sent: readonly Sent[];
  readonly plan: Plan;
  readonly exporter: ExporterSetting;
}

const DISTURBANCES: readonly TrafficEvent['kind'][] = ['others', 'plan', 'renewal', 'start', 'reload', 'step', 'ended'];

/** Whether something else than the limits may decide from now on how a process polls. */
export function isDisturbance(event: TrafficEvent): boolean {
  return DISTURBANCES.includes(event.kind) || isFailure(event);
}

/** Whether it is the end of a request that failed. */
export function isFailure(event: TrafficEvent): event is Extract<TrafficEvent, { sent: Sent }> {
  return event.kind === 'end' && (event.sent.failure !== undefined || event.sent.head?.status !== 200);
}

/** A poll reads fewer epochs by their number, unless finality has stalled or the source was off. */
const MANY_EPOCHS = 4;

/** Epochs that became final together are read in several polls, each at once after the one before. */
class CatchingUp {
  readonly #readAt = new Map<string, readonly number[]>();

  /** Whether with this event a source has read many epochs within a minute. */
  read(event: TrafficEvent): boolean {
    if (event.kind !== 'sent' || !/\/epoch\/\d+\/slots$/.test(event.sent.request.path)) return false;
    const { source, process, at } = event.sent;
    const id = `${process} ${source}`;
    const lately = [...(this.#readAt.get(id) ?? []).filter((one) => one > at - MINUTE), at];
    this.#readAt.set(id, lately);
    return lately.length >= MANY_EPOCHS;
  }
}

/** The program goes by its last plan until an answer tells it the new one. While access is revoked, that takes hours. */
class KnownPlan {
  isTold = true;
  #changedAt = Number.NEGATIVE_INFINITY;

  /** Whether this event tells the new plan. */
  read(event: TrafficEvent): boolean {
    if (event.kind === 'plan') [this.isTold, this.#changedAt] = [false, event.at];
    if (this.isTold || event.kind !== 'head') return false;
    const { at, head } = event.sent;
    this.isTold = head?.status === 200 && at >= this.#changedAt;
    return this.isTold;
  }
}

/**
 * A check of the times without disturbance: no failure of a request, no start, reload, pause or step of a clock, nothing
 * that others do with the account, no new month, no epochs to catch up with, and no plan that no answer has told yet.
 * `judge` returns what was wrong in one of them.
 */
export function undisturbed(name: string, judge: (spell: Spell, world: World) => string | undefined): Check {
  let since = Number.NEGATIVE_INFINITY;
  let moments: Moment[] = [];
  let sent: Sent[] = [];
  let wrong: string | undefined;

  let limits: Pick<Spell, 'plan' | 'exporter'> | undefined;

  function close(at: number, world: World): void {
    if (moments.length > 0 && limits) wrong ??= judge({ since, end: at, moments, sent, ...limits }, world);
    since = at;
    moments = [];
    sent = [];
  }

  const catchingUp = new CatchingUp();
  const plan = new KnownPlan();
  const follower = following(name, (event, world) => {
    const isNews = plan.read(event);
    if (isDisturbance(event) || isNews || catchingUp.read(event)) close(event.at, world);
    else if (event.kind === 'sent') sent.push(event.sent);
    return wrong;
  });

  return {
    ...follower,
    onScrape(scrape, world) {
      // Replicas change their roles; the pace is the same. In the calm a limit of its own applies.
      if (world.exporter.replicas > 0 || world.isCalm) return undefined;
      const told = follower.onMoment(world);
      const last = moments.at(-1)?.at ?? scrape.at;
      const resumedAt = world.host(scrape.host).process?.clock.resumesAt ?? 0;
      if (resumedAt > since || monthOf(last) !== monthOf(scrape.at)) close(Math.max(last, resumedAt), world);
      // What is told may have been rendered before the spell began.
      const moment = momentOf(scrape);
      const isRecent = scrape.at - since > world.exporter.refreshMs + 1_000;
      if (isRecent && plan.isTold && !isFromLaterClock(moment)) moments.push(moment);
      limits = { plan: world.service.account.plan, exporter: world.lastRead };
      return told ?? wrong;
    },
  };
}

/** What was told in a part of the spell. */
export function momentsIn({ since, end, moments }: Spell, [from, to]: readonly [number, number]): readonly Moment[] {
  const at = (part: number): number => since + part * (end - since);
  return moments.filter((one) => one.at >= at(from) && one.at <= at(to));
}

/** Whether a source follows an interval. The others follow their data. */
export function isPaced(id: string): boolean {
  return id === 'machines' || id.startsWith('slashings');
}

export function pacedIn(moments: readonly Moment[]): string[] {
  return [...(moments[0]?.sources.keys() ?? [])].filter(isPaced);
}

export function momentOf(scrape: Scrape): Moment {
  const sources = new Map<string, Told>();
  for (const [labels, seconds] of seriesNamed(scrape, 'beaconchain_source_interval_seconds')) {
    const of = (what: string): number => scrape.series.get(`beaconchain_source_${what}{${labels}}`) ?? 0;
    sources.set(idOf(labels), {
      intervalMs: 1_000 * seconds,
      attempts: of('attempts_total'),
      failures: of('failures_total'),
      lastAt: 1_000 * of('last_attempt_timestamp_seconds'),
      durationMs: 1_000 * of('duration_seconds'),
      isUp: of('up') === 1,
      waits: of('quota_wait_end_timestamp_seconds') > 0,
    });
  }
  return { at: scrape.at, ownAt: scrape.ownAt, sources };
}

/** Whether a source was last polled before the clock was set back. */
function isFromLaterClock({ ownAt, sources }: Moment): boolean {
  return [...sources.values()].some(({ lastAt }) => lastAt > ownAt);
}

/** `source="slashings",chain="hoodi"` as `slashings-hoodi`. */
export function idOf(labels: string): string {
  return [...labels.matchAll(/="([^"]*)"/g)].map(([, value]) => value).join('-');
}

function monthOf(at: number): number {
  return new Date(at).getUTCMonth();
}
