import { type Scrape, seriesNamed } from '../scrape.ts';
import type { TrafficEvent } from '../traffic.ts';
import type { World } from '../world.ts';
import type { Check } from './check.ts';
import { following, when } from './following.ts';

/** Requests that can be under way at once. */
const UNDER_WAY = 10;

/**
 * The use of the month by others, as the program tells it, is what others used (behaviour 8). A request of ours whose
 * answer tells nothing counts as theirs until its cause is over. Judged while nothing else has happened to the quota and
 * to what the program knows of it: what a killed process did not write counts as theirs for the rest of the month.
 */
export function usedByOthers(): Check {
  let isClear = true;
  let uninformed = 0;
  let total = 0;
  /** What others had used when the service counted a request that was answered, in order of the answers. */
  const told: { readonly at: number; readonly theirs: number }[] = [];
  const theirsAt = new Map<object, number>();

  function note(event: TrafficEvent): undefined {
    if (event.kind === 'others') total += event.requests;
    if (event.kind === 'counted') theirsAt.set(event.sent, total);
    if (event.kind === 'end') {
      const { head } = event.sent;
      if (head?.status !== 200) uninformed += 1;
    }
    if (event.kind === 'head') {
      const theirs = theirsAt.get(event.sent);
      theirsAt.delete(event.sent);
      if (event.sent.head?.status === 200 && theirs !== undefined) told.push({ at: event.at, theirs });
    }
    isClear &&= !changesMore(event);
  }

  const follower = following('ledger: what others used is told', note);
  return {
    ...follower,
    onScrape(scrape, world) {
      follower.onMoment(world);
      if (!isClear || !isTold(world) || !isOneMonth(world)) return undefined;
      // Rendered now and then; the newest answer may have come since.
      const before = told.findLast(({ at }) => at <= scrape.at - world.exporter.refreshMs - 1_000)?.theirs;
      for (const [labels, used] of seriesNamed(scrape, 'beaconchain_ratelimit_used_by_others')) {
        if (!labels.includes('window="month"') || before === undefined) continue;
        if (used < before) return `others used ${before}, told are ${used}`;
        if (used > total + uninformed + UNDER_WAY) return `others used ${total}, told are ${used}`;
      }
      return undefined;
    },
  };
}

function changesMore(event: TrafficEvent): boolean {
  if (event.kind === 'ended') return event.why !== 'stopped';
  return event.kind === 'plan' || event.kind === 'renewal' || event.kind === 'step';
}

/** Whether every answer tells what is left of a month that all requests share. */
function isTold({ service, exporter, story }: World): boolean {
  const { headers, buckets, plan } = service.setting;
  const isSame = exporter.key === story.setting.exporter.key && exporter.replicas === 0;
  return (
    isSame && headers.sent === 'all' && headers.without.length === 0 && buckets === 'one' && plan.perMonth !== undefined
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
  const answers = new Map<number, readonly number[]>();
  const follower = following('ledger: what is told to be left was said by an answer', (event) => {
    if (event.kind !== 'head') return undefined;
    const { head, process } = event.sent;
    const { 'x-ratelimit-remaining-month': month, 'ratelimit-remaining': one } = head?.headers ?? {};
    said.set(Number(month), event.at).set(Number(one), event.at);
    if (head?.status === 200 && month !== undefined)
      answers.set(process, [...(answers.get(process) ?? []), event.at].slice(-MANY_ANSWERS));
    return undefined;
  });

  /** What was said before this is out of date. A process that starts shows what is in the state. */
  function oldest({ process, at }: Scrape, { exporter, service }: World): number {
    // Other buckets may not be asked for hours, and replicas show what the leader was told.
    if (service.setting.buckets !== 'one' || exporter.replicas > 0) return Number.NEGATIVE_INFINITY;
    const shown = (answers.get(process) ?? []).filter((one) => one <= at - exporter.refreshMs - 1_000);
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
