import { monthStart } from '../../../src/budget/long-window.ts';
import { DAY, HOUR, SECOND } from '../../support/timing.ts';
import type { Scrape } from '../scrape.ts';
import type { World } from '../world.ts';
import type { Check } from './check.ts';
import { following, when } from './following.ts';
import { KEPT_AFTER_MS } from './limits.ts';
import { momentOf, type Told, undisturbed } from './spells.ts';
import { isKnown } from './steady.ts';

const GROWN = 1.05;

/**
 * An exhausted quota is a wait, not an interval: while nothing is left, the interval told is that of the last polls that
 * had a budget (behaviour 9a).
 */
export function stretchedByNothing(): Check {
  /** What was told of each source while something was left. */
  const lately = new Map<string, readonly Told[]>();
  let changedAt = Number.NEGATIVE_INFINITY;
  let answeredAt = Number.NEGATIVE_INFINITY;
  /** When the process that runs had its first answer. */
  let learnedAt = Number.POSITIVE_INFINITY;
  /** Polls with a refused key have no budget. */
  let isRefused = false;
  const follower = following('pace: no interval is stretched by nothing', (event) => {
    const { kind, at } = event;
    if (kind === 'others' || kind === 'plan' || kind === 'renewal' || kind === 'reload' || kind === 'step')
      changedAt = at;
    if (kind === 'start') learnedAt = Number.POSITIVE_INFINITY;
    if (kind !== 'head') return undefined;
    learnedAt = Math.min(learnedAt, at);
    if (event.sent.at > changedAt) answeredAt = at;
    isRefused = event.sent.head?.status === 401;
    return undefined;
  });
  return {
    ...follower,
    onScrape(scrape, world) {
      follower.onMoment(world);
      if (world.exporter.replicas > 0 || !isKnown(world)) return undefined;
      // What is told was rendered a while ago.
      const renderedAt = scrape.at - world.exporter.refreshMs - SECOND;
      const isSure = answeredAt > changedAt && renderedAt > answeredAt;
      const isEmpty = isUsedUp(scrape, world);
      for (const [id, now] of momentOf(scrape).sources) {
        const recent = (lately.get(id) ?? []).filter(({ attempts }) => attempts >= now.attempts - 1);
        const longest = Math.max(...recent.map(({ intervalMs }) => intervalMs));
        if (isEmpty && isSure && recent.length > 0 && now.intervalMs > GROWN * longest)
          return `${id}: told ${now.intervalMs / SECOND} s where nothing is left, ${longest / SECOND} s before`;
        // A longer one that is told while something is left, or seems to be, is the plan.
        if ((isEmpty && isSure) || isRefused || renderedAt < learnedAt) continue;
        lately.set(id, [...recent.filter(({ intervalMs }) => intervalMs > now.intervalMs), now]);
      }
      return undefined;
    },
  };
}

/** Nothing is left for all, or nothing of our share. */
function isUsedUp({ ownAt }: Scrape, { service, exporter, clock, story }: World): boolean {
  const { perMonth = Number.POSITIVE_INFINITY } = service.account.plan;
  const share = Math.floor(perMonth * exporter.utilization);
  const counted = [...service.account.counted(clock.now()).values()];
  // A program has a new share in each calendar month. It then takes what it used of a quota that goes on for the use of
  // others, and still has what they leave.
  const isShareNew = service.setting.month === 'thirty_days' && monthStart(ownAt) > story.start;
  return counted.some(({ month }) => month.ours + month.theirs >= perMonth || (month.ours >= share && !isShareNew));
}

/** In the first hour after its first plan the program learns how many requests polls need. */
const LEARNING_MS = HOUR;

/** A plan is logged once a day at most while the limits and the configuration stay the same (behaviour 9). */
export function plansToldSeldom(): Check {
  const plans = new Map<string, { process: number; first: number; last: number }>();
  let changedAt = Number.NEGATIVE_INFINITY;
  /** A change of the account becomes known with the next answer that names the limits. */
  let isUnknown = false;
  let learnedAt = Number.NEGATIVE_INFINITY;
  const follower = following('process: plans are told seldom', (event) => {
    const { kind, at } = event;
    if (kind === 'plan' || kind === 'renewal') isUnknown = true;
    // A process that is killed may not have written it.
    if (kind === 'ended' && at < learnedAt + KEPT_AFTER_MS) isUnknown = true;
    const isLearned = isUnknown && kind === 'head' && event.sent.head?.status === 200;
    if (isLearned || kind === 'plan' || kind === 'renewal' || kind === 'reload' || kind === 'step') changedAt = at;
    if (isLearned) {
      isUnknown = false;
      learnedAt = at;
    }
    return undefined;
  });
  return {
    ...follower,
    onMoment(world) {
      follower.onMoment(world);
      for (const { name, process } of world.hosts) {
        for (const at of process?.plans.splice(0) ?? []) {
          const number = process?.number ?? 0;
          const before = plans.get(name);
          const isNew = before?.process !== number || changedAt >= before.first;
          plans.set(name, isNew ? { process: number, first: at, last: at } : { ...before, last: at });
          // The limits of another bucket become known with its first answer, which can be hours later.
          if (isNew || !isKnown(world) || at <= before.first + LEARNING_MS || at - before.last >= DAY) continue;
          return `the plan is told at ${when(at, world)}, ${(at - before.last) / SECOND} s after the last time`;
        }
      }
      return undefined;
    },
  };
}

const EARLY_POLLS = 5;
const USUAL = 0.95;
/** With fewer requests left, a poll that needs more than usual may fail. */
const FEW_LEFT = 4;

/** Without a disturbance no poll fails, except one that needs more of the last requests of a quota than usual. */
export function pollsSucceed(): Check {
  return undisturbed('pace: no poll begins that the quota does not allow to end', (spell, world) => {
    const { setting, events } = world.story;
    const { service, network } = setting;
    const isOdd = Object.values(service.odd).some((share) => share > 0);
    const hasFaults = Object.values(network.faults).some((share) => share > 0);
    const isQuiet = events.every(({ kind }) => kind === 'machine appears') && service.liveliness === 0;
    const isAllServed = Object.values(service.views).every(Boolean);
    if (isOdd || hasFaults || !isQuiet || !isAllServed || !isKnown(world)) return undefined;
    const { perMonth = Number.POSITIVE_INFINITY, perHour } = spell.plan;
    if (perHour !== undefined || spell.since > world.story.start + SECOND) return undefined;
    const sweeps = spell.moments.at(-1)?.sources.get('machines')?.attempts ?? 1;
    const perSweep = spell.sent.filter(({ endpoint }) => endpoint === 'machine_metrics').length / Math.max(1, sweeps);
    const allowed = Math.floor(perMonth * spell.exporter.utilization);
    for (const [i, { sources }] of spell.moments.entries()) {
      for (const [id, told] of sources) {
        const before = spell.moments[i - 1]?.sources.get(id);
        if (!before || told.failures === before.failures || told.attempts <= EARLY_POLLS) continue;
        if (told.attempts !== before.attempts + 1) continue;
        const left = allowed - spell.sent.filter(({ ownAt }) => ownAt < told.lastAt).length;
        if (left < FEW_LEFT || (left < Number.POSITIVE_INFINITY && left >= USUAL * perSweep)) continue;
        return `${id} fails with ${left} requests left`;
      }
    }
    return undefined;
  });
}
