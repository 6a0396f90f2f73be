import { DAY, MINUTE, SECOND } from '../../support/timing.ts';
import type { Plan } from '../service/setting.ts';
import { OTHERS } from '../steady.ts';
import { isLong } from '../story.ts';
import type { Sent } from '../traffic.ts';
import type { World } from '../world.ts';
import type { Check } from './check.ts';
import { type Moment, momentOf, momentsIn, pacedIn, type Spell, type Told, undisturbed } from './spells.ts';

/** The steady part of a spell. Before it the program learns. At the end of a quota single requests matter. */
const STEADY = [0.4, 0.9] as const;
const FEWEST_GAPS = 3;
const MET_WITHIN = 0.05;
/** More tolerance for few polls, because polls differ by whole requests. */
const ODD_POLL = 0.25;
/** Requests by which one sweep takes longer than another, because a finalized pass of a chain falls into it. */
const PASS_REQUESTS = 3;
/** In a steady state the intervals told differ by less. */
const STEADY_RATIO = 1.25;

/** In a steady state the mean time between two polls is the interval told, within 5 % (behaviour 7). */
export function intervalsMet(): Check {
  return undisturbed('pace: the mean time between polls is the interval told', (spell, world) => {
    // What is not told of a quota is learned from refusals.
    if (hasQuota(spell.plan) && !isKnown(world)) return undefined;
    const steady = momentsIn(spell, STEADY);
    const from = steady[0]?.ownAt ?? 0;
    for (const id of pacedIn(steady)) {
      const begun = toldOf(id, steady).filter(({ lastAt }) => lastAt >= from);
      const wrong = unmet(id, begun, spell);
      if (wrong !== undefined) return wrong;
    }
    return undefined;
  });
}

function toldOf(id: string, moments: readonly Moment[]): Told[] {
  return moments.flatMap(({ sources }) => sources.get(id) ?? []);
}

function unmet(id: string, told: readonly Told[], { exporter, plan }: Spell): string | undefined {
  const [first, last] = [told[0], told.at(-1)];
  if (!first || !last || told.some(({ waits, isUp }) => waits || !isUp)) return undefined;
  const gaps = last.attempts - first.attempts;
  if (gaps < FEWEST_GAPS) return undefined;
  const intervals = told.map(({ intervalMs }) => intervalMs);
  if (Math.max(...intervals) > STEADY_RATIO * Math.min(...intervals)) return undefined;
  const met = (last.lastAt - first.lastAt) / gaps;
  const mean = intervals.reduce((sum, one) => sum + one, 0) / intervals.length;
  const perSecond = plan.perSecond * exporter.utilization;
  const passMs = (exporter.chains.length * PASS_REQUESTS * SECOND) / perSecond;
  const odd = Math.max(ODD_POLL / (gaps + 1), passMs / mean / gaps);
  if (Math.abs(met / mean - 1) <= MET_WITHIN + odd) return undefined;
  return `${id}: told ${mean / SECOND} s, met ${met / SECOND} s in ${gaps} polls`;
}

/** The share that must be used of what the rate and the latency allow. In the first minutes the program overestimates polls. */
const USED = { atFirst: 0.85, later: 0.9 } as const;
const FIRST_MS = 15 * MINUTE;
/** In less time a single request matters. */
const MIN_SPELL_MS = 2 * MINUTE;
const FEWEST_SWEEPS = 3;

/** Where the rate is what stretches the intervals, it is used but for what the latency leaves idle (behaviour 7). */
export function rateUsed(): Check {
  return undisturbed('pace: no request is left unsent where the rate is too low', (spell, world) => {
    const { exporter, plan } = spell;
    if (hasQuota(plan) || !isKnown(world)) return undefined;
    const late = momentsIn(spell, [STEADY[0], 1]).flatMap(({ sources }) => sources.get('machines') ?? []);
    const isStretched = late.every(({ intervalMs }) => intervalMs > 1_020 * exporter.intervals.machines);
    // From the start of one sweep to that of another.
    const begun = [...new Set(late.map(({ lastAt }) => lastAt))];
    const [from = 0, to = 0] = [begun[0], begun.at(-1)];
    if (!isStretched || begun.length < FEWEST_SWEEPS || to - from < MIN_SPELL_MS) return undefined;
    const sent = spell.sent.filter(({ ownAt }) => ownAt >= from && ownAt < to);
    const allowed = ((to - from) / SECOND) * usableRate(spell, sent);
    const used = spell.end - spell.since < FIRST_MS ? USED.atFirst : USED.later;
    if (sent.length >= used * allowed - 1) return undefined;
    return `only ${((100 * sent.length) / allowed).toFixed(1)} % of the usable rate is used`;
  });
}

/** Requests per second: the share of the rate, or as many as the permits allow, which are free a second after an answer. */
function usableRate({ exporter, plan }: Spell, sent: readonly Sent[]): number {
  const latency = sent.reduce((sum, { at, endedAt = at }) => sum + endedAt - at, 0) / Math.max(1, sent.length);
  const permits = Math.max(1, Math.floor(plan.perSecond)) / ((SECOND + latency) / SECOND);
  return Math.min(plan.perSecond * exporter.utilization, permits);
}

function hasQuota({ perMonth, perHour }: Plan): boolean {
  return perMonth !== undefined || perHour !== undefined;
}

/** Whether the answers tell all limits, and the whole account has one of each. */
export function isKnown({ service }: World): boolean {
  const { headers, buckets } = service.setting;
  return headers.sent === 'all' && headers.without.length === 0 && buckets === 'one';
}

/** After this part of the spell the program stretches a quota. */
const BEGUN = 0.1;
const SPENT = 0.97;
/** A quota up to this may be that of a trial, which ends after 30 days. */
const TRIAL = 1_000;
const BEFORE_MS = 2 * MINUTE;
const LONGEST_SHARED_MS = 10 * DAY;

/** Where the quota is what stretches the intervals, at least 97 % of the share is spent when the month ends (behaviour 9). */
export function quotaSpent(): Check {
  return undisturbed('pace: no quota is left at the end of the month', (spell, world) => {
    const { exporter } = spell;
    const { perMonth, perHour } = spell.plan;
    const { start, events } = world.story;
    // The quota is whole at the start of the story, and when it is renewed.
    const renewals = events.filter(({ kind }) => kind === 'renewal').map(({ at }) => start + at);
    const isWhole = [start, ...renewals].some((at) => Math.abs(spell.since - at) <= MINUTE) && isEndOfMonth(spell.end);
    if (perMonth === undefined || perMonth <= TRIAL || perHour !== undefined || !isWhole || !isKnown(world))
      return undefined;
    const isStretched = momentsIn(spell, [BEGUN, 1]).every(
      ({ sources }) => (sources.get('machines')?.intervalMs ?? 0) > 1_020 * exporter.intervals.machines,
    );
    if (!isStretched) return undefined;
    const allowed = Math.floor(perMonth * exporter.utilization);
    const spent = spell.sent.filter(({ head }) => head?.status === 200).length;
    // The rest may be too small for one more poll of each source.
    const least = SPENT * allowed - 2 - 1.3 * perSweep(spell);
    return spent >= least ? undefined : `only ${spent} of ${allowed} requests are spent`;
  });
}

/** Where others use the account as every day, and nothing else happens, the quota lasts until the month ends (behaviour 9). */
export function sharedQuotaLasts(): Check {
  return {
    name: 'pace: a quota shared with others lasts',
    onScrape(scrape, { story, isCalm }) {
      const { lengthMs, events } = story;
      if (isCalm || !isLong(story) || lengthMs > LONGEST_SHARED_MS || events[0]?.kind !== OTHERS || events.length > 1)
        return undefined;
      const waits = [...momentOf(scrape).sources].find(([, told]) => told.waits);
      return (
        waits &&
        `${waits[0]} waits for the quota ${(story.start + lengthMs - scrape.at) / SECOND} s before the month ends`
      );
    },
  };
}

/** The requests of a sweep, on average. */
function perSweep({ moments, sent }: Spell): number {
  const attempts = (moment: Moment | undefined): number => moment?.sources.get('machines')?.attempts ?? 0;
  const sweeps = attempts(moments.at(-1)) - attempts(moments[0]) + 1;
  return sent.filter(({ endpoint }) => endpoint === 'machine_metrics').length / sweeps;
}

function isEndOfMonth(at: number): boolean {
  return new Date(at).getUTCMonth() !== new Date(at + BEFORE_MS).getUTCMonth();
}
