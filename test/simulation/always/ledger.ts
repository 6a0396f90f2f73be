import { SECOND } from '../../support/timing.ts';
import { type Scrape, seriesNamed, valueIn } from '../scrape.ts';
import type { Sent, TrafficEvent } from '../traffic.ts';
import type { World } from '../world.ts';
import type { Check } from './check.ts';
import { following, when } from './following.ts';

/** Requests that can be under way at once. */
const UNDER_WAY = 10;

/** What a process was told before, it has written by its death. */
const KEPT_AFTER_MS = 5 * SECOND;

interface Answered {
  readonly at: number;
  /** What others had used of the bucket when the service counted the request. */
  readonly theirs: number;
}

/**
 * The use of the month by others, as the program tells it, is what others used (behaviour 8). A request of ours whose
 * answer tells nothing counts as theirs until its cause is over, and what a killed process did not write counts as theirs
 * for the rest of the month. Judged while nothing else has happened to the quota and to what the program knows of it.
 */
export function usedByOthers(): Check {
  let isClear = true;
  /** Requests of ours that may count as those of others. */
  let unknown = 0;
  let total = 0;
  /** What others have used, by bucket. They use each one that is in use. */
  const used = new Map<string, number>();
  const theirsAt = new WeakMap<Sent, { readonly bucket: string; readonly theirs: number }>();
  /** By bucket, in order of the answers. */
  const answers = new Map<string, Answered[]>();
  let recent: number[] = [];

  function note(event: TrafficEvent, world: World): undefined {
    const { at } = event;
    if (event.kind === 'others') {
      total += event.requests;
      for (const [bucket, before] of used) used.set(bucket, before + event.requests);
    }
    if (event.kind === 'counted') onCounted(event);
    if (event.kind === 'end' && event.sent.head?.status !== 200) unknown += 1;
    if (event.kind === 'head') onHead(event.sent, at);
    if (event.kind === 'ended') onProcessEnded(event, world);
    isClear &&= !changesMore(event);
  }

  function onProcessEnded({ host, why, at }: Extract<TrafficEvent, { kind: 'ended' }>, world: World): void {
    const isStopped = why === 'stopped';
    if (!isStopped) unknown += recent.filter((one) => one > at - KEPT_AFTER_MS).length;
    // What could not be written for long is lost, too. A process that stops writes everything that it then can.
    const since = isStopped ? at - KEPT_AFTER_MS : Number.NEGATIVE_INFINITY;
    if (world.host(host).diskTroubleAt > since) isClear = false;
  }

  function onCounted({ sent, exchange: { bucket }, at }: Extract<TrafficEvent, { kind: 'counted' }>): void {
    recent = [...recent.filter((one) => one > at - KEPT_AFTER_MS), at];
    if (bucket === undefined) return;
    // With one bucket, others use it before the first request.
    const theirs = used.get(bucket) ?? (used.size === 0 && bucket === 'default' ? total : 0);
    used.set(bucket, theirs);
    theirsAt.set(sent, { bucket, theirs });
  }

  function onHead(sent: Sent, at: number): void {
    const counted = theirsAt.get(sent);
    theirsAt.delete(sent);
    if (sent.head?.status !== 200 || !counted) return;
    const { bucket, theirs } = counted;
    const before = answers.get(bucket) ?? [];
    before.push({ at, theirs });
    answers.set(bucket, before);
  }

  const follower = following('ledger: what others used is told', note);
  return {
    ...follower,
    onScrape(scrape, world) {
      follower.onMoment(world);
      // Another key begins anew, and so does the first one after it.
      isClear &&= world.exporter.key === world.story.setting.exporter.key;
      if (!isClear || !isTold(world) || !isOneMonth(world)) return undefined;
      const { lostStateAt } = world.host(scrape.host);
      if (lostStateAt > Number.NEGATIVE_INFINITY) return undefined;
      // Until an answer names its bucket, a request counts in the one that all share.
      const misplaced = world.service.setting.buckets === 'one' ? 0 : UNDER_WAY;
      for (const [bucket, all] of answers) {
        // Rendered now and then; the newest answer may have come since.
        const before = all.findLast(({ at }) => at <= scrape.at - world.exporter.refreshMs - SECOND)?.theirs;
        const labels = `bucket="${bucket}",window="month"`;
        const told = valueIn(scrape, 'beaconchain_ratelimit_used_by_others', labels);
        if (before === undefined || told === undefined) continue;
        if (told < before - misplaced) return `${bucket}: others used ${before}, told are ${told}`;
        if (told > total + unknown + UNDER_WAY) return `${bucket}: others used ${total}, told are ${told}`;
      }
      return undefined;
    },
  };
}

function changesMore({ kind }: TrafficEvent): boolean {
  return kind === 'plan' || kind === 'renewal' || kind === 'step';
}

/** Whether every answer tells what is left of the month. */
function isTold({ service, exporter }: World): boolean {
  const { headers, plan } = service.setting;
  return (
    exporter.replicas === 0 && headers.sent === 'all' && headers.without.length === 0 && plan.perMonth !== undefined
  );
}

/** Neither the month nor the hour has renewed since the start; their ends differ between the clocks. */
function isOneMonth({ clock, story }: World): boolean {
  const months = [story.start - 10_000, clock.now() + 10_000].map((at) => new Date(at).getUTCMonth());
  return months[0] === months[1];
}

/** So many answers may have come in another order than the service counted their requests. */
const LATEST_ANSWERS = 20;
/** More than the latest, because what is shown was rendered a while ago. */
const MANY_ANSWERS = 500;

/** What is told to be left of the month is what an answer said, and one of the latest. */
export function toldRemaining(): Check {
  /** When each amount was last said. */
  const said = new Map<number, number>();
  /** When the answers came that said one, by process. */
  const answers = new Map<number, number[]>();
  const follower = following('ledger: what is told to be left was said by an answer', (event) => {
    if (event.kind !== 'head') return undefined;
    const { head, process } = event.sent;
    const { 'x-ratelimit-remaining-month': month, 'ratelimit-remaining': one } = head?.headers ?? {};
    said.set(Number(month), event.at).set(Number(one), event.at);
    if (head?.status !== 200 || month === undefined) return undefined;
    const before = answers.get(process) ?? [];
    before.push(event.at);
    if (before.length > 2 * MANY_ANSWERS) before.splice(0, MANY_ANSWERS);
    answers.set(process, before);
    return undefined;
  });

  /** What was said before this is out of date. A process that starts shows what is in the state. */
  function oldest({ process, at }: Scrape, { exporter, service }: World): number {
    // Other buckets may not be asked for hours, and replicas show what the leader was told.
    if (service.setting.buckets !== 'one' || exporter.replicas > 0) return Number.NEGATIVE_INFINITY;
    const shown = (answers.get(process) ?? []).filter((one) => one <= at - exporter.refreshMs - SECOND);
    return shown.at(-LATEST_ANSWERS) ?? Number.NEGATIVE_INFINITY;
  }

  return {
    ...follower,
    onScrape(scrape, world) {
      follower.onMoment(world);
      for (const [labels, left] of seriesNamed(scrape, 'beaconchain_ratelimit_remaining')) {
        if (!labels.includes('window="month"')) continue;
        const at = said.get(left);
        if (at === undefined) return `${labels} ${left} was never said`;
        if (at < oldest(scrape, world)) return `${labels} ${left} was last said at ${when(at, world)}`;
      }
      return undefined;
    },
  };
}
